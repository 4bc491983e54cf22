// SPDX-License-Identifier: MIT
#pragma once

// The durable log and the state beside it. One writer for all runs of the
// process; what one commit unit holds is stored together or not at all, and
// units of one run are stored in the order of their `append`.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

using completion = std::function<void(std::optional<error>)>;

/// The logs of runs and who writes them. Thread-safe.
class event_log {
 public:
  virtual ~event_log() = default;

  /// Stores a unit; returns at once. `done` is called exactly once, on any
  /// thread, maybe before `append` returned: without an error after the
  /// commit, else with `storage_unavailable` or `storage_corrupt`. No log has
  /// gaps: after `storage_unavailable` every later unit of this run fails with
  /// it until the run was adopted again; other runs go on as soon as a write
  /// succeeds. A unit that contradicts what is stored of its run fails with
  /// `storage_corrupt`, and so does every later one of the run until it was
  /// adopted again. If what is stored contradicts itself, every later unit of
  /// the process fails with it.
  virtual void append(commit_unit unit, completion done) = 0;

  /// True: every `done` is called before its `append` returns, so a caller
  /// need not be told of it by other means.
  [[nodiscard]] virtual bool acknowledges_at_once() const noexcept {
    return false;
  }

  /// From now on completions of one commit are called within `f`, which calls
  /// its argument once, on the same thread: so the writer's thread can run what
  /// they wake. What they call blocks for nobody else: a call that waits until
  /// it is stored is executed in its place. Empty: as before.
  virtual void complete_within(
      std::function<void(const std::function<void()>&)> f) {
    static_cast<void>(f);
  }

  /// Starts a run: creates the session if it is new, gives the ordinal, and
  /// makes this process the run's owner, in one commit. Fails with
  /// `session_busy` (naming run and owner) while the session has an active
  /// run. A run with a `cause` executes that proposal, which is noted in the
  /// same commit: `invalid_request` if it is not approved or was executed.
  /// `files`: of the run's task, stored with it. Blocks until it is stored.
  virtual expected<run_snapshot> open_run(run_record run,
                                          std::vector<file_record> files) = 0;
  expected<run_snapshot> open_run(run_record run) {
    return open_run(std::move(run), {});
  }

  /// Takes over an active run whose owner is gone (or is this process), after
  /// all units appended before; one that was suspended goes on. Fails with
  /// `not_found`, `session_busy` (the owner lives), `invalid_request` (the run
  /// has finished) or `storage_corrupt`. Blocks.
  virtual expected<run_snapshot> adopt_run(const run_id& id) = 0;

  /// Who works on a run; `not_found`. Of a run that has ended: who did.
  virtual expected<run_owner> owner_of_run(const run_id& id) = 0;

  /// Lets go of an active run that is this process's and that nobody here
  /// works on: from now on its owner is gone, so that any process can adopt
  /// it. Of other runs: nothing. Blocks until it is stored.
  virtual expected<void> disown_run(const run_id& id) = 0;

  /// Lines after `after_seq`: at least one block unless at the end, about
  /// `max_bytes` at most. One read transaction for each page. Only committed
  /// lines.
  virtual expected<event_page> read_events(const run_id& run,
                                           std::uint64_t after_seq,
                                           std::size_t max_bytes) = 0;
};

/// What is on record of conversations. Thread-safe.
class session_records {
 public:
  virtual ~session_records() = default;

  virtual expected<session_snapshot> load_session(const session_id& id) = 0;

  /// The run's record; `not_found`.
  virtual expected<run_record> load_run(const run_id& id) = 0;

  /// Newest first, at most `limit`.
  virtual expected<std::vector<session_id>> list_sessions(
      std::size_t limit) = 0;

  /// Runs that have not ended, newest first, at most `limit`. Cheap: costs
  /// what there is to tell, not what is stored. For a moment after a process
  /// was killed while it started a child, its runs still count as elsewhere's.
  virtual expected<std::vector<unfinished_run>> unfinished_runs(
      std::size_t limit) = 0;

  virtual expected<std::string> load_output(const call_id& id) = 0;

  /// Sets a value of a session, also of one that has no run yet. While a run
  /// is active its calls alone set values: `session_busy`. Blocks until it is
  /// stored.
  virtual expected<void> set_state(const state_value& x) = 0;

  /// The values of a session; none if there is none.
  virtual expected<std::map<std::string, std::string>> load_state(
      const session_id& id) = 0;

  /// Deletes a session with its runs, their logs, outputs, files, proposals and
  /// values. Fails with `not_found`, and with `session_busy` while it has an
  /// active run whose owner lives. Blocks until it is stored.
  virtual expected<void> delete_session(const session_id& id) = 0;
};

/// What persons are asked, and what they decided. Thread-safe.
class proposal_records {
 public:
  virtual ~proposal_records() = default;

  /// Decides about a proposal, also of another process's run: that one finds
  /// it by `decisions_of`. See `judge`. Blocks until it is stored.
  virtual expected<decision_answer> decide(decision_record x,
                                           const std::string& digest) = 0;

  /// Newest first.
  virtual expected<std::vector<proposal_state>> list_proposals(
      const proposal_filter& filter) = 0;

  /// The decisions about these proposals, as far as there are any.
  virtual expected<std::vector<decision_record>> decisions_of(
      const std::vector<proposal_id>& ids) = 0;

  /// What was approved once and for all, oldest first; of one session, or of
  /// all. `decide` adds them.
  virtual expected<std::vector<grant_record>> grants(
      const std::optional<session_id>& of) = 0;

  /// Takes one back, for every process at once; false: there is none. Blocks
  /// until it is stored.
  virtual expected<bool> revoke(const proposal_id& grant) = 0;
};

/// What processes ask of the runs of others. Thread-safe.
class command_records {
 public:
  virtual ~command_records() = default;

  /// Asks the owner of a run to cancel it; the first request stays, until the
  /// run has ended. Blocks until it is stored.
  virtual expected<cancel_verdict> ask_cancel(const run_id& run,
                                              const std::string& reason) = 0;

  /// What others asked of the active runs of this process. Cheap.
  virtual expected<std::vector<cancel_request>> cancels() = 0;
};

/// All of it, in one store. Thread-safe.
class journal : public event_log,
                public session_records,
                public proposal_records,
                public command_records {};

/// How long a commit lasts: "process" survives kill -9, "disk" power loss.
enum class durability : std::uint8_t { process, disk };

/// Opens (or creates) `data_dir/riffle.db` and holds a lock that tells other
/// processes that this one lives. Errors name the file.
expected<std::unique_ptr<journal>> open_sqlite_journal(
    const std::filesystem::path& data_dir, durability mode);

/// The twin in memory: `append` acknowledges at once.
std::unique_ptr<journal> make_memory_journal();

}  // namespace riffle::storage
