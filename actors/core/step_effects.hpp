// SPDX-License-Identifier: MIT
#pragma once

// What the step machine asks of the outside, in order.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/core/dispatch_queue.hpp"
#include "messages/call.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/turn.hpp"

namespace riffle::core {

/// What of a run's progress must survive a crash.
struct run_progress {
  std::uint32_t step = 0;     ///< the step that began last
  std::uint32_t attempt = 0;  ///< of that step, from 1
  bool turn_committed = false;
  bool turn_safe = false;
  std::uint32_t tool_calls = 0;
  token_usage usage;
  std::uint32_t recoveries = 0;  ///< of this step
  std::uint32_t reminders = 0;
  /// The committed turn is one that its provider paused.
  bool turn_paused = false;
  /// Of a step that is recovered: calls of it had begun and not ended.
  bool calls_worked = false;
  /// Of a step that is recovered: its process ended as it was told to.
  bool left = false;

  bool operator==(const run_progress&) const = default;
};

/// A message that joins the conversation.
struct new_message {
  bool from_model = false;  ///< false: a reminder, as the user's
  std::string text;
  std::string reasoning;
  std::vector<call_id> calls;
  turn_state state{};

  bool operator==(const new_message&) const = default;
};

/// Events, the run's progress and maybe a message, in one commit.
/// `last`: the run ends with it.
struct record_step {
  std::vector<events::body> events;
  std::optional<new_message> message;
  bool last = false;
  run_progress progress;  ///< as it is with these events
  bool operator==(const record_step&) const = default;
};

/// Ask the model.
struct open_turn {
  std::uint32_t step = 0;
  std::uint32_t attempt = 0;
  /// The model's server has refused it before, as there were too many.
  bool refused = false;
  bool operator==(const open_turn&) const = default;
};

/// Stop asking; the turn still ends with `on_turn_over`.
struct stop_turn {
  bool operator==(const stop_turn&) const = default;
};

/// `dispatch_queue::on_gate`.
struct open_gate {
  bool safe = false;
  bool operator==(const open_gate&) const = default;
};

/// `dispatch_queue::on_drain`; answer: `on_drained`.
struct drain_calls {
  drain_reason why = drain_reason::interrupted;
  bool operator==(const drain_calls&) const = default;
};

/// `dispatch_queue::on_next_step`.
struct forget_calls {
  bool operator==(const forget_calls&) const = default;
};

/// Call `on_waited` after this time.
struct wait_for {
  duration delay{};
  bool operator==(const wait_for&) const = default;
};

using step_effect = std::variant<record_step, open_turn, stop_turn, open_gate,
                                 drain_calls, forget_calls, wait_for>;
using step_effects = std::vector<step_effect>;

/// A call as the model asked for it.
struct asked_call {
  call_id id;
  std::string signature;  ///< tool and arguments
  bool operator==(const asked_call&) const = default;
};

/// The model's half of a step, as it ended.
struct turn_summary {
  std::string text;  ///< visible text, refusals included
  std::string reasoning;
  std::string state{};                  ///< see `turn_state::text`
  std::optional<finish_reason> finish;  ///< nothing: it did not end well
  token_usage usage;
  std::optional<error> failure;
  std::optional<duration> retry_after;
  bool shown = false;             ///< a part of it became events
  bool answered = false;          ///< the model began to answer, so it costs
  std::vector<asked_call> calls;  ///< in the model's order

  bool operator==(const turn_summary&) const = default;
};

/// A settled call, committed.
struct settled_call {
  call_id id;
  std::string tool;
  outcome how = outcome::ok;
  std::string answer;        ///< of an ok `complete`
  std::uint64_t result = 0;  ///< `digest_of` what the model is told
  bool polling = false;      ///< tools.*.polling
  bool over_budget = false;  ///< refused: the budget of calls is used up
  /// Of a `complete` that gave no answer: what is wrong with its arguments.
  std::string problem{};

  bool operator==(const settled_call&) const = default;
};

}  // namespace riffle::core
