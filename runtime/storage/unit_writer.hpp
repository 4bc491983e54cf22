// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/storage/grant_rows.hpp"
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
  /// Stores a unit that has no fault.
  void apply(const commit_unit& unit);
  /// Before the commit: stores what belongs to all units of a run.
  void flush();
  /// After the commit: forgets the runs that ended.
  void settle();
  /// After a rollback: forgets what was not stored.
  void forget();

  /// Adds a new run, in the state that the record says.
  void insert_run(const run_record& run);
  /// Deletes a run that has ended, with all that belongs to it.
  void remove(const run_row& run);
  /// Makes this process the owner.
  void take(run_row run);
  /// Makes nobody the owner.
  void give_up(run_row run);

  row_reader& reader() noexcept { return reader_; }
  proposal_writer& proposals() noexcept { return proposals_; }
  grant_writer& grants() noexcept { return grants_; }
  state_writer& state() noexcept { return state_; }
  [[nodiscard]] const std::string& owner() const noexcept { return owner_; }

 private:
  struct known_run {
    run_row row;
    head_row head;
    std::unordered_map<std::string, std::uint64_t> calls;
    bool dirty = false;
  };

  std::optional<std::string> add_known(const run_id& id);
  void set_owner(run_row run, std::string owner);
  void update(known_run& run, const run_record& x);
  void update(known_run& run, const message_record& x);
  void update(known_run& run, const call_record& x);
  void update(known_run& run, const output_record& x);
  void update(known_run& run, const proposal_record& x);
  void update(known_run& run, const decision_record& x);
  void update(known_run& run, const state_value& x);

  std::string owner_;
  row_reader reader_;
  proposal_writer proposals_;
  grant_writer grants_;
  state_writer state_;
  std::unordered_map<std::string, known_run> runs_;
  std::vector<known_run*> dirty_;

  sqlite::statement insert_run_;
  sqlite::statement update_run_;
  sqlite::statement last_run_;
  sqlite::statement put_head_;
  sqlite::statement insert_block_;
  sqlite::statement insert_message_;
  sqlite::statement put_call_;
  sqlite::statement put_output_;
  sqlite::statement delete_run_;
  sqlite::statement delete_head_;
  sqlite::statement delete_blocks_;
  sqlite::statement delete_messages_;
  sqlite::statement delete_calls_;
  sqlite::statement delete_output_;
};

}  // namespace riffle::storage
