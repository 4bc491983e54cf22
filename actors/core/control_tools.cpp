// SPDX-License-Identifier: MIT
#include "actors/core/control_tools.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/core/plan.hpp"
#include "actors/core/termination_policy.hpp"

namespace riffle::core {

namespace {

using nlohmann::json;

constexpr std::string_view complete_schema =
    R"({"type":"object","properties":{"answer":{"type":"string","description":"The final answer for the user."}},"required":["answer"],"additionalProperties":false})";

constexpr std::string_view approval_schema =
    R"({"type":"object","properties":{"summary":{"type":"string","description":"What you propose to do and why, in one or two sentences."}},"required":["summary"],"additionalProperties":false})";

constexpr std::string_view phase_schema =
    R"({"type":"object","properties":{"phase":{"type":"string","minLength":1,"maxLength":64,"description":"The name of the phase that begins now."}},"required":["phase"],"additionalProperties":false})";

control_outcome refused(std::string message) {
  control_outcome out;
  out.result.how = outcome::failed;
  out.result.err = error{errc::invalid_arguments, "control", message};
  out.result.output = std::move(message);
  return out;
}

control_outcome manage_plan(const std::string& arguments,
                            const std::string& stored) {
  auto edit = edit_plan(arguments, stored);
  if (!edit) return refused(edit.error().message);
  control_outcome out;
  out.result.output = std::move(edit->text);
  if (edit->plan) {
    out.events.emplace_back(
        events::plan_updated{std::move(edit->action), *edit->plan});
    out.plan = std::move(edit->plan);
  }
  return out;
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

control_outcome complete(const tool_call& call, const answer_rule& rule) {
  auto answer = answer_in(call, rule);
  if (rule.problem)
    if (const auto problem = rule.problem(answer); !problem.empty())
      return refused(
          "this answer does not have the form that is asked for: " + problem +
          "; call `complete` again, with what is wrong put right");
  control_outcome out;
  out.answer = std::move(answer);
  out.result.output = "The run is complete.";
  return out;
}

control_outcome set_phase(const json& arguments) {
  auto phase = arguments.at("phase").get<std::string>();
  if (const auto problem = phase_problem(phase); !problem.empty())
    return refused("the name of the phase " + problem);
  control_outcome out;
  out.events.emplace_back(events::status{"phase: " + phase});
  out.result.output = "The session is in the phase \"" + phase + "\" now.";
  out.phase = std::move(phase);
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
       "Keeps the plan of this session, which you are shown with each step. "
       "`create` makes a new plan of `steps`; `add` puts more `steps` at the "
       "end, or behind the step `id`; `update` changes `title` or `status` of "
       "the step `id`; `complete` marks the step `id` as done; `list` shows "
       "the plan. The ids of steps stay the same. Use it for work of several "
       "steps, and keep it true while you work.",
       plan_schema},
      {"seek_approval",
       "Proposes an action to the user and records the proposal. Use it before "
       "anything that is costly or cannot be undone.",
       approval_schema},
      {"set_phase",
       "Says that a new phase of the work begins, such as \"plan\", \"work\" "
       "or \"chat\". What is expected of you can depend on the phase. It stays "
       "until it is set again.",
       phase_schema},
  };
  return all;
}

bool is_control_tool(std::string_view name) {
  return std::ranges::any_of(control_tools(),
                             [&](const auto& x) { return x.name == name; });
}

std::string answer_in(const tool_call& call, const answer_rule& rule) {
  if (rule.is_arguments) return call.arguments;
  const auto arguments = json::parse(call.arguments, nullptr, false);
  const auto found = arguments.find("answer");
  const bool said = found != arguments.end() && found->is_string();
  return said ? found->get<std::string>() : std::string{};
}

control_outcome run_control(const tool_call& call, const std::string& plan,
                            const proposal_id& fresh_id,
                            const answer_rule& rule) {
  const auto arguments = json::parse(call.arguments, nullptr, false);
  if (!arguments.is_object())
    return refused("the arguments are no JSON object");
  try {
    if (call.tool == "complete") return complete(call, rule);
    if (call.tool == "manage_plan") return manage_plan(call.arguments, plan);
    if (call.tool == "set_phase") return set_phase(arguments);
    return seek_approval(arguments, fresh_id);
  } catch (const json::exception& e) {
    return refused(e.what());
  }
}

}  // namespace riffle::core
