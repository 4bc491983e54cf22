// SPDX-License-Identifier: MIT
#include "tools/mcp/http_answers.hpp"

#include <algorithm>
#include <array>
#include <stop_token>

#include "messages/json_strict.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"

namespace riffle::mcp {

namespace {

constexpr int unauthorized = 401;
constexpr int forbidden = 403;
constexpr int too_many = 429;
constexpr int unavailable = 503;
constexpr int most_waits = 3;
constexpr std::chrono::seconds longest_wait{60};

/// False: there is no use in it any more.
bool wait_for(const exchange_request& x, duration length) {
  constexpr auto look = std::chrono::milliseconds{100};
  const auto until = std::chrono::steady_clock::now() + length;
  for (auto now = until - length; now < until;
       now = std::chrono::steady_clock::now()) {
    wait_until(std::min<time_point>(now + look, until), x.stop);
    if (x.stop.stop_requested() || (x.on_time && !x.on_time())) return false;
  }
  return true;
}

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

bool is_not_here(const exchange_end& x) {
  constexpr std::array unknown{400, 404, 405};
  if (std::ranges::find(unknown, x.status) == unknown.end()) return false;
  const auto error = error_in(x.body);
  constexpr std::array modern{code::header_mismatch, code::missing_capability,
                              code::unsupported_version,
                              code::method_not_found};
  return !error || std::ranges::find(modern, error->number) == modern.end();
}

void wait_until(time_point until, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable_any never;
  never.wait_until(lock, stop, until, [] { return false; });
}

exchange_end exchange_patiently(token_holder* who, const exchange_request& x) {
  auto left = longest_wait;
  for (int waits = 0;; ++waits) {
    auto end = exchange_as(who, x);
    const bool later = end.status == too_many || end.status == unavailable;
    if (!later || !end.retry_after || waits == most_waits) return end;
    const auto wait = std::max(*end.retry_after, std::chrono::seconds{0});
    if (wait > left || std::chrono::steady_clock::now() + wait >= x.until)
      return end;
    left -= wait;
    if (!wait_for(x, wait)) {
      end.stopped = x.stop.stop_requested();
      return end;
    }
  }
}

std::string status_text(const exchange_end& x) {
  std::string out = "it answers with HTTP " + std::to_string(x.status);
  if (!x.advice.empty()) return out + ": " + x.advice;
  if (x.status == unauthorized || x.status == forbidden)
    out += ": it wants a token; name the variable that holds it in token_env";
  if (x.retry_after)
    out += ", and wants to be asked again in " +
           std::to_string(x.retry_after->count()) + " s";
  if (!x.body.empty())
    out += ": " + with_dots(redact(std::string{trimmed(x.body)}), 200);
  return out;
}

}  // namespace riffle::mcp
