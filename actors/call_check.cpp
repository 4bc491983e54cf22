// SPDX-License-Identifier: MIT
#include "actors/call_check.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "actors/call_policy.hpp"
#include "actors/core/control_tools.hpp"
#include "runtime/base/digest.hpp"

namespace riffle {

namespace {

constexpr const char* op = "tool_call_parser";

std::optional<error> find_unlisted(const run_spec& spec,
                                   const std::string& tool) {
  const auto& allowed = spec.agent.tools;
  const bool listed = std::ranges::find(allowed, tool) != allowed.end() ||
                      (tool == "complete" && spec.agent.completion == "tool");
  if (spec.registry->find(tool) != nullptr && listed) return {};
  std::string names;
  for (const auto& n : allowed) names += (names.empty() ? "" : ", ") + n;
  return error{errc::tool_not_found, op,
               "there is no tool `" + tool + "`; there are: " + names};
}

/// Readers of the log get an object wherever there is one.
void take_arguments(tool_call& call, const std::string& text) {
  call.arguments = tools::canonical_arguments(text);
  if (!call.arguments.empty()) call.arguments_text.clear();
}

}  // namespace

error denied_call(const std::string& tool) {
  return {errc::approval_denied, op,
          "the configuration does not allow this call of `" + tool +
              "`; do not try it again in another form"};
}

error doubtful_call(const std::string& tool, const std::string& pattern) {
  return {errc::approval_denied, op,
          "this call of `" + tool + "` cannot be told apart from what `deny " +
              pattern +
              "` forbids; use plain commands, without expansions, escapes or "
              "programs that run others"};
}

std::optional<error> check_call(const run_spec& spec, tool_call& call,
                                const std::string& text) {
  if (auto why = find_unlisted(spec, call.tool)) {
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
  auto arguments = spec.registry->check(call.tool, text);
  if (!arguments) {
    take_arguments(call, text);
    return std::move(arguments.error());
  }
  call.arguments = arguments->canonical;
  call.arguments_text.clear();
  call.title = tool->title(arguments->value);
  call.keys = tool->keys(arguments->value,
                         std::filesystem::absolute(settings.workspace));
  const auto judged = judge_call(*tool, settings, arguments->value);
  call.needs_approval = judged.policy == core::approval_policy::ask;
  if (judged.policy == core::approval_policy::deny)
    return denied_call(call.tool);
  // Nobody reads what `--approve all` approves.
  if (!judged.in_doubt.empty() && spec.approval == approval_choice::all)
    return doubtful_call(call.tool, judged.in_doubt);
  return {};
}

expected<tool_call> edit_call(const run_spec& spec, const tool_call& call,
                              const std::string& arguments) {
  auto changed = call;
  if (auto why = check_call(spec, changed, arguments))
    return unexpected{std::move(*why)};
  if (changed.arguments != call.arguments && changed.edited_from.empty())
    changed.edited_from = call.arguments;
  return changed;
}

std::optional<error> find_other_call(const tool_call& call,
                                     const std::string& digest) {
  if (proposal_digest(call.tool, call.arguments) == digest) return {};
  return error{errc::approval_denied, op,
               "what was approved is not what would run"};
}

}  // namespace riffle
