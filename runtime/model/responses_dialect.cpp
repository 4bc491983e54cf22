// SPDX-License-Identifier: MIT
#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/model/responses_decoder.hpp"
#include "runtime/model/wire_text.hpp"

namespace riffle::model::responses {

namespace {

using namespace wire;

// Models that do not reason refuse to be asked for their thoughts.
bool reasons(std::string_view model) {
  for (const auto* plain : {"gpt-3", "gpt-4", "chatgpt-4"})
    if (model.starts_with(plain)) return false;
  return true;
}

ordered_json tool_choice(const std::string& x) {
  if (x == "auto" || x == "required" || x == "none") return x;
  return {{"type", "function"}, {"name", x}};
}

ordered_json reasoning(const request_options& x) {
  auto out = ordered_json::object();
  if (!x.reasoning_effort.empty()) out["effort"] = x.reasoning_effort;
  if (reasons(x.model) && !x.leaves_out("reasoning_summary"))
    out["summary"] = "auto";
  return out;
}

/// Members of the body, beside those that every request has.
ordered_json parameters(const request_options& x) {
  auto out = ordered_json::object();
  out["store"] = false;
  if (reasons(x.model) && !x.leaves_out("include"))
    out["include"] = ordered_json::array({"reasoning.encrypted_content"});
  if (x.temperature) out["temperature"] = *x.temperature;
  if (x.top_p) out["top_p"] = *x.top_p;
  if (x.max_output_tokens) out["max_output_tokens"] = *x.max_output_tokens;
  if (auto thoughts = reasoning(x); !thoughts.empty())
    out["reasoning"] = std::move(thoughts);
  if (!x.tools.empty() && !x.tool_choice.empty())
    out["tool_choice"] = tool_choice(x.tool_choice);
  if (!x.tools.empty() && x.parallel_tool_calls)
    out["parallel_tool_calls"] = *x.parallel_tool_calls;
  if (!x.response_schema.empty())
    out["text"] = {{"format",
                    {{"type", "json_schema"},
                     {"name", "answer"},
                     {"schema", ordered_json::parse(x.response_schema)}}}};
  merge(out, x.extra);
  return out;
}

void append_tool(std::string& out, const tool_description& x) {
  out.append(R"({"type":"function",)");
  append_member(out, "name", x.name);
  out.push_back(',');
  append_member(out, "description", x.description);
  out.append(",\"parameters\":").append(parameters_or_none(x.parameters));
  out.append(",\"strict\":false}");
}

std::string message(std::string_view role, std::string_view text) {
  std::string out = "{";
  append_member(out, "role", role);
  out.push_back(',');
  append_member(out, "content", text);
  out.push_back('}');
  return out;
}

/// A list of content: what a message or an output shows.
std::string content_with(std::string_view text, told_files files) {
  std::string out = R"([{"type":"input_text",)";
  append_member(out, "text", text);
  for (const auto& x : files) {
    if (x.about.type == "application/pdf") {
      out.append(R"(},{"type":"input_file",)");
      append_member(out, "filename", x.about.name);
      out.push_back(',');
      append_data_url(out, "file_data", x);
    } else {
      out.append(R"(},{"type":"input_image","detail":"auto",)");
      append_data_url(out, "image_url", x);
    }
  }
  return out.append("}]");
}

std::string call_item(const told_call& x, const ordered_json& more = {}) {
  std::string out = R"({"type":"function_call",)";
  append_member(out, "call_id", plain_id(x.provider_id));
  out.push_back(',');
  append_member(out, "name", x.tool);
  out.push_back(',');
  append_member(out, "arguments", sendable_arguments(x.arguments));
  for (const auto& [name, value] : more.items()) append_json(out, name, value);
  out.push_back('}');
  return out;
}

void join(std::string& out, std::string_view item) {
  if (!out.empty()) out.push_back(',');
  out.append(item);
}

class responses_dialect final : public dialect {
 public:
  std::string_view path() const noexcept override { return "/responses"; }

  std::vector<std::string> headers(std::string_view api_key) const override {
    return make_openai_dialect()->headers(api_key);
  }

  std::string request_head(const request_options& options) const override {
    std::string out = "{";
    append_member(out, "model", options.model);
    out.append(options.streaming ? ",\"stream\":true" : ",\"stream\":false");
    const auto more = parameters(options);
    for (const auto& [name, value] : more.items())
      append_json(out, name, value);
    if (!options.system.empty()) {
      out.push_back(',');
      append_member(out, "instructions", options.system);
    }
    if (!options.tools.empty()) {
      out.append(",\"tools\":[");
      for (const auto& x : options.tools) {
        if (&x != &options.tools.front()) out.push_back(',');
        append_tool(out, x);
      }
      out.push_back(']');
    }
    out.append(",\"input\":[");
    return out;
  }

  std::string request_tail(const request_options&) const override {
    return "]}";
  }

  std::vector<std::string> additions(const request_options& x) const override {
    std::vector<std::string> out;
    for (const auto* name : {"include", "reasoning_summary"})
      if (reasons(x.model) && !x.leaves_out(name)) out.emplace_back(name);
    return out;
  }

  std::string system_message(std::string_view) const override { return {}; }

  std::string user_message(std::string_view text,
                           told_files files) const override {
    if (!files.empty())
      return R"({"role":"user","content":)" + content_with(text, files) + "}";
    return message("user", text);
  }

  // Several items, where there are calls or thoughts.
  std::string assistant_message(const told_turn& x) const override {
    std::string out;
    std::size_t told = 0;
    const auto state =
        x.own ? ordered_json::parse(x.state, nullptr, false) : ordered_json{};
    if (state.is_array()) {
      for (const auto& item : state) {
        if (item.contains("call")) {
          if (told < x.calls.size())
            join(out, call_item(x.calls[told++],
                                item.value("more", ordered_json::object())));
        } else if (item.contains("type")) {
          join(out, text_of(item));
        } else {
          join(out, message("assistant",
                            item["text"].get_ref<const std::string&>()));
        }
      }
    } else if (!x.text.empty()) {
      out = message("assistant", x.text);
    }
    for (; told < x.calls.size(); ++told) join(out, call_item(x.calls[told]));
    return out;
  }

  std::string tool_message(std::string_view provider_id, std::string_view,
                           std::string_view text,
                           told_files files) const override {
    std::string out = R"({"type":"function_call_output",)";
    append_member(out, "call_id", plain_id(provider_id));
    out.push_back(',');
    if (files.empty())
      append_member(out, "output", text);
    else
      out.append(R"("output":)").append(content_with(text, files));
    out.push_back('}');
    return out;
  }

  bool results_show_files() const noexcept override { return true; }

  std::unique_ptr<decoder> make_decoder() const override {
    return std::make_unique<responses_decoder>();
  }
};

}  // namespace

}  // namespace riffle::model::responses

namespace riffle::model {

std::unique_ptr<dialect> make_responses_dialect() {
  return std::make_unique<responses::responses_dialect>();
}

}  // namespace riffle::model
