// SPDX-License-Identifier: MIT
#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/model/anthropic_decoder.hpp"
#include "runtime/model/anthropic_form.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/model/wire_text.hpp"

namespace riffle::model::anthropic {

namespace {

using namespace wire;

constexpr std::string_view mark = R"(,"cache_control":{"type":"ephemeral"})";

// The API wants a number, and refuses what the model does not reach.
std::uint64_t usual_output(std::string_view model) {
  for (const auto* old : {"claude-3-haiku", "claude-3-opus", "claude-3-sonnet"})
    if (model.starts_with(old)) return 4096;
  return model.starts_with("claude-3-5") ? 8192 : 32000;
}

ordered_json tool_choice(const request_options& x) {
  ordered_json out = {{"type", "auto"}};
  if (x.tool_choice == "required")
    out["type"] = "any";
  else if (x.tool_choice == "none")
    out["type"] = "none";
  else if (!x.tool_choice.empty() && x.tool_choice != "auto")
    out = {{"type", "tool"}, {"name", x.tool_choice}};
  if (x.parallel_tool_calls && x.tool_choice != "none")
    out["disable_parallel_tool_use"] = !*x.parallel_tool_calls;
  return out;
}

/// Members of the body, beside those that every request has.
ordered_json parameters(const request_options& x) {
  auto out = ordered_json::object();
  auto most = x.max_output_tokens.value_or(usual_output(x.model));
  if (x.thinking_budget && *x.thinking_budget > 0) {
    // The answer's tokens come behind those of the thinking.
    if (!x.max_output_tokens && most <= *x.thinking_budget)
      most = *x.thinking_budget + 4096;
    out["thinking"] = {{"type", "enabled"},
                       {"budget_tokens", *x.thinking_budget}};
  } else if (x.thinking_budget) {
    out["thinking"] = {{"type", "disabled"}};
  }
  out["max_tokens"] = most;
  if (x.temperature) out["temperature"] = *x.temperature;
  if (x.top_p) out["top_p"] = *x.top_p;
  if (!x.stop.empty()) out["stop_sequences"] = x.stop;
  if (!x.reasoning_effort.empty())
    out["output_config"]["effort"] = x.reasoning_effort;
  if (!x.response_schema.empty())
    out["output_config"]["format"] = {
        {"type", "json_schema"},
        {"schema", form_of(ordered_json::parse(x.response_schema))}};
  if (!x.tools.empty() && (!x.tool_choice.empty() || x.parallel_tool_calls))
    out["tool_choice"] = tool_choice(x);
  merge(out, x.extra);
  return out;
}

void append_tool(std::string& out, const tool_description& x, bool eager,
                 bool last) {
  out.push_back('{');
  append_member(out, "name", x.name);
  out.push_back(',');
  append_member(out, "description", x.description);
  out.append(",\"input_schema\":").append(parameters_or_none(x.parameters));
  // The arguments come while they are written.
  if (eager) out.append(",\"eager_input_streaming\":true");
  if (last) out.append(mark);
  out.push_back('}');
}

void append_call(std::string& out, const told_call& x,
                 const ordered_json& more) {
  out.append(R"({"type":"tool_use",)");
  append_member(out, "id", plain_id(x.provider_id));
  out.push_back(',');
  append_member(out, "name", x.tool);
  out.append(",\"input\":").append(sendable_arguments(x.arguments));
  for (const auto& [name, value] : more.items()) append_json(out, name, value);
  out.push_back('}');
}

bool is_blank(std::string_view text) { return trimmed(text).empty(); }

// Text that is blank is refused.
std::string text_block(std::string_view text) {
  std::string out = R"({"type":"text",)";
  append_member(out, "text", is_blank(text) ? "-" : text);
  out.push_back('}');
  return out;
}

std::string file_block(const told_file& x) {
  const bool picture = x.about.type != "application/pdf";
  std::string out = picture
                        ? R"({"type":"image","source":{"type":"base64",)"
                        : R"({"type":"document","source":{"type":"base64",)";
  append_member(out, "media_type", x.about.type);
  out.push_back(',');
  append_base64_member(out, "data", x);
  out.push_back('}');
  if (!picture) {
    out.push_back(',');
    append_member(out, "title", x.about.name);
  }
  out.push_back('}');
  return out;
}

/// Files before the text that speaks of them.
std::string blocks_of(std::string_view text, told_files files) {
  std::string out;
  for (const auto& x : files) out.append(file_block(x)).push_back(',');
  return out.append(text_block(text));
}

/// The turn's blocks, joined by ','.
std::string blocks_of(const told_turn& x) {
  std::string out;
  const auto begin = [&] {
    if (!out.empty()) out.push_back(',');
  };
  const auto state =
      x.own ? ordered_json::parse(x.state, nullptr, false) : ordered_json{};
  if (!state.is_array()) {
    if (!is_blank(x.text)) out = text_block(x.text);
    for (const auto& call : x.calls) {
      begin();
      append_call(out, call, {});
    }
    return out;
  }
  std::size_t told = 0;
  for (const auto& block : state) {
    if (!block.contains("call")) {
      begin();
      out.append(text_of(block));
    } else if (told < x.calls.size()) {
      begin();
      append_call(out, x.calls[told++], block["more"]);
    }
  }
  for (; told < x.calls.size(); ++told) {
    begin();
    append_call(out, x.calls[told], {});
  }
  return out;
}

class anthropic_dialect final : public dialect {
 public:
  std::string_view path() const noexcept override { return "/messages"; }

  std::vector<std::string> headers(std::string_view api_key) const override {
    std::vector<std::string> out{
        "Content-Type: application/json",
        "Accept: text/event-stream, application/json",
        "anthropic-version: 2023-06-01",
    };
    const auto key = trimmed(api_key);
    if (!key.empty() && key.find_first_of("\r\n") == std::string_view::npos)
      out.push_back("x-api-key: " + std::string{key});
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
      const bool eager = !additions(options).empty();
      out.append(",\"tools\":[");
      for (const auto& x : options.tools) {
        if (&x != &options.tools.front()) out.push_back(',');
        append_tool(out, x, eager, &x == &options.tools.back());
      }
      out.push_back(']');
    }
    if (!is_blank(options.system)) {
      out.append(",\"system\":[").append(text_block(options.system));
      out.insert(out.size() - 1, mark);
      out.push_back(']');
    }
    out.append(",\"messages\":[");
    return out;
  }

  std::string request_tail(const request_options&) const override {
    return "]}";
  }

  std::vector<std::string> additions(const request_options& x) const override {
    constexpr auto eager = "eager_input_streaming";
    if (x.tools.empty() || x.leaves_out(eager)) return {};
    return {eager};
  }

  std::string system_message(std::string_view) const override { return {}; }

  std::string user_message(std::string_view text,
                           told_files files) const override {
    return R"({"role":"user","content":[)" + blocks_of(text, files) + "]}";
  }

  std::string assistant_message(const told_turn& x) const override {
    const auto blocks = blocks_of(x);
    if (blocks.empty()) return {};
    return R"({"role":"assistant","content":[)" + blocks + "]}";
  }

  std::string tool_message(std::string_view provider_id, std::string_view,
                           std::string_view text,
                           told_files files) const override {
    std::string out = R"({"type":"tool_result",)";
    append_member(out, "tool_use_id", plain_id(provider_id));
    out.push_back(',');
    if (files.empty())
      append_member(out, "content", text);
    else
      out.append(R"("content":[)").append(blocks_of(text, files)).append("]");
    out.push_back('}');
    return out;
  }

  bool results_show_files() const noexcept override { return true; }

  results_frame frame_of_results() const noexcept override {
    return {R"({"role":"user","content":[)", "]}"};
  }

  // Inside the last block.
  cache_mark mark_of_cache() const noexcept override { return {mark, 3}; }

  std::unique_ptr<decoder> make_decoder() const override {
    return std::make_unique<anthropic_decoder>();
  }
};

}  // namespace

}  // namespace riffle::model::anthropic

namespace riffle::model {

std::unique_ptr<dialect> make_anthropic_dialect() {
  return std::make_unique<anthropic::anthropic_dialect>();
}

}  // namespace riffle::model
