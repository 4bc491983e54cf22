// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "messages/json_text.hpp"
#include "runtime/base/text.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/model/openai_decoder.hpp"

namespace riffle::model {

namespace {

void append_string(std::string& out, std::string_view text) {
  out.push_back('"');
  append_json_escaped(out, text);
  out.push_back('"');
}

void append_member(std::string& out, std::string_view key,
                   std::string_view text) {
  out.append("\"").append(key).append("\":");
  append_string(out, text);
}

std::string message(std::string_view role, std::string_view text) {
  std::string out = "{";
  append_member(out, "role", role);
  out.push_back(',');
  append_member(out, "content", text);
  out.push_back('}');
  return out;
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

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Servers that parse the arguments of earlier calls refuse the whole
// conversation when they are no object, for ever.
std::string sendable(std::string_view arguments) {
  if (is_blank(arguments)) return "{}";
  if (is_json_object(arguments)) return std::string{arguments};
  std::string out = "{";
  append_member(out, "invalid_arguments", arguments);
  out.push_back('}');
  return out;
}

void append_call(std::string& out, const told_call& x) {
  out.push_back('{');
  append_member(out, "id", x.provider_id);
  out.append(R"(,"type":"function","function":{)");
  append_member(out, "name", x.tool);
  out.push_back(',');
  append_member(out, "arguments", sendable(x.arguments));
  out.append("}}");
}

nlohmann::ordered_json tool_choice(const std::string& x) {
  if (x == "auto" || x == "required" || x == "none") return x;
  return {{"type", "function"}, {"function", {{"name", x}}}};
}

nlohmann::ordered_json response_format(const std::string& schema) {
  return {{"type", "json_schema"},
          {"json_schema",
           {{"name", "answer"},
            {"schema", nlohmann::ordered_json::parse(schema)}}}};
}

/// Members of the body, beside those that every request has.
nlohmann::ordered_json parameters(const request_options& x, const quirks& odd) {
  auto out = nlohmann::ordered_json::object();
  if (x.temperature) out["temperature"] = *x.temperature;
  if (x.top_p) out["top_p"] = *x.top_p;
  if (x.max_output_tokens) out[odd.max_tokens_name] = *x.max_output_tokens;
  if (!x.stop.empty()) out["stop"] = x.stop;
  if (x.seed) out["seed"] = *x.seed;
  if (!x.reasoning_effort.empty()) out["reasoning_effort"] = x.reasoning_effort;
  // Servers refuse them where there is no tool.
  if (!x.tools.empty() && !x.tool_choice.empty())
    out["tool_choice"] = tool_choice(x.tool_choice);
  if (!x.tools.empty() && x.parallel_tool_calls)
    out["parallel_tool_calls"] = *x.parallel_tool_calls;
  if (!x.response_schema.empty())
    out["response_format"] = response_format(x.response_schema);
  if (!x.extra.empty())
    out.update(nlohmann::ordered_json::parse(x.extra), true);
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
    out.append(options.streaming
                   ? R"(,"stream":true,"stream_options":{"include_usage":true})"
                   : R"(,"stream":false)");
    const auto more = parameters(options, quirks_);
    for (const auto& [name, value] : more.items()) {
      out.push_back(',');
      append_string(out, name);
      out.append(":").append(value.dump());
    }
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

  std::string user_message(std::string_view text) const override {
    return message("user", text);
  }

  std::string assistant_message(
      std::string_view text,
      const std::vector<told_call>& calls) const override {
    if (calls.empty()) return message("assistant", text);
    std::string out = R"({"role":"assistant","content":)";
    if (text.empty())
      out.append("null");
    else
      append_string(out, text);
    out.append(",\"tool_calls\":[");
    for (const auto& x : calls) {
      if (&x != &calls.front()) out.push_back(',');
      append_call(out, x);
    }
    out.append("]}");
    return out;
  }

  std::string tool_message(std::string_view provider_id, std::string_view,
                           std::string_view text) const override {
    std::string out = R"({"role":"tool",)";
    append_member(out, "tool_call_id", provider_id);
    out.push_back(',');
    append_member(out, "content", text);
    out.push_back('}');
    return out;
  }

  std::unique_ptr<decoder> make_decoder() const override {
    return std::make_unique<openai_decoder>();
  }

 private:
  quirks quirks_;
};

}  // namespace

bool can_express(std::string_view dialect,
                 std::string_view parameter) noexcept {
  struct lack {
    std::string_view dialect;
    std::string_view parameter;
  };
  static constexpr std::array lacks{
      lack{"openai", "thinking_budget"},
      lack{"anthropic", "seed"},
      lack{"anthropic", "reasoning_effort"},
      lack{"anthropic", "response_schema"},
      lack{"responses", "stop"},
      lack{"responses", "seed"},
      lack{"responses", "thinking_budget"},
      lack{"ollama", "thinking_budget"},
      lack{"ollama", "tool_choice"},
      lack{"ollama", "parallel_tool_calls"},
  };
  return std::ranges::none_of(lacks, [&](const lack& x) {
    return x.dialect == dialect && x.parameter == parameter;
  });
}

std::unique_ptr<dialect> make_openai_dialect(quirks x) {
  return std::make_unique<openai_dialect>(std::move(x));
}

std::unique_ptr<dialect> make_dialect(std::string_view name, quirks x) {
  if (name == "openai" || name == "scripted")
    return make_openai_dialect(std::move(x));
  return nullptr;
}

}  // namespace riffle::model
