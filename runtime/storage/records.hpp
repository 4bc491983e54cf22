// SPDX-License-Identifier: MIT
#pragma once

// What the journal keeps, as values.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "messages/attachment.hpp"
#include "messages/call.hpp"
#include "messages/error.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"
#include "messages/usage.hpp"
#include "runtime/storage/proposal.hpp"

namespace riffle::storage {

/// Event lines of one run, which who has the block knows, numbered without
/// gaps, shared by the journal and all readers: made once, never changed.
struct event_block {
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  std::shared_ptr<const std::string> lines{};  ///< whole lines, each with '\n'
};

enum class run_state : std::uint8_t { active, completed, failed, cancelled };

std::string_view to_string(run_state x) noexcept;

/// A run. Stored whole at each change; small.
struct run_record {
  run_id id{};
  session_id session{};
  std::uint64_t ordinal = 0;  ///< of the run in its session, from 1; given by
                              ///< `open_run`
  run_state state = run_state::active;
  std::string task{};
  std::string agent{};
  std::string model{};
  std::string settings{};  ///< JSON: what the run was started with
  wall_time started{};
  std::uint32_t step = 0;          ///< the step that began last; 0: none
  std::uint32_t step_attempt = 0;  ///< its attempt, from 1
  /// `seq` of the step_start or step_restarted that began the attempt.
  std::uint64_t attempt_seq = 0;
  bool turn_committed = false;  ///< the step's assistant message is stored
  bool turn_safe = false;  ///< it ended with a finish that lets mutating calls
                           ///< start
  std::uint32_t tool_calls = 0;
  token_usage usage{};
  std::uint32_t recoveries = 0;  ///< restarts of this step by a crash
  std::uint32_t reminders = 0;   ///< termination reminders used up
  std::string plan{};  ///< of the session, as this run left it; a JSON array
  /// The approved proposal that this run executes; else empty.
  proposal_id cause{};
  std::string phase{};  ///< of the session, as this run left it; may be empty

  bool operator==(const run_record&) const = default;
};

enum class message_role : std::uint8_t { user, assistant };

std::string_view to_string(message_role x) noexcept;

/// A message of the conversation, except tool results: those are derived from
/// the calls, so a call can never be without its result.
struct message_record {
  session_id session{};
  run_id run{};
  std::uint32_t step = 0;  ///< 0: the run's task
  message_role role = message_role::user;
  std::string text{};
  std::string reasoning{};
  /// Calls of an assistant message in the model's order.
  std::vector<call_id> calls{};
  turn_state state{};   ///< goes back, with the message, to who made it
  bool paused = false;  ///< its provider wants to go on with it
  /// What a user's message shows; the session keeps their bytes.
  std::vector<attachment> attachments = {};

  bool operator==(const message_record&) const = default;
};

/// The life of a call as recovery sees it.
enum class call_stage : std::uint8_t {
  waiting,  ///< known; has not begun
  intent,   ///< mutating: committed before the worker gets it; may have run
  running,  ///< read-only: began
  settled,
};

std::string_view to_string(call_stage x) noexcept;

/// One attempt of a call.
struct attempt_record {
  std::uint32_t number = 1;
  wall_time began{};
  std::optional<wall_time> ended{};  ///< nothing: it is under way
  /// Why it gave no result, if it ended without one.
  std::string lost{};

  bool operator==(const attempt_record&) const = default;
};

struct call_record {
  tool_call call{};
  run_id run{};
  call_stage stage = call_stage::waiting;
  std::uint32_t attempt = 0;  ///< attempts begun
  bool announced = false;     ///< its `tool_call` event is in the log
  /// Whether it was approved; nothing: not decided, or nobody was asked.
  std::optional<bool> approved{};
  std::string decision_reason{};
  outcome how = outcome::ok;  ///< once settled
  std::string told{};         ///< what the model is told, cut to its limit
  std::optional<error> err{};
  std::vector<attempt_record> attempts{};  ///< those that began, in order
  /// What the model is shown with `told`; the session keeps their bytes.
  std::vector<attachment> attachments = {};

  bool operator==(const call_record&) const = default;
};

/// The whole output of a call.
struct output_record {
  call_id id{};
  std::string text{};

  bool operator==(const output_record&) const = default;
};

/// The bytes of attachments: a session has them once for each digest.
struct file_record {
  session_id session{};
  std::string digest{};
  attachment_bytes bytes{};  ///< never null

  bool operator==(const file_record&) const = default;
};

/// A value that a session keeps (tools/session_state.hpp has the limits).
struct state_value {
  session_id session{};
  std::string key{};
  std::string value{};  ///< JSON; empty: the key goes

  bool operator==(const state_value&) const = default;
};

/// A proposal is added once; of several decisions about one the first stays.
using state_change =
    std::variant<run_record, message_record, call_record, output_record,
                 proposal_record, decision_record, state_value, file_record>;

/// What is stored together.
struct commit_unit {
  run_id run{};
  std::optional<event_block> block{};
  std::vector<state_change> changes{};
};

/// All that is known of a session: its conversation and what runs need.
struct session_snapshot {
  session_id session{};
  std::vector<run_record> runs{};              ///< by ordinal
  std::vector<message_record> messages{};      ///< in order of arrival
  std::vector<call_record> calls{};            ///< in order of arrival
  std::vector<proposal_state> proposals{};     ///< in order of arrival
  std::map<std::string, std::string> state{};  ///< key -> JSON
};

using kept_files = std::map<std::string, attachment_bytes>;  ///< by digest

/// A run together with its session and the end of its log.
struct run_snapshot {
  run_record run{};
  std::uint64_t last_seq = 0;  ///< 0: no event yet
  session_snapshot session{};
  kept_files files = {};  ///< all of the session
  /// Of one that was adopted: its process let go of it in order, and did not
  /// die in the middle of it (see `journal::leave_runs`).
  bool left = false;
};

/// Who works on a run that has not ended.
enum class run_owner : std::uint8_t {
  here,       ///< this journal's process
  elsewhere,  ///< another process, which lives
  gone,       ///< nobody: it can be resumed
};

std::string_view to_string(run_owner x) noexcept;

/// A run that has not ended.
struct unfinished_run {
  run_record run{};
  run_owner owner = run_owner::gone;
  std::string owner_name{};  ///< for people, e.g. "process 4711"
  /// It is suspended in this process since a write of it failed: why.
  std::optional<error> suspended{};
};

/// What another process asks of the owner of a run.
struct cancel_request {
  run_id run{};
  std::string reason{};

  bool operator==(const cancel_request&) const = default;
};

/// What came of it.
enum class cancel_verdict : std::uint8_t {
  unknown,   ///< there is no such run
  finished,  ///< it has ended; nothing changed
  here,      ///< this process owns it: nothing is stored, cancel it yourself
  asked,     ///< its owner lives and finds the request (`cancels`)
  gone,      ///< its owner is gone: whoever adopts it finds the request
};

/// Event lines of a run in order: a contiguous piece of its log.
struct event_page {
  std::vector<event_block>
      blocks{};      ///< cut at the front to what was asked for
  bool end = false;  ///< there was nothing behind it when it was read
};

/// A place in the order of all runs' events: that in which they were committed,
/// those of one commit by run. It stays, whatever is stored, moved or deleted.
struct feed_place {
  std::uint64_t commit = 0;
  std::uint64_t run = 0;  ///< number of the run
  std::uint64_t seq = 0;  ///< of the event

  auto operator<=>(const feed_place&) const = default;
};

/// Events of a run that one commit brought.
struct feed_entry {
  feed_place first{};
  run_id run{};
  event_block block{};
};

/// Entries in order.
struct feed_page {
  std::vector<feed_entry> entries{};
  feed_place next{};  ///< where the next page begins
  bool end = false;   ///< there was nothing behind it when it was read
};

/// Which runs a list has.
struct run_filter {
  std::optional<run_state> state{};
  std::optional<session_id> session{};
  std::optional<std::uint64_t> ordinal{};  ///< of the session, from 1
  std::optional<run_id> before{};          ///< those that began before this one
  std::size_t limit = 100;
};

}  // namespace riffle::storage
