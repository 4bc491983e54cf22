// SPDX-License-Identifier: MIT
#pragma once

// What the life of a call asks of the outside, in the order in which it must
// happen.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/call.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::core {

/// Why a decision is asked for; from `again` on one was there already.
enum class ask_reason : std::uint8_t {
  now,    ///< nothing that would change what is shown is open
  ahead,  ///< an earlier call still is: may be answered by `on_postponed`
  anew,   ///< it is open, and an earlier call has acted: look once more
  again,  ///< approved ahead, about to begin: is what was shown still so?
  /// As `again`, but an earlier call has failed since: a person says whether it
  /// shall run all the same.
  doubted,
  /// Approved, and under way when the process ended; it may begin again. Is
  /// what was shown still so? If not, it is too late for a question: its answer
  /// is a no, which tells the model what is unknown.
  resumed,
};

/// Ask for a person's (or the policy's) decision; answer: `on_decision`. Of
/// `anew` there is none of its own.
struct request_approval {
  tool_call call;
  ask_reason why = ask_reason::now;
  bool operator==(const request_approval&) const = default;
};

/// The call is about to begin: judge it by the rules, as things are now; the
/// answer is `on_judged`.
struct judge_start {
  tool_call call;
  bool operator==(const judge_start&) const = default;
};

/// What the rules say about a call that is about to begin.
struct judged_call {
  std::optional<error> denied;  ///< it must not run, or nobody can tell
  bool ask = false;             ///< somebody has to agree to it
  /// See `tool_call::judged`; none: it has none, and nothing is compared.
  std::optional<std::string> place;
  std::vector<std::string> keys;  ///< as things are now
};

/// The call is known but does not begin yet: store it as waiting.
struct note_waiting {
  tool_call call;
  bool operator==(const note_waiting&) const = default;
};

/// The call begins (attempt 1: its one `tool_call` event) or begins again.
/// `await_commit`: the intent must be durable before anything else happens;
/// answer: `on_intent_committed`.
struct begin_call {
  tool_call call;
  std::uint32_t attempt = 1;
  bool announce = true;  ///< false: its event is in the log already
  bool await_commit = false;
  bool operator==(const begin_call&) const = default;
};

/// Hand the call to its tool's pool.
struct start_work {
  tool_call call;
  std::uint32_t attempt = 1;
  bool operator==(const start_work&) const = default;
};

/// Hand a control tool's call to the orchestrator; answer: `on_result`.
struct start_control {
  tool_call call;
  std::uint32_t attempt = 1;
  bool operator==(const start_control&) const = default;
};

/// Ask the pool to stop the work (kill ladder); the worker still answers.
struct stop_work {
  call_id call;
  std::string tool;
  std::uint32_t attempt = 1;
  bool operator==(const stop_work&) const = default;
};

/// Withdraw a pending approval.
struct cancel_approval {
  call_id call;
  bool operator==(const cancel_approval&) const = default;
};

/// The attempt was lost; another follows after `delay`.
struct retry_call {
  tool_call call;
  std::uint32_t failed_attempt = 1;
  std::uint32_t max_attempts = 1;
  duration delay{};
  std::string reason;
  bool operator==(const retry_call&) const = default;
};

/// The one settlement of a call. `announced` false: it never began, its
/// `tool_call` event says `not_started`.
struct settle_call {
  tool_call call;
  call_result result;
  bool announced = false;
  std::uint32_t attempt = 0;
  /// Number of the worker's last progress; nothing: do not wait for it.
  std::optional<std::uint64_t> last_progress;
  bool operator==(const settle_call&) const = default;
};

/// For people: the call was begun, and waits for a worker; or it has one now,
/// after it had waited so long.
struct tell_queued {
  tool_call call;
  std::optional<duration> waited;
  bool operator==(const tell_queued&) const = default;
};

/// Every call of the drained step is settled.
struct calls_drained {
  bool operator==(const calls_drained&) const = default;
};

using dispatch_effect =
    std::variant<request_approval, note_waiting, begin_call, start_work,
                 start_control, stop_work, cancel_approval, retry_call,
                 settle_call, calls_drained, judge_start, tell_queued>;

using dispatch_effects = std::vector<dispatch_effect>;

}  // namespace riffle::core
