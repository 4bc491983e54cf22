// SPDX-License-Identifier: MIT
#include "tools/command/command_result.hpp"

#include <utility>

#include "tools/arguments.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::size_t longest_envelope = 1u << 20;

bool is_envelope(const json& x) {
  const auto error = x.find("error");
  const auto metadata = x.find("metadata");
  if (error != x.end() && !error->is_string()) return false;
  if (metadata != x.end() && !metadata->is_object()) return false;
  const auto results = x.count("output") + x.count("error");
  return results > 0 && x.size() == results + x.count("metadata");
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
