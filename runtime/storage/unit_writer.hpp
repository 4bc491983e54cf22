// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/storage/block_rows.hpp"
#include "runtime/storage/commit_log.hpp"
#include "runtime/storage/file_rows.hpp"
#include "runtime/storage/grant_rows.hpp"
#include "runtime/storage/log_mover.hpp"
#include "runtime/storage/proposal_rows.hpp"
#include "runtime/storage/row_reader.hpp"
#include "runtime/storage/rows.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// Writes units over the one writing connection, each within a transaction
/// that the caller opens and commits. Keeps what it needs of the runs that it
/// writes (a place for each call; dropped when the run ends). Throws
/// `sqlite::failure` and `damaged`.
class unit_writer {
 public:
  /// `owner`: the mark of this process; only its own runs are written.
  unit_writer(sqlite::database& db, std::string owner);

  /// Why the unit must not be stored, or nothing. Throws `damaged` if what is
  /// stored of its run contradicts itself.
  std::optional<std::string> find_fault(const commit_unit& unit);
  /// Stores a unit that has no fault; it must live until `flush`.
  void apply(const commit_unit& unit);
  /// Before the commit: stores the lines, the calls and the heads of all runs.
  void flush();
  /// After the commit: forgets the runs that ended.
  void settle();
  /// After a rollback: forgets what was not stored.
  void forget();

  /// Adds a new run, in the state that the record says.
  void insert_run(const run_record& run);
  /// What else is known of a session that is deleted.
  struct removal {
    /// Calls of runs that have ended, and are whole.
    std::map<std::string, std::set<std::string>> calls{};
    std::vector<lost_run> lost{};
  };
  /// Deletes a session whose runs, also damaged ones, these are
  /// (`row_reader::raw_runs_of`), with all that belongs to it. Nobody works on
  /// them.
  void remove(const session_id& id, const std::vector<run_row>& runs,
              const removal& known);
  /// How much the log of commits holds, as of the last `flush`.
  [[nodiscard]] const log_writer& log() const noexcept { return log_; }
  /// Moves what the log of commits holds into rows of the runs.
  void move_log() { move_log({}); }
  /// Moves it if it is damaged: what is lost in it is settled then, and what
  /// begins is not in doubt.
  void mend_log();
  /// What damage to the log has cost, once; nothing: none that is not told.
  std::optional<std::string> take_loss() { return std::exchange(loss_, {}); }
  /// Makes this process the owner.
  void take(run_row run);
  /// Makes nobody the owner.
  void give_up(run_row run);
  /// The same, in order: see `left_in_order`.
  void leave(run_row run);

  row_reader& reader() noexcept { return reader_; }
  proposal_writer& proposals() noexcept { return proposals_; }
  grant_writer& grants() noexcept { return grants_; }
  state_writer& state() noexcept { return state_; }
  file_writer& files() noexcept { return files_; }
  [[nodiscard]] const std::string& owner() const noexcept { return owner_; }

 private:
  /// Lines that wait for the end of the commit.
  struct waiting_lines {
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
    std::shared_ptr<const std::string> lines;
  };
  /// A run that is written.
  struct known_run {
    run_row row;
    head_row head;
    std::unordered_map<std::string, std::uint64_t> calls;
    /// Of this commit, the newest of each call, by its place: what begins and
    /// ends in one commit is written once.
    std::map<std::uint64_t, const call_record*> changed{};
    std::vector<waiting_lines> waiting;
    std::size_t bytes = 0;  ///< that wait
    bool dirty = false;
  };

  std::optional<std::string> add_known(const run_id& id);
  void set_owner(run_row run, std::string owner);
  void move_log(const std::set<std::int64_t>& dropped);
  log_mover::heads own_heads() const;
  void remove_rows(const run_row& run, const std::set<std::string>& calls,
                   bool is_damaged);
  void remove_parts(std::int64_t n);
  void remove_lost(const lost_run& x);
  void flush(const known_run& run);
  void write_own_rows(const known_run& run);
  void write_calls(const known_run& run);
  void update(known_run& run, const run_record& x);
  void update(known_run& run, const message_record& x);
  void update(known_run& run, const call_record& x);
  void update(known_run& run, const output_record& x);
  void update(known_run& run, const proposal_record& x);
  void update(known_run& run, const decision_record& x);
  void update(known_run& run, const state_value& x);
  void update(known_run& run, const file_record& x);

  std::string owner_;
  row_reader reader_;
  proposal_writer proposals_;
  grant_writer grants_;
  state_writer state_;
  file_writer files_;
  block_writer blocks_;
  log_writer log_;
  log_mover mover_;
  std::optional<std::string> loss_;
  std::unordered_map<std::string, known_run> runs_;
  std::vector<known_run*> dirty_;
  std::string joined_;  ///< lines of a run, while it is written

  sqlite::statement insert_run_;
  sqlite::statement update_run_;
  sqlite::statement last_run_;
  sqlite::statement insert_message_;
  sqlite::statement put_call_;
  sqlite::statement put_output_;
  sqlite::statement delete_run_;
  sqlite::statement delete_messages_;
  sqlite::statement delete_calls_;
  sqlite::statement delete_output_;
};

}  // namespace riffle::storage
