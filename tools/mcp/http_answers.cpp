// SPDX-License-Identifier: MIT
#include "tools/mcp/http_answers.hpp"

#include "messages/json_strict.hpp"
#include "runtime/base/text.hpp"

namespace riffle::mcp {

namespace {

constexpr int unauthorized = 401;
constexpr int forbidden = 403;

}  // namespace

std::optional<rpc_error> error_in(const std::string& body) {
  const auto x = parse_strict(body);
  if (!x || !x->is_object()) return {};
  const auto error = x->find("error");
  if (error == x->end() || !error->is_object()) return {};
  const auto number = error->find("code");
  if (number == error->end() || !number->is_number_integer()) return {};
  return rpc_error{number->get<int>(),
                   error->value("message", json()).is_string()
                       ? error->at("message").get<std::string>()
                       : "an error without a text",
                   error->value("data", json())};
}

std::string status_text(const exchange_end& x) {
  std::string out = "it answers with HTTP " + std::to_string(x.status);
  if (!x.advice.empty()) return out + ": " + x.advice;
  if (x.status == unauthorized || x.status == forbidden)
    out += ": it wants a token; name the variable that holds it in token_env";
  if (!x.body.empty()) out += ": " + with_dots(trimmed(x.body), 200);
  return out;
}

}  // namespace riffle::mcp
