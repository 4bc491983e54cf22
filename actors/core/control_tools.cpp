// SPDX-License-Identifier: MIT
#include "actors/core/control_tools.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace riffle::core {

namespace {

using nlohmann::json;

constexpr std::string_view complete_schema =
    R"({"type":"object","properties":{"answer":{"type":"string","description":"The final answer for the user."}},"required":["answer"],"additionalProperties":false})";

constexpr std::string_view plan_schema =
    R"({"type":"object","properties":{"action":{"type":"string","enum":["set","update","get"]},"steps":{"type":"array","items":{"type":"string"},"description":"For set: the steps of the plan, in order."},"step":{"type":"integer","minimum":1,"description":"For update: which step, from 1."},"status":{"type":"string","enum":["pending","in_progress","done","dropped"],"description":"For update: its new status."}},"required":["action"],"additionalProperties":false})";

constexpr std::string_view approval_schema =
    R"({"type":"object","properties":{"summary":{"type":"string","description":"What you propose to do and why, in one or two sentences."}},"required":["summary"],"additionalProperties":false})";

control_outcome refused(std::string message) {
  control_outcome out;
  out.result.how = outcome::failed;
  out.result.err = error{errc::invalid_arguments, "control", message};
  out.result.output = std::move(message);
  return out;
}

std::string plan_text(const json& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.size(); ++i)
    text += std::to_string(i + 1) + ". [" +
            plan[i].at("status").get<std::string>() + "] " +
            plan[i].at("title").get<std::string>() + "\n";
  return text.empty() ? "There is no plan." : text;
}

control_outcome plan_changed(const std::string& action, const json& plan) {
  control_outcome out;
  out.result.output = plan_text(plan);
  if (action != "get") {
    out.plan = plan.dump();
    out.events.emplace_back(events::plan_updated{action, *out.plan});
  }
  return out;
}

control_outcome manage_plan(const json& arguments, const std::string& stored) {
  auto plan = json::parse(stored, nullptr, false);
  if (!plan.is_array()) plan = json::array();
  const auto action = arguments.at("action").get<std::string>();
  if (action == "set") {
    if (!arguments.contains("steps"))
      return refused("manage_plan: `set` needs `steps`, a list of texts");
    plan = json::array();
    for (const auto& title : arguments["steps"])
      plan.push_back({{"title", title}, {"status", "pending"}});
  } else if (action == "update") {
    const auto step = arguments.value("step", std::uint64_t{0});
    if (step == 0 || step > plan.size() || !arguments.contains("status"))
      return refused(
          "manage_plan: `update` needs `status` and `step`, from 1 to " +
          std::to_string(plan.size()));
    plan[step - 1]["status"] = arguments["status"];
  }
  return plan_changed(action, plan);
}

control_outcome seek_approval(const json& arguments, const proposal_id& id) {
  control_outcome out;
  const auto summary = arguments.at("summary").get<std::string>();
  out.events.emplace_back(
      events::proposal{id, events::proposal_source::seek_approval, summary,
                       events::proposal_status::open});
  out.result.output = "Proposal " + id.value +
                      " is recorded and waits for a decision. Do not act on "
                      "it before it is approved.";
  out.result.metadata = json{{"proposal_id", id.value}}.dump();
  return out;
}

control_outcome complete(const json& arguments) {
  control_outcome out;
  out.answer = arguments.at("answer").get<std::string>();
  out.result.output = "The run is complete.";
  return out;
}

}  // namespace

const std::vector<control_tool>& control_tools() {
  static const std::vector<control_tool> all{
      {"complete",
       "Ends the task with the final answer for the user. Call it once, when "
       "everything is done.",
       complete_schema},
      {"manage_plan",
       "Keeps the plan of this session: set its steps, update the status of "
       "one, "
       "or get it.",
       plan_schema},
      {"seek_approval",
       "Proposes an action to the user and records the proposal. Use it before "
       "anything that is costly or cannot be undone.",
       approval_schema},
  };
  return all;
}

bool is_control_tool(std::string_view name) {
  return std::ranges::any_of(control_tools(),
                             [&](const auto& x) { return x.name == name; });
}

control_outcome run_control(const tool_call& call, const std::string& plan,
                            const proposal_id& fresh_id) {
  const auto arguments = json::parse(call.arguments, nullptr, false);
  if (!arguments.is_object())
    return refused("the arguments are no JSON object");
  try {
    if (call.tool == "complete") return complete(arguments);
    if (call.tool == "manage_plan") return manage_plan(arguments, plan);
    return seek_approval(arguments, fresh_id);
  } catch (const json::exception& e) {
    return refused(e.what());
  }
}

}  // namespace riffle::core
