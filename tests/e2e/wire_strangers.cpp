// SPDX-License-Identifier: MIT
// What providers refuse in messages that other models made.
#include <algorithm>
#include <cctype>
#include <cstddef>
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
  const bool signs = provider == "gemini" || provider == "vertex";
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

bool is_plain_id(const std::string& id) {
  return !id.empty() && id.size() <= 64 &&
         std::ranges::all_of(id, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-';
         });
}

// -- anthropic ----------------------------------------------------------------

/// `open`: ids of calls that want their results in the next message.
std::string fault_of_block(const json& x, std::set<std::string>& open) {
  const auto type = x.at("type").get<std::string>();
  if (type == "text")
    return x.at("text").get<std::string>().empty() ? "an empty text" : "";
  if (type == "tool_use") {
    const auto id = x.at("id").get<std::string>();
    if (!is_plain_id(id)) return "an id of other letters: " + id;
    if (!x.at("input").is_object()) return "input is no object";
    open.insert(id);
    return unknown_member(x, {"type", "id", "name", "input"});
  }
  if (type == "tool_result")
    return open.erase(x.at("tool_use_id")) == 1 ? "" : "a result without call";
  return "a block that its model did not make: " + type;
}

std::string fault_of_messages(const json& all) {
  std::set<std::string> open;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool user = all[i].at("role") == "user";
    if (user != (i % 2 == 0)) return "roles do not alternate";
    for (const auto& block : all[i].at("content"))
      if (auto why = fault_of_block(block, open); !why.empty()) return why;
    if (user && !open.empty()) return "tool_use without its tool_result";
  }
  return {};
}

// -- responses ----------------------------------------------------------------

std::string fault_of_items(const json& all) {
  std::set<std::string> open;
  for (const auto& x : all) {
    const auto type = x.value("type", "");
    if (type.empty()) {
      if (auto why = unknown_member(x, {"role", "content"}); !why.empty())
        return why;
    } else if (type == "function_call") {
      if (!is_plain_id(x.at("call_id"))) return "an id of other letters";
      open.insert(x.at("call_id"));
      if (auto why =
              unknown_member(x, {"type", "call_id", "name", "arguments"});
          !why.empty())
        return why;
    } else if (type != "function_call_output") {
      return "an item that its model did not make: " + type;
    } else if (open.erase(x.at("call_id")) != 1) {
      return "an output without its call";
    }
  }
  return open.empty() ? "" : "a call without its output";
}

// -- ollama -------------------------------------------------------------------

std::string fault_of_plain_messages(const json& all) {
  for (const auto& m : all) {
    if (auto why = unknown_member(
            m, m.at("role") == "tool"
                   ? std::set<std::string>{"role", "content", "tool_name"}
                   : std::set<std::string>{"role", "content", "tool_calls"});
        !why.empty())
      return why;
    if (!m.contains("tool_calls")) continue;
    for (const auto& call : m.at("tool_calls")) {
      if (auto why = unknown_member(call, {"function"}); !why.empty())
        return why;
      if (auto why = unknown_member(call.at("function"), {"name", "arguments"});
          !why.empty())
        return why;
      if (!call.at("function").at("arguments").is_object())
        return "arguments are no object";
    }
  }
  return {};
}

/// Where the user's last message stands.
std::size_t place_of_last(const json& all) {
  for (auto i = all.size(); i-- > 0;) {
    if (all[i].value("role", "") != "user") continue;
    const auto& content = all[i].at("content");
    if (!content.is_array() || content.front().at("type") != "tool_result")
      return i;
  }
  return 0;
}

json& told(json& body) {
  return body[body.contains("input") ? "input" : "messages"];
}

}  // namespace

json newest_part(json body) {
  auto& all = told(body);
  const auto at = static_cast<std::ptrdiff_t>(place_of_last(all));
  all.erase(all.begin(), all.begin() + at);
  return body;
}

json older_part(json body) {
  auto& all = told(body);
  const auto at = static_cast<std::ptrdiff_t>(place_of_last(all));
  all.erase(all.begin() + at, all.end());
  return body;
}

std::string fault_of_strangers(const wire_server& x, const json& body) {
  const auto provider = x.model.substr(0, x.model.find('/'));
  auto older = older_part(body);
  const auto& all = told(older);
  if (provider == x.model) return fault_of_items(all);
  if (provider == "anthropic") return fault_of_messages(all);
  if (provider == "ollama") return fault_of_plain_messages(all);
  std::string before;
  for (const auto& m : body.at("messages")) {
    const auto role = m.at("role").get<std::string>();
    if (provider == "mistral" && role == "user" && before == "tool")
      return "Unexpected role 'user' after role 'tool'";
    before = role;
    if (role != "assistant") continue;
    if (auto why = fault_of_message(provider, m); !why.empty()) return why;
  }
  return {};
}

}  // namespace riffle::testing
