// SPDX-License-Identifier: MIT
#pragma once

// How a run ends: what a turn without calls means, and what the answer is
// (agents.*.completion, max_termination_attempts, auto_complete,
// exempt_phases).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::core {

/// `needs_complete`: the agent has to call `complete`; without it any turn
/// without calls ends the run. `auto_complete`: what happens after
/// `max_attempts` reminders: finish with what there is, or fail.
struct termination_limits {
  bool needs_complete = false;
  std::uint32_t max_attempts = 2;
  bool auto_complete = true;
  /// The agent routes others: nobody can decide for it who goes on, so it is
  /// never completed automatically, whatever `auto_complete` says.
  bool routes = false;
  std::string phase;               ///< for the reminder; may be empty
  std::vector<std::string> tools;  ///< the agent's, for the reminder

  bool operator==(const termination_limits&) const = default;
};

/// completion = "tool", except in the phases that are exempt from it.
[[nodiscard]] bool needs_complete(
    bool completion_is_tool, std::string_view phase,
    const std::vector<std::string>& exempt_phases);

enum class termination_step : std::uint8_t {
  finish,  ///< `text` is the final answer
  remind,  ///< `text` goes to the model; publish retry{what: termination}
  fail,    ///< `text` is the message of the error `not_terminated`
};

/// `fallback`: the text is Riffle's, not the model's.
struct termination {
  termination_step step = termination_step::finish;
  std::string text;
  bool fallback = false;

  bool operator==(const termination&) const = default;
};

/// The answer when the model said nothing visible.
inline constexpr std::string_view fallback_after_tools =
    "The tools have run; the model gave no closing answer.";
inline constexpr std::string_view fallback_without_tools =
    "The model gave no answer.";

/// A turn ended in a safe way and asked for no calls. `visible_text`: of this
/// step, not withdrawn, unchanged in the answer; blank text (white space only)
/// gets a fallback. `tools_run`: calls of the run that began.
[[nodiscard]] termination on_turn_without_calls(
    const termination_limits& limits, std::string_view visible_text,
    std::uint32_t reminders_used, std::uint32_t tools_run);

/// `complete` was called, and the step's other calls have settled:
/// its answer is the final one; if that is blank, the visible text of the step;
/// else a fallback.
[[nodiscard]] termination on_complete(std::string_view answer,
                                      std::string_view visible_text,
                                      std::uint32_t tools_run);

}  // namespace riffle::core
