// SPDX-License-Identifier: MIT
#include "tools/command/command_result.hpp"

#include <utility>

#include "tools/arguments.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::size_t longest_envelope = 1u << 20;

bool is_envelope(const json& x) {
  if (!x.contains("output") && !x.contains("error")) return false;
  for (const auto& [key, value] : x.items()) {
    if (key == "output") continue;
    const bool fits = (key == "error" && value.is_string()) ||
                      (key == "metadata" && value.is_object());
    if (!fits) return false;
  }
  return true;
}

}  // namespace

command_result read_result(std::string text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  const bool may_be = begin != std::string::npos && text[begin] == '{' &&
                      text.size() <= longest_envelope;
  if (!may_be) return {.text = std::move(text), .failure = {}};
  auto envelope = parse_object(text);
  if (!envelope || !is_envelope(*envelope))
    return {.text = std::move(text), .failure = {}};
  command_result result;
  if (const auto x = envelope->find("output"); x != envelope->end())
    result.text = x->is_string() ? x->get<std::string>() : x->dump();
  if (const auto x = envelope->find("error"); x != envelope->end())
    result.failure = x->get<std::string>();
  if (const auto x = envelope->find("metadata"); x != envelope->end())
    result.metadata = std::move(*x);
  return result;
}

}  // namespace riffle::tools
