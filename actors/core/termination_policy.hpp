// SPDX-License-Identifier: MIT
#pragma once

// How a run ends: what a turn without calls means, and what the answer is. A
// small port; behind it the built-in policies, which the configuration chooses
// among (agents.*.completion, max_termination_attempts, auto_complete, phase,
// exempt_phases).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::core {

/// What the configuration says of it. `needs_complete`: the agent has to call
/// `complete`, except in the phases that are exempt from it; else any turn
/// without calls ends the run. `auto_complete`: what happens after
/// `max_attempts` reminders: finish with what there is, or fail.
struct termination_limits {
  bool needs_complete = false;
  std::uint32_t max_attempts = 2;
  bool auto_complete = true;
  /// The agent routes others: nobody can decide for it who goes on, so it is
  /// never completed automatically, whatever `auto_complete` says.
  bool routes = false;
  std::string phase{};               ///< where a run begins; may be empty
  std::vector<std::string> tools{};  ///< the agent's, for the reminder
  std::vector<std::string> exempt_phases{};

  bool operator==(const termination_limits&) const = default;
};

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

/// A turn that ended in a safe way, and where its run stands.
struct turn_end {
  /// Of this step, not withdrawn; unchanged in the answer. Blank text (white
  /// space only) gets a fallback.
  std::string_view visible_text{};
  std::string_view phase{};
  std::uint32_t reminders_used = 0;
  std::uint32_t tools_run = 0;  ///< calls of the run that began
};

/// The port. Immutable; any number of runs may share one.
class termination_policy {
 public:
  termination_policy() = default;
  termination_policy(const termination_policy&) = delete;
  termination_policy& operator=(const termination_policy&) = delete;
  virtual ~termination_policy() = default;

  /// The turn asked for no calls.
  [[nodiscard]] virtual termination on_turn_without_calls(
      const turn_end& turn) const = 0;

  /// `complete` was called, and the step's other calls have settled. Built in:
  /// its answer is the final one; if that is blank, the visible text of the
  /// step; else a fallback.
  [[nodiscard]] virtual termination on_complete(std::string_view answer,
                                                const turn_end& turn) const;
};

using termination_policy_ptr = std::shared_ptr<const termination_policy>;

/// Any turn without calls ends the run.
termination_policy_ptr free_ending();
/// The agent has to call `complete`, and is reminded of it.
termination_policy_ptr ending_by_tool(termination_limits limits);
/// `exempt` in the phases of that name, else `usual`.
termination_policy_ptr ending_by_phase(termination_policy_ptr usual,
                                       std::vector<std::string> exempt_phases,
                                       termination_policy_ptr exempt);

/// The one that the configuration chooses.
termination_policy_ptr make_termination_policy(termination_limits limits);

/// A phase's name is a word or some: what is wrong with this one; empty:
/// nothing.
std::string phase_problem(std::string_view name);

}  // namespace riffle::core
