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
#include <utility>
#include <vector>

#include "runtime/storage/records.hpp"

namespace riffle::storage {

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

  /// The process ends as it was told to: lets go of all its active runs, and
  /// whoever adopts one of them is told so. Nobody works on them any more.
  /// Blocks until it is stored. Of a journal that ends with its process:
  /// nothing.
  virtual expected<void> leave_runs() { return {}; }

  /// Lines after `after_seq`: at least one block unless at the end, about
  /// `max_bytes` at most. One read transaction for each page. Only committed
  /// lines.
  virtual expected<event_page> read_events(const run_id& run,
                                           std::uint64_t after_seq,
                                           std::size_t max_bytes) = 0;

  /// Events of all runs behind a place: about `max_bytes` at most, one entry at
  /// least unless at the end. Those that were stored before version 7 of the
  /// file are not in this order, and left out.
  virtual expected<feed_page> read_feed(const feed_place& after,
                                        std::size_t max_bytes) = 0;
  /// Behind the last event of all.
  virtual expected<feed_place> end_of_feed() = 0;
  /// Before the first event of a run; `not_found`: it is not in the order.
  virtual expected<feed_place> start_in_feed(const run_id& run) = 0;
};

/// What is on record of conversations. Thread-safe.
class session_records {
 public:
  virtual ~session_records() = default;

  virtual expected<session_snapshot> load_session(const session_id& id) = 0;

  /// The run's record; `not_found`.
  virtual expected<run_record> load_run(const run_id& id) = 0;

  /// The one used last first: by the start of its last run. At most `limit`;
  /// costs what is passed over, runs of one session too.
  virtual expected<std::vector<session_id>> list_sessions(
      std::size_t limit) = 0;

  /// Newest first. Costs what is passed over: without `state` and `session`
  /// what there is to tell. Fails with `not_found` for an unknown `before`.
  virtual expected<std::vector<run_record>> list_runs(
      const run_filter& filter) = 0;

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
