// SPDX-License-Identifier: MIT
#include "actors/core/termination_policy.hpp"

#include <algorithm>
#include <utility>

#include "messages/runtime_note.hpp"
#include "runtime/base/text.hpp"

namespace riffle::core {
namespace {

bool blank(std::string_view text) {
  return trimmed(text, " \t\r\n\v\f").empty();
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

std::string reminder(const termination_limits& limits, std::string_view phase,
                     std::uint32_t number) {
  std::string text{runtime_note};
  text += "You ended your turn without calling a tool";
  if (!phase.empty()) text += " in the phase \"" + std::string{phase} + "\"";
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

class free_policy final : public termination_policy {
 public:
  termination on_turn_without_calls(const turn_end& turn) const override {
    return finish(turn.visible_text, turn.tools_run);
  }
};

class tool_policy final : public termination_policy {
 public:
  explicit tool_policy(termination_limits limits)
      : limits_{std::move(limits)} {}

  termination on_turn_without_calls(const turn_end& turn) const override {
    const auto used = turn.reminders_used;
    if (used < limits_.max_attempts)
      return {termination_step::remind, reminder(limits_, turn.phase, used + 1),
              false};
    if (limits_.auto_complete && !limits_.routes)
      return finish(turn.visible_text, turn.tools_run);
    return {termination_step::fail, give_up_message(limits_, used), false};
  }

 private:
  const termination_limits limits_;
};

class phase_policy final : public termination_policy {
 public:
  phase_policy(termination_policy_ptr usual,
               std::vector<std::string> exempt_phases,
               termination_policy_ptr exempt)
      : usual_{std::move(usual)},
        exempt_phases_{std::move(exempt_phases)},
        exempt_{std::move(exempt)} {}

  termination on_turn_without_calls(const turn_end& turn) const override {
    return of(turn.phase).on_turn_without_calls(turn);
  }
  termination on_complete(std::string_view answer,
                          const turn_end& turn) const override {
    return of(turn.phase).on_complete(answer, turn);
  }

 private:
  const termination_policy& of(std::string_view phase) const {
    const bool free =
        std::ranges::find(exempt_phases_, phase) != exempt_phases_.end();
    return free ? *exempt_ : *usual_;
  }

  const termination_policy_ptr usual_;
  const std::vector<std::string> exempt_phases_;
  const termination_policy_ptr exempt_;
};

}  // namespace

termination termination_policy::on_complete(std::string_view answer,
                                            const turn_end& turn) const {
  return finish(blank(answer) ? turn.visible_text : answer, turn.tools_run);
}

termination_policy_ptr free_ending() { return std::make_shared<free_policy>(); }

termination_policy_ptr ending_by_tool(termination_limits limits) {
  return std::make_shared<tool_policy>(std::move(limits));
}

termination_policy_ptr ending_by_phase(termination_policy_ptr usual,
                                       std::vector<std::string> exempt_phases,
                                       termination_policy_ptr exempt) {
  return std::make_shared<phase_policy>(
      std::move(usual), std::move(exempt_phases), std::move(exempt));
}

termination_policy_ptr make_termination_policy(termination_limits limits) {
  if (!limits.needs_complete) return free_ending();
  auto exempt = std::exchange(limits.exempt_phases, {});
  auto usual = ending_by_tool(std::move(limits));
  if (exempt.empty()) return usual;
  return ending_by_phase(std::move(usual), std::move(exempt), free_ending());
}

std::string phase_problem(std::string_view name) {
  constexpr std::size_t longest = 64;
  if (blank(name)) return "is empty";
  if (name.size() > longest)
    return "is longer than " + std::to_string(longest) + " bytes";
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  if (std::ranges::any_of(name, is_control)) return "holds a control character";
  return {};
}

}  // namespace riffle::core
