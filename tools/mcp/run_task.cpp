// SPDX-License-Identifier: MIT
#include "tools/mcp/run_task.hpp"

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
        "context": {"type": "string", "description": "What else is to be known"},
        "max_steps": {"type": "integer", "minimum": 1, "maximum": 4294967295}
      },
      "required": ["task"]
    },
    "outputSchema": {
      "type": "object",
      "properties": {
        "status": {"type": "string", "enum": ["completed", "failed", "cancelled"]},
        "answer": {"type": "string"},
        "run_id": {"type": "string"},
        "session_id": {"type": "string"},
        "steps": {"type": "integer"},
        "tool_calls": {"type": "integer"}
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
            {"tool_calls", x.tool_calls}}},
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
       {"steps", json::array({{{"id", "call"},
                               {"tool", tool},
                               {"arguments", arguments.is_object()
                                                 ? arguments
                                                 : json::object()}}})}});
}

json call_result(const call_end& x) {
  return {{"content", {{{"type", "text"}, {"text", x.text}}}},
          {"isError", !x.good}};
}

std::string failed_call_text(const std::string& why,
                             const std::string& output) {
  if (output.empty() || why.find(output) != why.npos) return why;
  if (output.starts_with(why)) return output;
  return why + "\n\n" + output;
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
  return data.value("tool", "") + ": " + data.value(what, "");
}

}  // namespace riffle::mcp
