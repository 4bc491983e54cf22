// SPDX-License-Identifier: MIT
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/runtime_note.hpp"
#include "runtime/model/scripted_answer.hpp"

namespace riffle::model {

namespace {

using nlohmann::json;

std::string text_of(const json& message) {
  const auto i = message.find("content");
  if (i == message.end()) return {};
  if (i->is_string()) return i->get<std::string>();
  std::string out;
  if (!i->is_array()) return out;
  for (const auto& part : *i) {
    if (part.is_object() && part.contains("text") && part["text"].is_string())
      out += part["text"].get<std::string>();
  }
  return out;
}

std::string role_of(const json& message) {
  if (!message.is_object() || !message.contains("role")) return {};
  const auto& role = message["role"];
  return role.is_string() ? role.get<std::string>() : std::string{};
}

}  // namespace

expected<scripted_request> read_scripted_request(std::string_view body,
                                                 bool whole_session) {
  const auto root = json::parse(body, nullptr, false);
  if (!root.is_object() || !root.contains("messages") ||
      !root["messages"].is_array()) {
    return unexpected{{errc::invalid_request,
                       "script",
                       "the request is no openai chat request",
                       false,
                       {}}};
  }
  scripted_request out;
  out.model = root.contains("model") && root["model"].is_string()
                  ? root["model"].get<std::string>()
                  : "scripted";
  out.streaming = root.contains("stream") && root["stream"] == true;
  const auto usage = json::json_pointer{"/stream_options/include_usage"};
  out.wants_usage =
      !out.streaming || (root.contains(usage) && root[usage] == true);
  for (const auto& message : root["messages"]) {
    const auto role = role_of(message);
    if (role == "user") {
      auto text = text_of(message);
      if (text.starts_with(runtime_note)) continue;  // no new task
      out.scope.task = std::move(text);
      if (!whole_session) out.scope.results.clear();
    } else if (role == "assistant") {
      out.scope.results.emplace_back();
    } else if (role == "tool" && !out.scope.results.empty()) {
      out.scope.results.back().push_back(text_of(message));
    }
  }
  out.step = out.scope.results.size();
  return out;
}

}  // namespace riffle::model
