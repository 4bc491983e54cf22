// SPDX-License-Identifier: MIT
#include <optional>
#include <simdjson.h>
#include <utility>

#include "messages/runtime_note.hpp"
#include "runtime/model/scripted_answer.hpp"

namespace riffle::model {

namespace {

namespace dom = simdjson::dom;
using simdjson::SUCCESS;

/// Nothing: it is not there, or no text.
std::optional<std::string> text_at(const dom::element& x, const char* key) {
  std::string_view text;
  if (x[key].get(text) != SUCCESS) return {};
  return std::string{text};
}

std::string text_of(const dom::element& message) {
  if (auto whole = text_at(message, "content")) return std::move(*whole);
  std::string out;
  dom::array parts;
  if (message["content"].get(parts) != SUCCESS) return out;
  for (const auto part : parts) out += text_at(part, "text").value_or("");
  return out;
}

bool is_true(simdjson::simdjson_result<dom::element> x) {
  bool value = false;
  return x.get(value) == SUCCESS && value;
}

}  // namespace

/// A tree that is read once: a request has thousands of calls at times.
expected<scripted_request> read_scripted_request(std::string_view body,
                                                 bool whole_session) {
  dom::parser parser;
  dom::element root;
  dom::array messages;
  if (parser.parse(body.data(), body.size()).get(root) != SUCCESS ||
      root["messages"].get(messages) != SUCCESS) {
    return unexpected{{errc::invalid_request,
                       "script",
                       "the request is no openai chat request",
                       false,
                       {}}};
  }
  scripted_request out;
  out.model = text_at(root, "model").value_or("scripted");
  out.streaming = is_true(root["stream"]);
  out.wants_usage =
      !out.streaming || is_true(root["stream_options"]["include_usage"]);
  for (const auto message : messages) {
    const auto role = text_at(message, "role").value_or("");
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
