// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/model/openai_decoder.hpp"
#include "runtime/model/wire_text.hpp"

namespace riffle::model::openai_requests {

namespace {

using namespace wire;

std::string message(std::string_view role, std::string_view text) {
  std::string out = "{";
  append_member(out, "role", role);
  out.push_back(',');
  append_member(out, "content", text);
  out.push_back('}');
  return out;
}

void append_file(std::string& out, const told_file& x) {
  if (x.about.type == "application/pdf") {
    out.append(R"({"type":"file","file":{)");
    append_member(out, "filename", x.about.name);
    out.push_back(',');
    append_data_url(out, "file_data", x);
  } else {
    out.append(R"({"type":"image_url","image_url":{)");
    append_data_url(out, "url", x);
  }
  out.append("}}");
}

std::string content_with(std::string_view text, told_files files) {
  std::string out = R"([{"type":"text",)";
  append_member(out, "text", text);
  out.push_back('}');
  for (const auto& x : files) {
    out.push_back(',');
    append_file(out, x);
  }
  return out.append("]");
}

void append_tool(std::string& out, const tool_description& x) {
  out.append(R"({"type":"function","function":{)");
  append_member(out, "name", x.name);
  out.push_back(',');
  append_member(out, "description", x.description);
  out.append(",\"parameters\":");
  out.append(x.parameters.empty() ? R"({"type":"object","properties":{}})"
                                  : x.parameters);
  out.append("}}");
}

void append_call(std::string& out, const told_call& x, const std::string& id,
                 const ordered_json& more) {
  out.push_back('{');
  append_member(out, "id", id);
  out.append(R"(,"type":"function","function":{)");
  append_member(out, "name", x.tool);
  out.push_back(',');
  append_member(out, "arguments", sendable_arguments(x.arguments));
  out.push_back('}');
  for (const auto& [name, value] : more.items()) append_json(out, name, value);
  out.push_back('}');
}

// Google's servers refuse calls without a signature, but for this one.
void add_placeholder(ordered_json& more) {
  if (more.contains("extra_content")) return;
  more["extra_content"] = {
      {"google", {{"thought_signature", "skip_thought_signature_validator"}}}};
}

ordered_json thinking_chunks(const told_turn& x) {
  auto out = ordered_json::array();
  out.push_back({{"type", "thinking"},
                 {"thinking", {{{"type", "text"}, {"text", x.reasoning}}}}});
  if (!x.text.empty()) out.push_back({{"type", "text"}, {"text", x.text}});
  return out;
}

ordered_json tool_choice(const std::string& x) {
  if (x == "auto" || x == "required" || x == "none") return x;
  return {{"type", "function"}, {"function", {{"name", x}}}};
}

ordered_json response_format(const std::string& schema) {
  return {{"type", "json_schema"},
          {"json_schema",
           {{"name", "answer"}, {"schema", ordered_json::parse(schema)}}}};
}

/// Members of the body, beside those that every request has.
ordered_json parameters(const request_options& x, const quirks& odd) {
  auto out = ordered_json::object();
  if (x.temperature) out["temperature"] = *x.temperature;
  if (x.top_p) out["top_p"] = *x.top_p;
  if (x.max_output_tokens) out[odd.max_tokens_name] = *x.max_output_tokens;
  if (!x.stop.empty()) out["stop"] = x.stop;
  if (x.seed) out[odd.seed_name] = *x.seed;
  if (!x.reasoning_effort.empty()) out["reasoning_effort"] = x.reasoning_effort;
  // Servers refuse them where there is no tool.
  if (!x.tools.empty() && !x.tool_choice.empty())
    out["tool_choice"] = tool_choice(x.tool_choice);
  if (!x.tools.empty() && x.parallel_tool_calls)
    out["parallel_tool_calls"] = *x.parallel_tool_calls;
  if (!x.response_schema.empty())
    out["response_format"] = response_format(x.response_schema);
  if (!x.extra.empty()) out.update(ordered_json::parse(x.extra), true);
  return out;
}

class openai_dialect final : public dialect {
 public:
  explicit openai_dialect(quirks x) : quirks_{std::move(x)} {}

  std::string_view path() const noexcept override {
    return "/chat/completions";
  }

  std::vector<std::string> headers(std::string_view api_key) const override {
    std::vector<std::string> out{
        "Content-Type: application/json",
        "Accept: text/event-stream, application/json",
    };
    // A key from a file or a variable often has a line end.
    const auto key = trimmed(api_key);
    if (!key.empty() && key.find_first_of("\r\n") == std::string_view::npos)
      out.push_back("Authorization: Bearer " + std::string{key});
    return out;
  }

  std::string request_head(const request_options& options) const override {
    std::string out = "{";
    append_member(out, "model", options.model);
    out.append(options.streaming ? ",\"stream\":true" : ",\"stream\":false");
    if (!additions(options).empty())
      out.append(R"(,"stream_options":{"include_usage":true})");
    const auto more = parameters(options, quirks_);
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

  std::vector<std::string> additions(const request_options& x) const override {
    if (!x.streaming || x.leaves_out("stream_options")) return {};
    return {"stream_options"};
  }

  std::string system_message(std::string_view text) const override {
    return message("system", text);
  }

  std::string user_message(std::string_view text,
                           told_files files) const override {
    if (files.empty()) return message("user", text);
    return R"({"role":"user","content":)" + content_with(text, files) + "}";
  }

  std::string assistant_message(const told_turn& x) const override {
    const auto state = x.own ? openai::parse_state(x.state) : ordered_json{};
    std::string out = R"({"role":"assistant","content":)";
    if (x.own && wants("thinking_chunks") && state.contains("content"))
      out.append(text_of(openai::content_of(state, x.text)));
    else if (x.own && wants("thinking_chunks") && !x.reasoning.empty())
      out.append(text_of(thinking_chunks(x)));
    else if (x.text.empty() && !x.calls.empty())
      out.append("null");
    else
      append_string(out, x.text);
    if (wants("reasoning_content")) {
      out.push_back(',');
      append_member(out, "reasoning_content", x.own ? x.reasoning : "");
    }
    if (wants("reasoning_details") && state.contains("details"))
      append_json(out, "reasoning_details", state["details"]);
    append_calls(out, x, state);
    out.push_back('}');
    return out;
  }

  std::string tool_message(std::string_view provider_id, std::string_view,
                           std::string_view text,
                           told_files files) const override {
    std::string out = R"({"role":"tool",)";
    append_member(out, "tool_call_id", id_of(provider_id));
    out.push_back(',');
    if (files.empty())
      append_member(out, "content", text);
    else
      out.append(R"("content":)").append(content_with(text, files));
    out.push_back('}');
    return out;
  }

  // Most servers take text alone in messages of tools.
  bool results_show_files() const noexcept override {
    return quirks_.results_show_files;
  }

  // Mistral: "Unexpected role 'user' after role 'tool'".
  std::string_view behind_results() const noexcept override {
    if (!quirks_.results_show_files) return {};
    return R"({"role":"assistant","content":"I have read the results."})";
  }

  std::unique_ptr<decoder> make_decoder() const override {
    return std::make_unique<openai_decoder>();
  }

 private:
  [[nodiscard]] bool wants(std::string_view name) const {
    return std::ranges::find(quirks_.returns, name) != quirks_.returns.end();
  }

  [[nodiscard]] std::string id_of(std::string_view id) const {
    return quirks_.call_ids == "nine" ? nine_characters(id) : std::string{id};
  }

  void append_calls(std::string& out, const told_turn& x,
                    const ordered_json& state) const {
    if (x.calls.empty()) return;
    out.append(",\"tool_calls\":[");
    const openai::more_of_calls kept{state};
    for (std::size_t i = 0; i < x.calls.size(); ++i) {
      const auto& call = x.calls[i];
      auto more = quirks_.strict ? ordered_json::object()
                                 : kept.of(i, call.provider_id);
      if (i == 0 && wants("thought_signature")) add_placeholder(more);
      if (i > 0) out.push_back(',');
      append_call(out, call, id_of(call.provider_id), more);
    }
    out.push_back(']');
  }

  quirks quirks_;
};

}  // namespace

}  // namespace riffle::model::openai_requests

namespace riffle::model {

std::unique_ptr<dialect> make_openai_dialect(quirks x) {
  return std::make_unique<openai_requests::openai_dialect>(std::move(x));
}

}  // namespace riffle::model
