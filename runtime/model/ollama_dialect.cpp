// SPDX-License-Identifier: MIT
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/model/ollama_decoder.hpp"
#include "runtime/model/openai_state.hpp"
#include "runtime/model/wire_text.hpp"

namespace riffle::model::ollama {

namespace {

using namespace wire;

ordered_json options_of(const request_options& x) {
  ordered_json out = ordered_json::object();
  if (x.context_window > 0) out["num_ctx"] = x.context_window;
  if (x.temperature) out["temperature"] = *x.temperature;
  if (x.top_p) out["top_p"] = *x.top_p;
  if (x.max_output_tokens) out["num_predict"] = *x.max_output_tokens;
  if (!x.stop.empty()) out["stop"] = x.stop;
  if (x.seed) out["seed"] = *x.seed;
  return out;
}

/// A number counts seconds; a text needs a unit.
ordered_json keep_alive(const std::string& x) {
  std::int64_t seconds = 0;
  const auto* end = x.data() + x.size();
  const auto read = std::from_chars(x.data(), end, seconds);
  if (read.ec == std::errc{} && read.ptr == end) return seconds;
  return x;
}

/// Members of the body, beside those that every request has.
ordered_json parameters(const request_options& x) {
  ordered_json out = {{"options", options_of(x)}};
  if (!x.keep_alive.empty()) out["keep_alive"] = keep_alive(x.keep_alive);
  if (x.reasoning_effort == "none")
    out["think"] = false;
  else if (!x.reasoning_effort.empty())
    out["think"] = x.reasoning_effort;
  if (!x.response_schema.empty())
    out["format"] = ordered_json::parse(x.response_schema);
  merge(out, x.extra);
  return out;
}

void append_tool(std::string& out, const tool_description& x) {
  out.append(R"({"type":"function","function":{)");
  append_member(out, "name", x.name);
  out.push_back(',');
  append_member(out, "description", x.description);
  out.append(",\"parameters\":").append(parameters_or_none(x.parameters));
  out.append("}}");
}

/// `more`: what its server said beside it, see `ollama_decoder`.
void append_call(std::string& out, const told_call& x,
                 const ordered_json& more) {
  out.append(R"({"function":{)");
  append_member(out, "name", x.tool);
  out.append(",\"arguments\":").append(sendable_arguments(x.arguments));
  if (const auto inside = more.find("function"); inside != more.end())
    for (const auto& [name, value] : inside->items())
      append_json(out, name, value);
  out.push_back('}');
  for (const auto& [name, value] : more.items())
    if (name != "function") append_json(out, name, value);
  out.push_back('}');
}

std::string message(std::string_view role, std::string_view text) {
  std::string out = "{";
  append_member(out, "role", role);
  out.push_back(',');
  append_member(out, "content", text);
  out.push_back('}');
  return out;
}

/// Behind the text: `,"images":[…]`.
void append_images(std::string& out, told_files files) {
  if (files.empty()) return;
  out.pop_back();
  out.append(R"(,"images":[)");
  for (const auto& x : files) {
    if (&x != &files.front()) out.push_back(',');
    append_base64_text(out, x);
  }
  out.append("]}");
}

class ollama_dialect final : public dialect {
 public:
  std::string_view path() const noexcept override { return "/api/chat"; }

  std::vector<std::string> headers(std::string_view api_key) const override {
    std::vector<std::string> out{
        "Content-Type: application/json",
        "Accept: application/x-ndjson, application/json",
    };
    const auto key = trimmed(api_key);
    if (!key.empty() && key.find_first_of("\r\n") == std::string_view::npos)
      out.push_back("Authorization: Bearer " + std::string{key});
    return out;
  }

  std::string request_head(const request_options& options) const override {
    std::string out = "{";
    append_member(out, "model", options.model);
    out.append(options.streaming ? ",\"stream\":true" : ",\"stream\":false");
    const auto more = parameters(options);
    for (const auto& [name, value] : more.items())
      append_json(out, name, value);
    if (!options.tools.empty()) {
      out.append(",\"tools\":[");
      for (const auto& x : options.tools) {
        if (&x != &options.tools.front()) out.push_back(',');
        append_tool(out, x);
      }
      out.push_back(']');
    }
    out.append(",\"messages\":[");
    return out;
  }

  std::string request_tail(const request_options&) const override {
    return "]}";
  }

  std::string system_message(std::string_view text) const override {
    return message("system", text);
  }

  std::string user_message(std::string_view text,
                           told_files files) const override {
    auto out = message("user", text);
    append_images(out, files);
    return out;
  }

  std::string assistant_message(const told_turn& x) const override {
    auto out = message("assistant", x.text);
    out.pop_back();
    if (x.own && !x.reasoning.empty()) {
      out.push_back(',');
      append_member(out, "thinking", x.reasoning);
    }
    if (!x.calls.empty()) {
      out.append(",\"tool_calls\":[");
      const auto state = openai::parse_state(x.own ? x.state : std::string{});
      const openai::more_of_calls kept{state};
      for (std::size_t i = 0; i < x.calls.size(); ++i) {
        if (i > 0) out.push_back(',');
        append_call(out, x.calls[i], kept.of(i, x.calls[i].provider_id));
      }
      out.push_back(']');
    }
    out.push_back('}');
    return out;
  }

  // Results have no ids: they stand in the order of their calls.
  std::string tool_message(std::string_view, std::string_view tool,
                           std::string_view text,
                           told_files files) const override {
    std::string out = R"({"role":"tool",)";
    append_member(out, "tool_name", tool);
    out.push_back(',');
    append_member(out, "content", text);
    out.push_back('}');
    append_images(out, files);
    return out;
  }

  // Its templates show pictures of any message.
  bool results_show_files() const noexcept override { return true; }

  std::unique_ptr<decoder> make_decoder() const override {
    return std::make_unique<ollama_decoder>();
  }
};

}  // namespace

}  // namespace riffle::model::ollama

namespace riffle::model {

std::unique_ptr<dialect> make_ollama_dialect() {
  return std::make_unique<ollama::ollama_dialect>();
}

}  // namespace riffle::model
