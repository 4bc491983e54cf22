// SPDX-License-Identifier: MIT
// What providers refuse in messages that other models made.
#include <algorithm>
#include <cctype>
#include <set>

#include "tests/e2e/wire_servers.hpp"

namespace riffle::testing {

namespace {

using nlohmann::json;
using namespace nlohmann::literals;

/// Members that are none of these.
std::string unknown_member(const json& x, const std::set<std::string>& known) {
  for (const auto& [name, ignored] : x.items())
    if (!known.contains(name)) return "unknown field " + name;
  return {};
}

bool is_nine(const std::string& id) {
  return id.size() == 9 && std::ranges::all_of(id, [](unsigned char c) {
           return std::isalnum(c) != 0;
         });
}

std::string fault_of_call(const std::string& provider, const json& call,
                          bool first) {
  const bool signs = provider == "gemini";
  if (auto why = unknown_member(
          call, signs ? std::set<std::string>{"id", "type", "function",
                                              "extra_content"}
                      : std::set<std::string>{"id", "type", "function"});
      !why.empty())
    return why;
  if (signs && first &&
      !call.value("/extra_content/google/thought_signature"_json_pointer,
                  json{})
           .is_string())
    return "a function call without its thought_signature";
  if (provider == "mistral" && !is_nine(call.at("id")))
    return "the id of a call must have nine letters or digits";
  return {};
}

std::string fault_of_message(const std::string& provider, const json& m) {
  std::set<std::string> known{"role", "content", "tool_calls"};
  const bool thinks = provider == "deepseek" || provider == "kimi";
  if (thinks) known.insert("reasoning_content");
  if (provider == "openrouter") known.insert("reasoning_details");
  if (auto why = unknown_member(m, known); !why.empty()) return why;
  if (thinks && !m.contains("reasoning_content"))
    return "reasoning_content must be passed back";
  if (!m.contains("tool_calls")) return {};
  for (const auto& call : m.at("tool_calls"))
    if (auto why =
            fault_of_call(provider, call, &call == &m.at("tool_calls").front());
        !why.empty())
      return why;
  return {};
}

}  // namespace

std::string fault_of_strangers(const wire_server& x, const json& body) {
  const auto provider = x.model.substr(0, x.model.find('/'));
  if (provider == x.model || provider == "anthropic" || provider == "ollama")
    return {};
  for (const auto& m : body.at("messages")) {
    if (m.at("role") != "assistant") continue;
    if (auto why = fault_of_message(provider, m); !why.empty()) return why;
  }
  return {};
}

}  // namespace riffle::testing
