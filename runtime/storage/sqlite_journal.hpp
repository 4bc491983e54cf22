// SPDX-License-Identifier: MIT
#pragma once

// The journal over SQLite. `journal.hpp` has the port; this header is for
// those who tune or test it.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/unique_fd.hpp"
#include "runtime/storage/checkpointer.hpp"
#include "runtime/storage/commit_queue.hpp"
#include "runtime/storage/file_records.hpp"
#include "runtime/storage/journal.hpp"
#include "runtime/storage/known_lost.hpp"
#include "runtime/storage/owner.hpp"
#include "runtime/storage/readable_session.hpp"
#include "runtime/storage/reader_pool.hpp"
#include "runtime/storage/suspended_runs.hpp"
#include "runtime/storage/told_losses.hpp"
#include "runtime/storage/unit_writer.hpp"
#include "runtime/storage/wal_check.hpp"

namespace riffle::storage {

struct sqlite_options {
  durability mode = durability::process;
  commit_queue::limits group;
  /// Longest wait for locks of other processes.
  std::chrono::milliseconds timeout{10'000};
  std::size_t readers = 4;
  /// Pages in the write-ahead log at which it is copied into the main file;
  /// at four times as many, writers wait for it.
  int checkpoint_pages = 4000;
  /// Longest wait for readers then, who may be in the middle of a page of
  /// events; behind it the log grows by half before anybody waits again.
  std::chrono::milliseconds checkpoint_wait{500};
  /// Bytes and rows in the log of commits at which it is moved into rows of
  /// the runs.
  std::uint64_t log_bytes = std::uint64_t{4} << 20;
  std::uint64_t log_rows = 10'000;
  /// Told what was lost or left out, e.g. by damage to the write-ahead log.
  /// Any thread; empty: the log, as a warning.
  std::function<void(const std::string&)> on_note;
};

class sqlite_journal final : public journal, public file_records {
 public:
  static expected<std::unique_ptr<sqlite_journal>> open(
      const std::filesystem::path& data_dir, sqlite_options options);

  /// Stores and completes what was appended, then frees the mark of life.
  ~sqlite_journal() override;

  void append(commit_unit unit, completion done) override;
  void complete_within(
      std::function<void(const std::function<void()>&)> f) override {
    queue_.complete_within(std::move(f));
  }
  using journal::open_run;
  expected<run_snapshot> open_run(run_record run,
                                  std::vector<file_record> files) override;
  expected<run_snapshot> adopt_run(const run_id& id) override;
  expected<run_owner> owner_of_run(const run_id& id) override;
  expected<void> disown_run(const run_id& id) override;
  expected<void> leave_runs() override;
  expected<session_snapshot> load_session(const session_id& id) override;
  expected<run_record> load_run(const run_id& id) override;
  expected<std::vector<session_id>> list_sessions(std::size_t limit) override;
  expected<std::vector<run_record>> list_runs(
      const run_filter& filter) override;
  expected<std::vector<unfinished_run>> unfinished_runs(
      std::size_t limit) override;
  expected<feed_page> read_feed(const feed_place& after,
                                std::size_t max_bytes) override;
  expected<feed_place> end_of_feed() override;
  expected<feed_place> start_in_feed(const run_id& run) override;
  expected<event_page> read_events(const run_id& run, std::uint64_t after_seq,
                                   std::size_t max_bytes) override;
  expected<std::string> load_output(const call_id& id) override;
  expected<kept_files> load_files(const session_id& id) override;
  expected<decision_answer> decide(decision_record x,
                                   const std::string& digest) override;
  expected<std::vector<proposal_state>> list_proposals(
      const proposal_filter& filter) override;
  expected<std::vector<decision_record>> decisions_of(
      const std::vector<proposal_id>& ids) override;
  expected<std::vector<grant_record>> grants(
      const std::optional<session_id>& of) override;
  expected<bool> revoke(const proposal_id& grant) override;
  expected<cancel_verdict> ask_cancel(const run_id& run,
                                      const std::string& reason) override;
  expected<std::vector<cancel_request>> cancels() override;
  expected<void> set_state(const state_value& x) override;
  expected<std::map<std::string, std::string>> load_state(
      const session_id& id) override;
  expected<void> delete_session(const session_id& id) override;
  /// See `load_readable`.
  expected<readable_session> load_readable(const session_id& id);

  [[nodiscard]] queue_counts counts() const { return queue_.counts(); }
  /// How often the write-ahead log was copied into the main file.
  [[nodiscard]] std::size_t checkpoints() const noexcept {
    return checkpoints_.count();
  }

  /// The writing connection; made before the object so that all errors of
  /// opening come from one place.
  struct write_connection {
    write_connection(const std::filesystem::path& file,
                     const sqlite_options& options, std::string owner);
    sqlite::database db;
    sqlite::transactions transactions;
    unit_writer units;
  };

  /// Use `open`.
  sqlite_journal(std::filesystem::path data_dir, sqlite_options options,
                 owner_lock owner,
                 std::unique_ptr<write_connection> connection);

 private:
  commit_queue::stored store(const std::vector<queued_unit>& group);
  std::optional<error> apply(const commit_unit& unit);
  /// Moves the log of commits if it is long, or if there is anything in it.
  void move_log(bool always);
  void note(const std::string& text) const;
  /// Names, once, the sessions of runs whose row is lost: no list has them.
  void tell_lost();
  /// Tells what damage was met by what is committed now; else forgets it.
  void note_loss(bool is_committed) const noexcept;
  /// Before anybody writes: what a damaged log costs is settled. Where even
  /// that fails, nothing is written.
  void mend_log();
  /// Of damaged rows, "N damaged `what`"; 0: nothing is said.
  void note_damaged(std::size_t count, const char* what) const;

  /// Calls `f` and turns its exceptions into errors of `op`.
  template <class F>
  auto guarded(const char* op, F f) -> decltype(f());
  /// Like `guarded`, on the queue's thread in a write transaction, which is
  /// committed unless `f` returns an error.
  template <class T, class F>
  expected<T> write(const char* op, F f);
  template <class T, class F>
  expected<T> write_mended(const char* op, F f);

  void check_log_is_whole();
  void check_files_are_there();
  expected<std::optional<run_snapshot>> open_in_transaction(
      run_record run, const std::vector<file_record>& files,
      run_snapshot* known);
  /// A run and its suspension, if it is suspended, as of a job of the queue.
  struct held_run {
    run_id run;
    std::uint64_t mark = 0;
  };
  held_run hold(const run_id& run) const;
  /// Once it is stored that they are not ours, or go on.
  void release(const std::vector<held_run>& all);
  struct adopted {
    run_row run;
    std::uint64_t held = 0;  ///< see `held_run`
    bool left = false;       ///< see `run_snapshot::left`
    bool is_new = false;     ///< it was nobody's
  };
  expected<adopted> adopt_in_transaction(const run_id& id);
  unit_writer::removal read_removal(row_reader& rows, const session_id& id);
  std::size_t read_what_is_left(row_reader& rows, readable_session& to);
  cancel_verdict ask_cancel_in_transaction(const run_id& run,
                                           const std::string& reason);
  expected<void> delete_in_transaction(const session_id& id,
                                       const unit_writer::removal* known,
                                       std::vector<held_run>& held);
  decision_answer decide_in_transaction(const decision_record& x,
                                        const std::string& digest);
  /// Notes that `run` executes its cause, or says why it must not.
  expected<void> take_cause(const run_record& run);
  [[nodiscard]] run_owner owner_of(const run_row& run) const;
  error busy(const run_row& run) const;

  const std::filesystem::path data_dir_;
  const std::filesystem::path file_;
  const sqlite_options options_;
  owner_lock owner_;  // freed last: after the database was closed
  std::unique_ptr<write_connection> writer_;
  checkpointer checkpoints_;
  suspended_runs suspended_;
  std::uint64_t next_move_ = 0;  ///< bytes in the log, after one that failed
  /// In the order of all runs what is left out was told up to here.
  told_losses told_losses_;
  std::atomic<std::size_t> told_decisions_ = 0;
  std::atomic<bool> reindexed_ = false;
  std::atomic<bool> told_lost_ = false;
  known_lost lost_;
  std::uint64_t file_inode_ = 0;  ///< 0: not seen yet, as of the log
  std::uint64_t log_inode_ = 0;
  unique_fd log_fd_;  ///< none before the first commit
  log_state log_{};   ///< as it was looked at last
  reader_pool readers_;
  commit_queue queue_;  // ends first: its thread uses all the others
};

}  // namespace riffle::storage
