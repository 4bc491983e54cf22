// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "messages/time.hpp"
#include "runtime/base/timer.hpp"
#include "runtime/storage/journal.hpp"
#include "runtime/storage/memory_store.hpp"
#include "runtime/storage/suspended_runs.hpp"

namespace riffle::testing {

/// The journal's twin for tests: units wait until they are released, in the
/// order of their `append` for each run and in any order between runs (all
/// that the port promises). A unit becomes visible when it is released; then
/// its completion is called, on the releasing thread, without a lock held.
/// Thread-safe. Must be held by a shared_ptr if it has a timer.
class test_journal : public storage::journal,
                     public std::enable_shared_from_this<test_journal> {
 public:
  struct options {
    std::uint64_t seed = 1;
    duration min_delay = std::chrono::milliseconds{1};
    duration max_delay = std::chrono::milliseconds{20};
    /// Releases by itself when a delay is over; must outlive the journal's
    /// last use. Null: by hand.
    riffle::timer* timer = nullptr;
  };

  test_journal() : test_journal{options{}} {}
  explicit test_journal(options how)
      : test_journal{how, storage::memory_store{}} {}

  // The port. `adopt_run` releases what waits; `open_run` does not.
  void append(storage::commit_unit unit, storage::completion done) override;
  using storage::journal::open_run;
  expected<storage::run_snapshot> open_run(
      storage::run_record run,
      std::vector<storage::file_record> files) override;
  expected<storage::run_snapshot> adopt_run(const run_id& id) override;
  expected<storage::run_owner> owner_of_run(const run_id& id) override;
  expected<void> disown_run(const run_id& id) override;
  expected<storage::session_snapshot> load_session(
      const session_id& id) override;
  expected<storage::run_record> load_run(const run_id& id) override;
  expected<std::vector<session_id>> list_sessions(std::size_t limit) override;
  expected<storage::feed_page> read_feed(const storage::feed_place& after,
                                         std::size_t max_bytes) override;
  expected<storage::feed_place> end_of_feed() override;
  expected<storage::feed_place> start_in_feed(const run_id& run) override;
  expected<std::vector<storage::run_record>> list_runs(
      const storage::run_filter& filter) override;
  expected<std::vector<storage::unfinished_run>> unfinished_runs(
      std::size_t limit) override;
  expected<storage::event_page> read_events(const run_id& run,
                                            std::uint64_t after_seq,
                                            std::size_t max_bytes) override;
  expected<std::string> load_output(const call_id& id) override;
  expected<storage::decision_answer> decide(storage::decision_record x,
                                            const std::string& digest) override;
  expected<std::vector<storage::proposal_state>> list_proposals(
      const storage::proposal_filter& filter) override;
  expected<std::vector<storage::decision_record>> decisions_of(
      const std::vector<proposal_id>& ids) override;
  expected<std::vector<storage::grant_record>> grants(
      const std::optional<session_id>& of) override;
  expected<bool> revoke(const proposal_id& grant) override;
  expected<storage::cancel_verdict> ask_cancel(
      const run_id& run, const std::string& reason) override;
  expected<std::vector<storage::cancel_request>> cancels() override;
  expected<void> set_state(const storage::state_value& x) override;
  expected<std::map<std::string, std::string>> load_state(
      const session_id& id) override;
  expected<void> delete_session(const session_id& id) override;

  /// Another process asks to cancel a run of this one.
  void ask_from_elsewhere(storage::cancel_request x);

  /// Units that wait.
  [[nodiscard]] std::size_t pending() const;
  /// Units appended so far.
  [[nodiscard]] std::size_t appended() const;
  /// Moves the journal's own clock and releases what is due.
  void advance(duration time);
  /// Releases the oldest unit of some run; false if none waits.
  bool release_one();
  /// Releases until none waits, also what completions append meanwhile, and
  /// waits for what another thread releases.
  void release_all();

  /// The `k`-th append (from 1, counted from the beginning) and all that is
  /// written after it fail with `storage_unavailable`.
  void fail_at(std::size_t k);
  /// The same from now on; false: there is room again.
  void fail_writes(bool on);

  /// The process is killed: what had been acknowledged is there, of what
  /// waited a random prefix for each run. Returns what the next process
  /// finds. This one is dead: its completions are never called.
  std::shared_ptr<test_journal> crash(std::uint64_t seed);

 private:
  struct waiting {
    storage::commit_unit unit;
    storage::completion done;
    duration due{};
    std::size_t number = 0;
  };

  test_journal(options how, storage::memory_store store)
      : options_{how}, random_{how.seed}, store_{std::move(store)} {}

  [[nodiscard]] std::optional<error> find_failure() const;
  bool release_front_of(const run_id& run);
  bool release_first(bool only_due);
  bool waits_for_another_thread() const;

  const options options_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  storage::memory_store store_;
  std::map<run_id, std::deque<waiting>> waiting_;
  /// Runs of which a unit is being completed, and by whom: the next one has
  /// to wait.
  std::map<run_id, std::thread::id> completing_;
  std::condition_variable completed_;
  duration now_{};
  std::size_t appended_ = 0;
  std::size_t fail_at_ = 0;
  std::optional<error> failure_;  ///< of every write
  storage::suspended_runs suspended_;
  std::vector<storage::cancel_request> cancels_;
  bool dead_ = false;
};

}  // namespace riffle::testing
