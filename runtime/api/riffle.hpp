// SPDX-License-Identifier: MIT
#pragma once

// The public face of the library: start a runtime, give it tools, run tasks,
// read their events. All classes are handles, cheap to move; thread-safe
// unless a member says otherwise. Handles may outlive their runtime: then
// `cancel` does nothing, and a stream ends where the log ends (it keeps the
// journal open). Durations are std::chrono's; nothing throws but allocation.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"
#include "runtime/api/make_tool.hpp"
#include "runtime/api/runtime_options.hpp"
#include "runtime/api/version.hpp"
#include "runtime/api/worker_main.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/requests.hpp"
#include "runtime/storage/journal.hpp"
#include "tools/tool.hpp"

namespace riffle {

/// One event, as a view into shared lines; valid while its batch lives.
class event_view {
 public:
  event_view(std::uint64_t seq, std::string_view line) noexcept
      : seq_{seq}, line_{line} {}

  [[nodiscard]] std::uint64_t seq() const noexcept { return seq_; }
  /// Its `event_type`.
  [[nodiscard]] std::string_view type() const noexcept;
  /// The line as it stands in the log, without its '\n'.
  [[nodiscard]] std::string_view line() const noexcept { return line_; }
  /// `content` of an llm_token or llm_reasoning; empty for others. Uses
  /// `buffer` only if the text holds escapes.
  [[nodiscard]] std::string_view text(std::string& buffer) const;
  /// The whole event as a value.
  [[nodiscard]] expected<event> parse() const;

 private:
  std::uint64_t seq_;
  std::string_view line_;
};

/// A contiguous piece of a run's log.
class event_batch {
 public:
  event_batch(std::shared_ptr<const run_id> run, storage::event_block block)
      : run_{std::move(run)}, block_{std::move(block)} {}

  [[nodiscard]] const run_id& run() const noexcept { return *run_; }
  [[nodiscard]] std::uint64_t first_seq() const noexcept {
    return block_.first_seq;
  }
  [[nodiscard]] std::uint64_t last_seq() const noexcept {
    return block_.last_seq;
  }
  /// The lines as they stand in the log.
  [[nodiscard]] std::string_view lines() const noexcept {
    return *block_.lines;
  }
  /// Calls `f(event_view)` for each event in order.
  template <class F>
  void for_each(F f) const {
    auto seq = block_.first_seq;
    std::string_view rest = *block_.lines;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      f(event_view{seq++, rest.substr(0, end)});
      rest.remove_prefix(end + 1);
    }
  }

  /// A piece of it.
  [[nodiscard]] event_batch piece(storage::event_block block) const {
    return {run_, std::move(block)};
  }

 private:
  std::shared_ptr<const run_id> run_;
  storage::event_block block_;
};

/// Receives the batches of a run in order, on a thread of the runtime, one
/// call at a time for each run; the last event of the last batch is
/// run_finished, and the handler is released after it. The run waits while it
/// is called, and maybe others do: return soon, use `event_stream` for what
/// takes long. It may call `run::cancel`; what waits (`start`, `resume`,
/// `execute`, `run::wait`) fails in it with `invalid_request`. One that throws
/// is logged and not called again; the run goes on. No call begins after the
/// runtime's destructor has returned.
using event_handler = std::function<void(const event_batch&)>;

/// A proposal with its decision, if there is one.
using proposal = storage::proposal_state;
/// What was approved once and for all.
using storage::grant_record;
/// A run that has not ended: its record (id, session, task, since when) and
/// whether its owner lives.
using storage::proposal_filter;
using storage::run_owner;
using storage::unfinished_run;
/// What came of asking for a run's end.
using storage::cancel_verdict;
/// Many tasks at once: runtime/api/volley.hpp
class volley;
/// What is on record of conversations.
using storage::run_record;
using storage::session_snapshot;

/// Reads a run's log: first what is stored, then live. Pulls pages from the
/// journal when it is slower than the run, so it costs nobody memory. One
/// reader thread at a time.
class event_stream {
 public:
  struct state;
  explicit event_stream(std::shared_ptr<state> impl);
  ~event_stream();
  event_stream(event_stream&&) noexcept;
  event_stream& operator=(event_stream&&) noexcept;

  /// The next batch, waiting up to `limit` for it. Nothing: no event in that
  /// time, or the end (see `ended`), or the log cannot be read (`failure`).
  std::optional<event_batch> next(duration limit);
  /// Nothing more will come: run_finished was handed out, or reading failed,
  /// or the run is not active here and its log has no end yet.
  [[nodiscard]] bool ended() const noexcept;
  /// Why the log cannot be read.
  [[nodiscard]] std::optional<error> failure() const;

 private:
  std::shared_ptr<state> impl_;
};

/// How a run ended.
struct run_outcome {
  run_id run{};          ///< for `runtime::events`
  session_id session{};  ///< to go on with the conversation
  events::run_status status = events::run_status::failed;
  std::string answer{};            ///< of a completed run
  bool truncated = false;          ///< the provider cut the answer off
  std::optional<error> failure{};  ///< of a failed or cancelled one
  std::uint32_t steps = 0;
  std::uint32_t tool_calls = 0;
  token_usage usage{};
  std::uint64_t duration_ms = 0;
};

class runtime;

/// A started run. Dropping the handle does not stop it.
class run {
 public:
  [[nodiscard]] const run_id& id() const noexcept { return id_; }
  [[nodiscard]] const session_id& session() const noexcept { return session_; }

  /// Its events after `after_seq`.
  [[nodiscard]] event_stream events(std::uint64_t after_seq = 0) const;
  /// Those of another run of the same runtime, e.g. of a plan's step. One that
  /// has not begun ends with `not_found`.
  [[nodiscard]] event_stream events_of(const run_id& other,
                                       std::uint64_t after_seq = 0) const;
  /// Asks it to end and returns at once; it settles its calls and ends as
  /// `cancelled`. Calling it again, or after the end, does nothing.
  void cancel(std::string reason = "cancelled by the user") const;
  /// Ends one call (the `id` of its `tool_call` event) and returns at once: it
  /// settles as `cancelled`, the model is told, and the run goes on. Does
  /// nothing for a call that is settled or not of this run.
  void cancel_call(const call_id& call) const;
  /// Says something to the model while the run works: the request of its next
  /// step has it, and a `user_message` event tells so. A run that ends without
  /// a further request has never heard it: who waits for the event in vain
  /// starts a run of the session with it. Blocks for a moment. Fails with
  /// `invalid_request`: nothing but blanks, more than `service::most_told`
  /// bytes, more in all than a quarter of the model's window, a run that has
  /// not begun, ends, or asks no model; `cancelled`: the runtime has ended.
  expected<void> tell(std::string text) const;
  /// Waits for its end; `timeout` if it did not come in time. Other errors
  /// (`storage_unavailable`, …) say that it cannot go on in this process.
  [[nodiscard]] expected<run_outcome> wait(duration limit) const;

  using end_handler = std::function<void(const expected<run_outcome>&)>;
  /// The same without a thread that waits: called once, as soon as the run has
  /// ended, on a thread of the runtime, or at once in this call if it has. Must
  /// not block and must not throw. The last one that is set counts; it stays
  /// when the handle is dropped.
  void on_end(end_handler done) const;

 private:
  friend class runtime;
  struct impl;
  run() = default;
  std::shared_ptr<impl> impl_;
  run_id id_;
  session_id session_;
};

/// What came of a decision. The first decision about a proposal wins, from
/// whatever process.
struct decided {
  /// accepted: it holds; too_late: another one holds, see `now`; stale: made
  /// for other arguments, or what they act on has changed since they were shown
  /// (see `decision::basis`), nothing changed; unknown: no such proposal.
  decision_verdict verdict = decision_verdict::unknown;
  std::optional<proposal> now{};  ///< as it stands; nothing: unknown
  /// An approved call that its run did not wait for (`approvals.mode` =
  /// "propose") is executed by a new run of the session, once. This is it.
  std::optional<run> started{};
  /// It will be started when the session's active run has ended, by this
  /// runtime, which tries as long as it lives and what is in the way may pass
  /// (`max_runs`, a journal that takes nothing). Behind that decide again: then
  /// it is too late to change the decision, but what is approved is started.
  bool queued = false;
};

/// A process's runtime: actor system, journal, model transport, tools. Several
/// may live in one process, each with a data folder of its own.
///
/// A program whose agents use `bash` (or another tool that starts programs)
/// calls `worker_main(argc, argv)` first in its `main`: commands
/// run under a guard, which is the same program started once more. Without
/// that call, such an agent's runs fail with `invalid_config`.
///
/// The destructor cancels what still runs and waits up to 5 s for it, and as
/// long for tools that do not end. In a handler it returns at once, and this
/// happens on a thread of its own.
class runtime {
 public:
  /// Fails with `invalid_config` (also: a tool's schema or name is wrong, an
  /// agent names a tool that there is not) or `storage_unavailable`.
  static expected<runtime> create(config::config config,
                                  runtime_options options = {});
  ~runtime();
  runtime(runtime&&) noexcept;
  runtime& operator=(runtime&&) noexcept;

  /// Runs a task and blocks until its end; `start` and `wait` in one. A run
  /// that ended is an outcome, also when it failed or was cancelled; errors are
  /// those of `start` and `run::wait`, except `timeout`: it waits as long as
  /// the run lasts (see `run_request::timeout` and `stop`).
  [[nodiscard]] expected<run_outcome> execute(run_request request,
                                              event_handler on_events = {});

  /// Starts a run; the answer comes once it is stored. Fails with
  /// `session_busy`, `not_found` (agent), `invalid_request` (no task, called
  /// in a handler), `invalid_config` (no key, no script, no guard),
  /// `storage_unavailable`. `on_events`, if set, gets all its events.
  [[nodiscard]] expected<run> start(run_request request,
                                    event_handler on_events = {});

  /// Executes a plan: a run whose log is the plan's; what its
  /// steps say is read by runtime/api/plans.hpp. Its `run_outcome` has the
  /// plan's answer. Fails as `start`, and with `invalid_plan` (all mistakes)
  /// and `agent_not_streaming`. `resume` finishes it, `cancel` ends it.
  [[nodiscard]] expected<run> start_plan(plan_request request,
                                         event_handler on_events = {});

  /// Finishes an active run whose owner is gone. Fails with `not_found`,
  /// `session_busy` (the owner lives), `invalid_request` (the run has
  /// finished, or works in another folder than this process), or as `start`.
  /// `on_events` gets all its events, from the first.
  [[nodiscard]] expected<run> resume(const run_id& id,
                                     event_handler on_events = {},
                                     resume_options options = {});

  /// Goes on with a plan that was cancelled, as a new one: its steps that ended
  /// count as they are, the one that was cut and those behind it are run. A
  /// plan has one such at most, of which `resume` and this function take care
  /// as of any other. Fails with `not_found` (the plan, or what its steps
  /// said), `invalid_request` (it was not cancelled, or somebody goes on with
  /// it already), or as `resume`.
  [[nodiscard]] expected<run> go_on_from(const run_id& plan,
                                         event_handler on_events = {},
                                         resume_options options = {});

  /// Starts a volley: several tasks, each a run, so many at once as it has
  /// workers. On record when this returns. Fails with `invalid_request` (no
  /// task, an empty one), `storage_unavailable`; what keeps a run from starting
  /// is its task's `failure`.
  [[nodiscard]] expected<volley> start_volley(volley_request request);
  /// Finishes one that no process works on: what has ended is not run again,
  /// what was cut off goes on, the rest begins. Fails with `not_found`,
  /// `session_busy`, `invalid_request` (it works in another folder).
  [[nodiscard]] expected<volley> resume_volley(const std::string& id,
                                               resume_options options = {});

  /// Runs that have not ended, of all processes with this data folder, newest
  /// first, at most `limit`: `resume` finishes those whose owner is gone.
  /// Cheap, however much is stored.
  [[nodiscard]] expected<std::vector<unfinished_run>> unfinished(
      std::size_t limit = 100);

  /// Ends a run of any process with this data folder, as `cancelled`; blocks
  /// until that is stored, not until it has ended. `here`: it is under way in
  /// this runtime and settles; `asked`: its owner, another process, does so
  /// within 250 ms; `gone`: its owner is gone, so this runtime has adopted it
  /// to settle its calls and end it. Fails with `storage_unavailable`, and for
  /// `gone` as `resume`: then whoever resumes it ends it.
  [[nodiscard]] expected<cancel_verdict> cancel(
      const run_id& id, std::string reason = "cancelled by the user");

  /// The small values that a session keeps for its tools
  /// (`tools::tool_context::state`) and for applications.
  [[nodiscard]] expected<std::map<std::string, nlohmann::json>> state(
      const session_id& id);
  /// Sets one, also before the session's first run; null removes it. Fails
  /// with `session_busy` while a run is active, `invalid_request` over a limit
  /// (tools/session_state.hpp), `storage_unavailable`.
  [[nodiscard]] expected<void> set_state(const session_id& id,
                                         const std::string& key,
                                         const nlohmann::json& value);
  /// Removes all of them; the session's title, messages, plan, phase and events
  /// stay. Fails as `set_state`; then some may be gone.
  [[nodiscard]] expected<void> reset_state(const session_id& id);

  /// Decides about a proposal of any session, also while another process runs
  /// it: that one acts on it within 250 ms. Blocks until it is stored. May be
  /// called in a handler (then a new run is `queued`). Fails with
  /// `invalid_request` (arguments with a denial, or for a proposal that is no
  /// tool call; further calls that cannot be approved; an approval that starts
  /// a run, in another folder than the one where it was proposed),
  /// `invalid_arguments` and `approval_denied` (the arguments are
  /// not valid, or a rule denies them: the proposal stays open),
  /// `storage_unavailable`; for a new run as `start`.
  [[nodiscard]] expected<decided> decide(const proposal_id& id, decision x);

  /// What a proposal's call would do with other arguments (a JSON object), for
  /// a person who changes them: see `decision::basis`. Nothing is decided.
  /// Blocks: it reads files, and may ask the tool. Fails with `not_found`, and
  /// as `decide` does of arguments that cannot be approved.
  [[nodiscard]] expected<changed_call_view> preview_change(
      const proposal_id& id, std::string arguments);

  /// What was approved once and for all, oldest first: of a session, or all.
  [[nodiscard]] expected<std::vector<grant_record>> grants(
      const std::optional<session_id>& of = {});
  /// Takes one back, for all processes at once: the next call that it covered
  /// is asked for. False: there is none.
  [[nodiscard]] expected<bool> revoke(const proposal_id& grant);

  /// The prompts of the servers in [mcp], which are started if they are not;
  /// `problems` gets a line for each that does not answer. Blocks till a stop.
  [[nodiscard]] std::vector<server_prompt> prompts(
      std::vector<std::string>& problems, const std::stop_token& stop = {});
  /// The text of one, a task for a run. `words`: one for each of its arguments,
  /// the last one takes the rest. Blocks; fails with `not_found`, `cancelled`,
  /// `invalid_arguments`, `tool_unavailable`, `tool_execution_error`.
  [[nodiscard]] expected<std::string> prompt(const std::string& name,
                                             const std::string& words = {},
                                             const std::stop_token& stop = {});

  /// Proposals, newest first. Those whose time is over count as decided.
  [[nodiscard]] expected<std::vector<proposal>> proposals(
      const proposal_filter& filter = {});

  /// The committed log of any run, live or not, after `after_seq`. Fails with
  /// `not_found`.
  [[nodiscard]] expected<event_stream> events(const run_id& id,
                                              std::uint64_t after_seq = 0);

  /// Sessions, those used last first, at most `limit`.
  [[nodiscard]] expected<std::vector<session_summary>> sessions(
      std::size_t limit = 100);
  /// Those of the 10,000 used last whose title or id has all these words.
  [[nodiscard]] expected<std::vector<session_summary>> find_sessions(
      const std::string& words);
  /// All that is known of a session. Fails with `not_found`.
  [[nodiscard]] expected<session_snapshot> session(const session_id& id);
  /// What its calls of `write` and `edit` did to files, in their order.
  [[nodiscard]] expected<session_changes> file_changes(
      const session_snapshot& of);
  /// A run's record. Fails with `not_found`.
  [[nodiscard]] expected<run_record> find_run(const run_id& id);
  /// The whole output of a call, in a file if it is long. Fails with
  /// `not_found`.
  [[nodiscard]] expected<kept_output> output(const call_id& id);
  /// Deletes a session with all that belongs to it, files too; its number of
  /// runs. Fails with `not_found`, and with `session_busy` while a run of it
  /// is active whose owner lives.
  [[nodiscard]] expected<std::size_t> delete_session(const session_id& id);

 private:
  struct impl;
  explicit runtime(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

}  // namespace riffle
