// SPDX-License-Identifier: MIT
#include "tools/mcp/run_task.hpp"

#include <charconv>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/base/encoding.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/text.hpp"

namespace riffle::mcp {

json run_task_tool() {
  return json::parse(R"({
    "name": "run_task",
    "title": "Run a task",
    "description": "Gives a task to an agent of Riffle, which works on it with its own tools until there is an answer. Name a session to go on with a conversation.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "task": {"type": "string", "description": "What is to be done"},
        "session_id": {"type": "string", "description": "A session to go on with"},
        "agent": {"type": "string", "description": "Who works on it"},
        "model": {"type": "string", "description": "Instead of the agent's"},
        "context": {"type": "string", "description": "What else is to be known"},
        "phase": {"type": "string", "description": "That the session enters"},
        "max_steps": {"type": "integer", "minimum": 1, "maximum": 4294967295},
        "timeout": {"type": "string", "description": "Of the whole run, such as \"90s\" or \"5m\""},
        "approve": {"type": "string", "enum": ["ask", "all", "none"], "description": "What is done where a person would be asked"},
        "response_schema": {"type": "object", "description": "JSON Schema of the answer"},
        "attachments": {
          "type": "array",
          "description": "Pictures and PDF files",
          "items": {
            "type": "object",
            "properties": {
              "name": {"type": "string"},
              "data": {"type": "string", "description": "Its bytes in base64"}
            },
            "required": ["data"],
            "additionalProperties": false
          }
        }
      },
      "required": ["task"],
      "additionalProperties": false
    },
    "outputSchema": {
      "type": "object",
      "properties": {
        "status": {"type": "string", "enum": ["completed", "failed", "cancelled"]},
        "answer": {"type": "string"},
        "run_id": {"type": "string"},
        "session_id": {"type": "string"},
        "steps": {"type": "integer"},
        "tool_calls": {"type": "integer"},
        "denied": {"type": "integer", "description": "Tool calls that were not let run"}
      },
      "required": ["status", "answer"]
    },
    "annotations": {"readOnlyHint": false, "openWorldHint": true}
  })");
}

json task_result(const task_end& x) {
  return {{"content", {{{"type", "text"}, {"text", x.answer}}}},
          {"structuredContent",
           {{"status", x.status},
            {"answer", x.answer},
            {"run_id", x.run},
            {"session_id", x.session},
            {"steps", x.steps},
            {"tool_calls", x.tool_calls},
            {"denied", x.denied}}},
          {"isError", x.status != "completed"}};
}

json task_refusal(const std::string& why) {
  return {{"content", {{{"type", "text"}, {"text", why}}}},
          {"structuredContent", {{"status", "failed"}, {"answer", why}}},
          {"isError", true}};
}

json offered_tool(const tools::tool_spec& x) {
  const bool reads = x.eff == effect::read_only;
  auto schema = json::parse(x.parameters, nullptr, false);
  if (!schema.is_object()) schema = {{"type", "object"}};
  return {{"name", x.name},
          {"description", x.description},
          {"inputSchema", std::move(schema)},
          {"annotations",
           {{"readOnlyHint", reads},
            {"destructiveHint", !reads},
            {"idempotentHint", reads || x.idempotent}}}};
}

std::string plan_of_call(const std::string& tool, const json& arguments) {
  return to_text(
      {{"references", false},
       {"steps", json::array({{{"id", tool},
                               {"tool", tool},
                               {"arguments", arguments.is_object()
                                                 ? arguments
                                                 : json::object()}}})}});
}

json call_result(const call_end& x) {
  // In a line of JSON that clients still take: Riffle itself takes 8 MB.
  constexpr std::size_t most = std::size_t{7} << 20;
  auto content = json::array({{{"type", "text"}, {"text", x.text}}});
  bool all = true;
  auto size = x.text.size();
  for (const auto& file : x.files) {
    auto data = to_base64(file.bytes);
    size += data.size();
    if (size > most) {
      all = false;
      content.push_back({{"type", "text"},
                         {"text", with_dots(file.name, 200) + " (" + file.type +
                                      ", " + size_text(file.bytes.size()) +
                                      ") is too large to be shown here"}});
    } else if (file.type.starts_with("image/")) {
      content.push_back({{"type", "image"},
                         {"data", std::move(data)},
                         {"mimeType", file.type}});
    } else {
      content.push_back({{"type", "resource"},
                         {"resource",
                          {{"uri", "riffle://files/" + file.digest},
                           {"mimeType", file.type},
                           {"blob", std::move(data)}}}});
    }
  }
  if (!x.output.empty())
    content.push_back({{"type", "resource_link"},
                       {"uri", x.output},
                       {"name", "the whole output"},
                       {"mimeType", "text/plain"},
                       {"size", x.output_bytes}});
  return {{"content", std::move(content)}, {"isError", !x.good || !all}};
}

json without_links(json result) {
  const auto content = result.find("content");
  if (content == result.end() || !content->is_array()) return result;
  auto kept = json::array();
  for (auto& one : *content)
    if (one.value("type", "") == "resource_link")
      kept.push_back({{"type", "text"},
                      {"text", "The whole output is the resource " +
                                   one.value("uri", "") + "."}});
    else
      kept.push_back(std::move(one));
  *content = std::move(kept);
  return result;
}

namespace {

constexpr std::string_view uri_begin = "riffle://";

std::string uri_of(std::string_view kind, std::string_view id) {
  return std::string{uri_begin} + std::string{kind} + "/" + percent_encoded(id);
}

}  // namespace

std::string output_uri(const std::string& call) {
  return uri_of("outputs", call);
}

std::string session_uri(const std::string& session) {
  return uri_of("sessions", session);
}

json session_resource(const std::string& session, const std::string& title) {
  return {{"uri", session_uri(session)},
          {"name", session},
          {"title", title},
          {"mimeType", "application/json"}};
}

std::optional<std::string> id_in(std::string_view uri, std::string_view kind) {
  for (const auto part : {uri_begin, kind, std::string_view{"/"}}) {
    if (!uri.starts_with(part)) return {};
    uri.remove_prefix(part.size());
  }
  std::string out;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const auto at = uri.substr(i, 3);
    unsigned char byte = 0;
    const auto* end = at.data() + at.size();
    if (at.size() == 3 && at[0] == '%' &&
        std::from_chars(at.data() + 1, end, byte, 16).ptr == end) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += uri[i];  // as clients have written them before
    }
  }
  return out;
}

json uri_templates() {
  return json::array({{{"uriTemplate", "riffle://sessions/{id}"},
                       {"name", "session"},
                       {"description", "A conversation: runs, messages, calls"},
                       {"mimeType", "application/json"}},
                      {{"uriTemplate", "riffle://outputs/{call}"},
                       {"name", "output"},
                       {"description", "The whole output of a call"},
                       {"mimeType", "text/plain"}}});
}

std::string first_part(std::string text, std::uint64_t whole,
                       std::size_t most) {
  if (text.size() > most) text = std::string{cut_utf8(text, most)};
  if (text.size() < whole)
    text += "\n[the output was cut here; " + std::to_string(whole) +
            " bytes in all]";
  return text;
}

std::string task_news(std::string_view type, std::string_view line) {
  if (type != "step_start" && type != "tool_call" && type != "tool_progress" &&
      type != "tool_result" && type != "approval_required")
    return {};
  const auto x = json::parse(line, nullptr, false);
  if (!x.is_object()) return {};
  const auto data = x.value("data", json::object());
  if (type == "step_start") return "step " + data.value("step", json(0)).dump();
  if (type == "tool_call") return data.value("title", "");
  if (type == "approval_required")
    return "waits for approval of " + data.value("title", "") +
           ": riffle proposals show " + data.value("proposal_id", "");
  const auto* what = type == "tool_progress" ? "message" : "outcome";
  const auto said = data.value(what, "");
  return data.value("tool", "") + ": " + std::string{trimmed(said, "\r\n")};
}

bool is_denial(std::string_view type, std::string_view line) {
  if (type != "tool_result") return false;
  const auto x = json::parse(line, nullptr, false);
  return x.is_object() &&
         x.value("data", json::object()).value("outcome", "") == "denied";
}

}  // namespace riffle::mcp
