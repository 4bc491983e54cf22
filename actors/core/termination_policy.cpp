// SPDX-License-Identifier: MIT
#include "actors/core/termination_policy.hpp"

#include <algorithm>

#include "messages/runtime_note.hpp"

namespace riffle::core {
namespace {

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

termination finish(std::string_view text, std::uint32_t tools_run) {
  if (!blank(text)) return {termination_step::finish, std::string{text}, false};
  const auto sentence =
      tools_run > 0 ? fallback_after_tools : fallback_without_tools;
  return {termination_step::finish, std::string{sentence}, true};
}

/// The tools with which the agent can go on: all but `complete`.
std::string work_tools(const std::vector<std::string>& tools) {
  constexpr std::size_t most = 8;
  std::string names;
  std::size_t shown = 0;
  for (const auto& x : tools) {
    if (x == "complete") continue;
    if (shown++ == most) return names + ", …";
    names += (names.empty() ? "`" : ", `") + x + "`";
  }
  return names;
}

std::string reminder(const termination_limits& limits, std::uint32_t number) {
  std::string text{runtime_note};
  text += "You ended your turn without calling a tool";
  if (!limits.phase.empty()) text += " in the phase \"" + limits.phase + "\"";
  text += limits.routes
              ? ", and nobody knows yet how it goes on. You route the work of "
                "others, so this is yours to say: call `complete` with the "
                "outcome and with what comes next"
              : ", but the task is not marked as complete. If it is done, "
                "call `complete` with your final answer";
  const auto tools = work_tools(limits.tools);
  text += tools.empty() ? "; if not, go on with it."
                        : "; if not, go on with it (" + tools + ").";
  return text + " (Reminder " + std::to_string(number) + " of " +
         std::to_string(limits.max_attempts) + ".)";
}

std::string give_up_message(const termination_limits& limits,
                            std::uint32_t reminders) {
  const auto count =
      std::to_string(reminders) + (reminders == 1 ? " reminder" : " reminders");
  if (limits.routes)
    return "the agent, which routes others, did not call `complete`, after " +
           count +
           "; such an agent is never completed automatically: improve its "
           "prompt, or set completion = \"free\" to accept its text as the "
           "answer";
  return "the agent did not call `complete`, after " + count +
         "; set auto_complete = true or completion = \"free\" to accept its "
         "text as the answer";
}

}  // namespace

bool needs_complete(bool completion_is_tool, std::string_view phase,
                    const std::vector<std::string>& exempt_phases) {
  return completion_is_tool &&
         std::ranges::find(exempt_phases, phase) == exempt_phases.end();
}

termination on_turn_without_calls(const termination_limits& limits,
                                  std::string_view visible_text,
                                  std::uint32_t reminders_used,
                                  std::uint32_t tools_run) {
  if (!limits.needs_complete) return finish(visible_text, tools_run);
  if (reminders_used < limits.max_attempts)
    return {termination_step::remind, reminder(limits, reminders_used + 1),
            false};
  if (limits.auto_complete && !limits.routes)
    return finish(visible_text, tools_run);
  return {termination_step::fail, give_up_message(limits, reminders_used),
          false};
}

termination on_complete(std::string_view answer, std::string_view visible_text,
                        std::uint32_t tools_run) {
  return finish(blank(answer) ? visible_text : answer, tools_run);
}

}  // namespace riffle::core
