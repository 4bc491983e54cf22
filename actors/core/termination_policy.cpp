// SPDX-License-Identifier: MIT
#include "actors/core/termination_policy.hpp"

#include <algorithm>

namespace riffle::core {
namespace {

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

termination_decision finish(std::string_view text, std::uint32_t tools_run) {
  if (!blank(text)) return {termination_step::finish, std::string{text}, false};
  const auto sentence =
      tools_run > 0 ? fallback_after_tools : fallback_without_tools;
  return {termination_step::finish, std::string{sentence}, true};
}

std::string reminder(std::uint32_t number, std::uint32_t of) {
  return "You ended your turn without calling a tool, but the task is not "
         "marked as complete. If it is done, call `complete` with your final "
         "answer; if not, go on with it. (Reminder " +
         std::to_string(number) + " of " + std::to_string(of) + ".)";
}

std::string give_up_message(std::uint32_t reminders) {
  return "the agent did not call `complete`, after " +
         std::to_string(reminders) +
         (reminders == 1 ? " reminder" : " reminders") +
         "; set auto_complete = true or completion = \"free\" to accept its "
         "text as the answer";
}

}  // namespace

bool needs_complete(bool completion_is_tool, std::string_view phase,
                    const std::vector<std::string>& exempt_phases) {
  return completion_is_tool &&
         std::ranges::find(exempt_phases, phase) == exempt_phases.end();
}

termination_decision on_turn_without_calls(const termination_limits& limits,
                                           std::string_view visible_text,
                                           std::uint32_t reminders_used,
                                           std::uint32_t tools_run) {
  if (!limits.needs_complete) return finish(visible_text, tools_run);
  if (reminders_used < limits.max_attempts)
    return {termination_step::remind,
            reminder(reminders_used + 1, limits.max_attempts), false};
  if (limits.auto_complete) return finish(visible_text, tools_run);
  return {termination_step::fail, give_up_message(reminders_used), false};
}

termination_decision on_complete(std::string_view answer,
                                 std::string_view visible_text,
                                 std::uint32_t tools_run) {
  return finish(blank(answer) ? visible_text : answer, tools_run);
}

}  // namespace riffle::core
