// SPDX-License-Identifier: MIT
#include "actors/tools/call_check.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/cluster/node_board.hpp"
#include "actors/core/control_tools.hpp"
#include "actors/run/recovery.hpp"
#include "actors/tools/call_policy.hpp"
#include "actors/tools/proposal_texts.hpp"
#include "runtime/base/secrets.hpp"
#include "tools/ask.hpp"

namespace riffle {

namespace {

constexpr const char* tool_call_parser_op = "tool_call_parser";

bool is_listed(const run_spec& spec, const std::string& tool) {
  const bool ends = tool == "complete" &&
                    (spec.agent.completion == "tool" || spec.completing);
  return ends ||
         std::ranges::find(spec.agent.tools, tool) != spec.agent.tools.end();
}

std::optional<error> find_unlisted(const run_spec& spec,
                                   const std::string& tool) {
  const auto& allowed = spec.agent.tools;
  const bool listed = is_listed(spec, tool);
  if (spec.registry->find(tool) != nullptr && listed) return {};
  if (listed && spec.nodes) return spec.nodes->problem(tool);
  std::string names;
  for (const auto& n : allowed) names += (names.empty() ? "" : ", ") + n;
  return error{errc::tool_not_found, tool_call_parser_op,
               redact("there is no tool `" + tool + "`" +
                      (names.empty() ? ", and this run has no other one"
                                     : "; there are: " + names))};
}

/// Who asks for a summary wants words alone: what was asked for before stands
/// in front of the model once more, and nobody means it now.
std::optional<error> find_summary(const run_spec& spec,
                                  const std::string& tool) {
  if (tool == "complete" || !sums_up(spec.task, spec.context)) return {};
  return error{errc::approval_denied, tool_call_parser_op,
               "a summary was asked for, so no tool is executed"};
}

/// Readers of the log get an object wherever there is one.
void take_arguments(tool_call& call, const std::string& text) {
  call.arguments = tools::compact_arguments(text);
  if (!call.arguments.empty()) call.arguments_text.clear();
}

/// What it touches as it is written, and where that leads.
expected<std::vector<std::string>> keys_of(const tools::tool& tool,
                                           const config::tool_config& settings,
                                           const nlohmann::json& arguments,
                                           const rule_subject& subject) {
  // A command that reads: what it touches is somewhere in the workspace.
  if (subject.shell && subject.place) return std::vector<std::string>{"."};
  auto keys = tools::ask_keys(tool, arguments, settings.workspace);
  if (!keys || keys->empty() || !subject.place || !subject.known) return keys;
  const auto workspace = std::filesystem::absolute(settings.workspace);
  auto place = (workspace / subject.text).lexically_normal().string();
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  if (std::ranges::find(*keys, place) == keys->end())
    keys->push_back(std::move(place));
  return keys;
}

}  // namespace

error denied_call(const std::string& tool, const std::string& rule) {
  return {errc::approval_denied, tool_call_parser_op,
          kept_back_by_rule(tool, rule)};
}

error doubtful_call(const std::string& tool, const std::string& pattern) {
  return {errc::approval_denied, tool_call_parser_op,
          kept_back_in_doubt(tool, pattern)};
}

namespace {

std::optional<error> refusal_of(const run_spec& spec, const std::string& tool,
                                const call_policy& x) {
  if (x.policy == core::approval_policy::deny) return denied_call(tool, x.rule);
  // Nobody reads what `--approve all` approves.
  if (!x.in_doubt.empty() && spec.approval == approve::all)
    return doubtful_call(tool, x.in_doubt);
  return {};
}

/// Of a call that was known before the process began.
std::optional<error> taken_out(const run_spec& spec, const std::string& tool) {
  if (is_listed(spec, tool)) return {};
  return error{
      errc::tool_not_found, tool_call_parser_op,
      "the tool `" + tool + "` is not among the agent's tools any more"};
}

/// What only the tool can say of the call.
std::optional<error> ask_tool(const run_spec& spec, const tools::tool& tool,
                              const nlohmann::json& arguments,
                              tool_call& call) {
  auto title = tools::ask_title(tool, arguments);
  if (!title) return std::move(title.error());
  call.title = std::move(*title);
  const auto now = policy_of(tool, spec.tool_settings, arguments);
  if (!now) return now.error();
  auto keys =
      keys_of(tool, spec.tool_settings.of(call.tool), arguments, now->subject);
  if (!keys) return std::move(keys.error());
  call.eff = now->eff;
  call.keys = std::move(*keys);
  call.needs_approval = now->policy == core::approval_policy::ask;
  // Where it leads may be another place once it begins: then it is judged.
  if (now->subject.place) {
    call.judged = now->subject.text;
    return {};
  }
  call.judged = now->again;
  return refusal_of(spec, call.tool, *now);
}

}  // namespace

std::optional<error> check_call(const run_spec& spec, tool_call& call,
                                const std::string& text) {
  auto why = find_unlisted(spec, call.tool);
  if (!why) why = find_summary(spec, call.tool);
  if (why) {
    take_arguments(call, text);
    return why;
  }
  const auto& tool = *spec.registry->find(call.tool);
  const auto& about = tool->spec();
  const auto& settings = spec.tool_settings.of(call.tool);
  call.eff = about.eff;
  call.control = core::is_control_tool(call.tool);
  call.idempotent = about.idempotent || settings.idempotent;
  call.limits = {settings.timeout, settings.idle_timeout,
                 settings.queue_timeout, settings.attempts, settings.priority};
  // An answer of a form is looked at when it is given (`run_control`).
  const bool form = call.tool == "complete" && spec.answer_is_arguments;
  auto arguments = form ? tools::any_arguments(call.tool, text)
                        : spec.registry->check(call.tool, text);
  if (!arguments) {
    take_arguments(call, text);
    return std::move(arguments.error());
  }
  call.arguments = std::move(arguments->text);
  call.arguments_text.clear();
  return ask_tool(spec, *tool, arguments->value, call);
}

tool_call call_of_cause(const run_spec& spec) {
  const auto& [what, decided, ignored] = spec.cause.value();
  tool_call call;
  call.id = spec.ids->next<call_id>();
  call.provider_id = call.id.value;
  call.tool = call.title = what.tool;
  call.step = 1;
  const bool edited =
      !decided->arguments.empty() &&
      !tools::are_same_arguments(decided->arguments, what.arguments);
  call.rejection =
      check_call(spec, call, edited ? decided->arguments : what.arguments);
  if (edited) call.edited_from = what.arguments;
  // It was given: the tracker looks whether it was for exactly this.
  call.needs_approval = true;
  return call;
}

void describe_call(tool_call& call, const std::string& text) {
  take_arguments(call, text);
  call.eff = effect::mutating;  // so that it does not begin early
}

bool takes_a_look(const run_spec& spec, const std::string& name) {
  const auto* tool = spec.registry->find(name);
  return tool != nullptr && takes_a_look(**tool, spec.tool_settings);
}

namespace {

core::judged_call judge_now(const run_spec& spec, const tools::tool& tool,
                            const tool_call& call) {
  core::judged_call out{.place = call.judged, .keys = call.keys};
  const auto arguments = nlohmann::json::parse(call.arguments);
  const auto now = policy_of(tool, spec.tool_settings, arguments);
  if (!now) {
    out.denied = now.error();
    return out;
  }
  if (call.eff == effect::read_only && now->eff == effect::mutating) {
    out.denied = error{errc::tool_execution_error, tool_call_parser_op,
                       "what it reads changed while it waited, so that it may "
                       "do more than read; nothing was done, ask for it again"};
    return out;
  }
  // What a person approved runs as they saw it, also if it only reads now.
  const bool same = call.eff == now->eff;
  if (!same)
    out.place.emplace();
  else if (now->subject.place)
    out.place = now->subject.text;
  else
    out.place = now->again;
  auto keys =
      keys_of(tool, spec.tool_settings.of(call.tool), arguments, now->subject);
  if (!keys) {
    out.denied = std::move(keys.error());
    return out;
  }
  if (same) out.keys = std::move(*keys);
  // What this run is about was approved before it began.
  out.ask = (now->policy == core::approval_policy::ask || !same) && !spec.cause;
  out.denied = refusal_of(spec, call.tool, *now);
  return out;
}

}  // namespace

std::optional<error> find_refusal(const run_spec& spec, const tool_call& call) {
  const auto* tool = spec.registry->find(call.tool);
  if (tool == nullptr) return {};  // nobody will serve it
  if (auto why = taken_out(spec, call.tool)) return why;
  const auto arguments = nlohmann::json::parse(call.arguments);
  const auto now = policy_of(**tool, spec.tool_settings, arguments);
  return now ? refusal_of(spec, call.tool, *now) : std::nullopt;
}

core::judged_call judge(const run_spec& spec, const tool_call& call) {
  core::judged_call out{.place = call.judged, .keys = call.keys};
  const auto* tool = spec.registry->find(call.tool);
  if (tool == nullptr) return out;  // nobody will serve it
  out.denied = taken_out(spec, call.tool);
  if (out.denied) return out;
  try {
    return judge_now(spec, **tool, call);
  } catch (const std::exception& problem) {  // of ours: no memory, no folder
    out.denied = error{errc::internal, tool_call_parser_op,
                       std::string{"it could not be judged, so it was not "
                                   "executed: "} +
                           problem.what()};
    return out;
  }
}

expected<tool_call> edit_call(const run_spec& spec, const tool_call& call,
                              const std::string& arguments) {
  auto changed = call;
  if (auto why = check_call(spec, changed, arguments))
    return unexpected{std::move(*why)};
  if (auto judged = judge(spec, changed); judged.denied)
    return unexpected{std::move(*judged.denied)};
  if (!tools::are_same_arguments(changed.arguments, call.arguments) &&
      changed.edited_from.empty())
    changed.edited_from = call.arguments;
  return changed;
}

}  // namespace riffle
