// SPDX-License-Identifier: MIT
#include "runtime/storage/unit_writer.hpp"

#include <algorithm>
#include <utility>

#include "runtime/storage/record_json.hpp"
#include "runtime/storage/unit_check.hpp"

namespace riffle::storage {

namespace {

/// From so many bytes of a run in one commit on they become rows of its own
/// at once: they fill pages by themselves, and need not be moved.
constexpr std::size_t own_row_bytes = std::size_t{8} << 10;

}  // namespace

unit_writer::unit_writer(sqlite::database& db, std::string owner)
    : owner_{std::move(owner)},
      reader_{db},
      proposals_{db},
      grants_{db},
      state_{db},
      files_{db},
      blocks_{db},
      log_{db},
      mover_{db},
      insert_run_{db,
                  "INSERT INTO runs(n, id, session, ordinal, state, owner, "
                  "crc, data) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"},
      update_run_{db,
                  "UPDATE runs SET state = ?, owner = ?, crc = ?, data = ? "
                  "WHERE n = ?"},
      // Behind all that has a number, also where a row is lost.
      last_run_{db,
                "SELECT max((SELECT coalesce(max(n), 0) FROM runs WHERE n < "
                "?1), (SELECT coalesce(max(n), 0) FROM heads WHERE n < ?1), "
                "(SELECT coalesce(max(key), 0) >> 40 FROM blocks WHERE key < "
                "?1 << 40), (SELECT coalesce(max(key), 0) >> 32 FROM messages "
                "WHERE key < ?1 << 32), (SELECT coalesce(max(key), 0) >> 32 "
                "FROM calls WHERE key < ?1 << 32))"},
      insert_message_{db,
                      "REPLACE INTO messages(key, crc, data) "
                      "VALUES(?, ?, ?)"},
      put_call_{db, "REPLACE INTO calls(key, crc, data) VALUES(?, ?, ?)"},
      put_output_{db,
                  "INSERT INTO outputs(id, crc, text) VALUES(?1, ?2, ?3) "
                  "ON CONFLICT(id) DO UPDATE SET crc = ?2, text = ?3"},
      delete_run_{db, "DELETE FROM runs WHERE n = ?"},
      delete_messages_{db, "DELETE FROM messages WHERE key BETWEEN ? AND ?"},
      delete_calls_{db, "DELETE FROM calls WHERE key BETWEEN ? AND ?"},
      delete_output_{db, "DELETE FROM outputs WHERE id = ?"} {}

/// Why it is no run that this process may write, or nothing.
std::optional<std::string> unit_writer::add_known(const run_id& id) {
  if (runs_.contains(id.value)) return std::nullopt;
  auto row = reader_.find_run(id);
  if (!row) return "run " + id.value + " was never opened";
  if (row->owner != owner_)
    return "run " + id.value + ": this process does not own it";
  known_run run;
  run.head = reader_.read_head(*row);
  reader_.for_each_call(*row, run.head.calls,
                        [&run](std::uint64_t place, call_record x) {
                          run.calls.emplace(std::move(x.call.id.value), place);
                        });
  run.row = std::move(*row);
  runs_.emplace(id.value, std::move(run));
  return std::nullopt;
}

std::optional<std::string> unit_writer::find_fault(const commit_unit& unit) {
  if (auto why = add_known(unit.run)) return why;
  const auto& run = runs_.at(unit.run.value);
  return storage::find_fault(
      unit, {run.row.session, run.row.ordinal, run.head.last_seq});
}

void unit_writer::apply(const commit_unit& unit) {
  auto& run = runs_.at(unit.run.value);
  if (!std::exchange(run.dirty, true)) dirty_.push_back(&run);
  if (unit.block) {
    const auto& block = *unit.block;
    run.waiting.push_back({block.first_seq, block.last_seq, block.lines});
    run.bytes += block.lines->size();
    run.head.last_seq = block.last_seq;
  }
  for (const auto& change : unit.changes)
    std::visit([&](const auto& x) { update(run, x); }, change);
}

void unit_writer::flush() {
  if (dirty_.empty()) return;
  for (const auto* run : dirty_) write_calls(*run);
  if (!log_.begin()) move_log();
  for (const auto* run : dirty_) flush(*run);
  log_.end();
}

void unit_writer::write_calls(const known_run& run) {
  for (const auto& [place, call] : run.changed) {
    const auto key = part_key(run.row.n, place);
    const auto data = to_json(*call);
    put_call_.run(key, crc_of_part("call", key, data), data);
  }
}

/// Few lines go into the row of the commit, many into rows of the run.
void unit_writer::flush(const known_run& run) {
  log_entry x{run.row.n, run.head};
  if (!run.waiting.empty()) x.first_seq = run.waiting.front().first_seq;
  if (run.bytes >= own_row_bytes) {
    write_own_rows(run);
    log_.add(x, {});
  } else if (run.waiting.size() == 1) {
    log_.add(x, *run.waiting.front().lines);
  } else {
    joined_.clear();
    for (const auto& block : run.waiting) joined_ += *block.lines;
    log_.add(x, joined_);
  }
  // Whoever reads a run that has ended need not look into the log for it.
  if (run.row.state != run_state::active) blocks_.put_head(run.row.n, run.head);
}

void unit_writer::write_own_rows(const known_run& run) {
  std::uint64_t first = 0;
  const auto write = [&](std::uint64_t last, std::string_view lines) {
    blocks_.add(
        {run.row.n, first, last, lines, {{log_.commit(), last - first + 1}}});
    first = 0;
  };
  joined_.clear();
  for (const auto& block : run.waiting) {
    if (first == 0) first = block.first_seq;
    if (joined_.empty() && block.lines->size() >= own_row_bytes) {
      write(block.last_seq, *block.lines);
      continue;
    }
    joined_ += *block.lines;
    if (joined_.size() < own_row_bytes) continue;
    write(block.last_seq, joined_);
    joined_.clear();
  }
  if (first != 0) write(run.head.last_seq, joined_);
}

void unit_writer::settle() {
  for (auto* run : std::exchange(dirty_, {})) {
    run->dirty = false;
    run->waiting.clear();
    run->changed.clear();
    run->bytes = 0;
    if (run->row.state != run_state::active) {
      const auto id = run->row.id;
      runs_.erase(id);
    }
  }
}

void unit_writer::forget() {
  for (auto* run : std::exchange(dirty_, {})) {
    const auto id = run->row.id;
    runs_.erase(id);
  }
}

void unit_writer::insert_run(const run_record& run) {
  run_row row;
  {
    auto last = last_run_.query(max_runs - 1);
    row.n = (last.next() ? last.integer(0) : 0) + 1;
  }
  if (row.n >= max_runs - 1) throw damaged{"the database", "it is full"};
  row.id = run.id.value;
  row.session = run.session.value;
  row.ordinal = run.ordinal;
  row.state = run.state;
  row.owner = owner_;
  row.data = to_json(run);
  insert_run_.run(row.n, row.id, row.session, row.ordinal,
                  static_cast<int>(row.state), row.owner, crc_of(row),
                  row.data);
  blocks_.put_head(row.n, {});
}

void unit_writer::mend_log() {
  if (!reader_.log_problem().empty()) move_log();
}

void unit_writer::move_log(const std::set<std::int64_t>& dropped) {
  const auto lost =
      mover_.move(log_, blocks_, dropped, [this] { return own_heads(); });
  if (lost) loss_ = to_text(*lost);
}

/// Of the runs that this process writes: what their rows will say.
log_mover::heads unit_writer::own_heads() const {
  log_mover::heads all;
  for (const auto& [id, run] : runs_) all.emplace(run.row.n, run.head);
  return all;
}

/// The log is moved last: what reads it must not meet it half changed. Of runs
/// that are damaged it is moved first: then all that is left of them lies in
/// rows of theirs.
void unit_writer::remove(const session_id& id, const std::vector<run_row>& runs,
                         const removal& found) {
  std::set<std::int64_t> numbers;
  std::vector<std::optional<std::set<std::string>>> calls;
  for (const auto& run : runs) {
    numbers.insert(run.n);
    const auto known = found.calls.find(run.id);
    // What has ended does not change.
    if (run.state != run_state::active && known != found.calls.end())
      calls.emplace_back(known->second);
    else
      calls.push_back(reader_.calls_if_whole(run));
  }
  if (!found.lost.empty() ||
      !std::ranges::all_of(calls, [](const auto& x) { return x.has_value(); }))
    move_log();
  for (const auto& x : found.lost) remove_lost(x);
  for (std::size_t i = 0; i < runs.size(); ++i)
    remove_rows(runs[i], calls[i] ? *calls[i] : reader_.find_call_ids(runs[i]),
                !calls[i]);
  proposals_.remove_session(id.value);
  grants_.remove_session(id.value);
  files_.remove_session(id.value);
  state_.remove_session(id.value);
  move_log(numbers);
}

void unit_writer::remove_rows(const run_row& run,
                              const std::set<std::string>& calls,
                              bool is_damaged) {
  for (const auto& id : calls) delete_output_.run(id);
  state_.remove_cancel(run.id);
  runs_.erase(run.id);
  delete_run_.run(run.n);
  // Of a number that no run can have, nothing else lies where it says.
  if (run.n <= 0 || run.n >= max_runs - 1) return;
  remove_parts(run.n);
  blocks_.remove(run.n, is_damaged);
}

void unit_writer::remove_parts(std::int64_t n) {
  const auto last = part_key(n, (std::uint64_t{1} << part_bits) - 1);
  delete_messages_.run(part_key(n, 0), last);
  delete_calls_.run(part_key(n, 0), last);
}

/// Its number is none of a run's, so nothing else lies there.
void unit_writer::remove_lost(const lost_run& x) {
  if (reader_.has_number(x.n)) return;
  const auto high = x.n >> (63 - part_bits);
  const bool has_parts = high == 0 || high == -1;
  const bool has_blocks = x.n > -max_runs && x.n < max_runs - 1;
  if (has_blocks) {
    run_row run;
    run.n = x.n;
    for (const auto& id : reader_.find_call_ids(run)) delete_output_.run(id);
  }
  if (has_parts) remove_parts(x.n);
  if (has_blocks) blocks_.remove(x.n, true);
  state_.remove_cancel(x.run);
}

void unit_writer::take(run_row run) { set_owner(std::move(run), owner_); }

void unit_writer::give_up(run_row run) { set_owner(std::move(run), {}); }

void unit_writer::leave(run_row run) {
  set_owner(std::move(run), std::string{left_in_order});
}

void unit_writer::set_owner(run_row run, std::string owner) {
  run.owner = std::move(owner);
  update_run_.run(static_cast<int>(run.state), run.owner, crc_of(run), run.data,
                  run.n);
  runs_.erase(run.id);
}

void unit_writer::update(known_run& run, const run_record& x) {
  run.row.state = x.state;
  run.row.data = to_json(x);
  update_run_.run(static_cast<int>(run.row.state), run.row.owner,
                  crc_of(run.row), run.row.data, run.row.n);
  if (x.state != run_state::active) state_.remove_cancel(x.id.value);
}

void unit_writer::update(known_run& run, const message_record& x) {
  const auto key = part_key(run.row.n, ++run.head.messages);
  const auto data = to_json(x);
  insert_message_.run(key, crc_of_part("message", key, data), data);
}

void unit_writer::update(known_run& run, const call_record& x) {
  const auto [i, is_new] =
      run.calls.try_emplace(x.call.id.value, run.head.calls + 1);
  if (is_new) ++run.head.calls;
  run.changed[i->second] = &x;
}

void unit_writer::update(known_run&, const output_record& x) {
  put_output_.run(x.id.value, crc_of_output(x.id.value, x.text),
                  sqlite::blob{x.text});
}

void unit_writer::update(known_run&, const proposal_record& x) {
  proposals_.add(x);
  if (!x.replaces.empty()) grants_.remove(x.replaces.value);
}

void unit_writer::update(known_run&, const decision_record& x) {
  proposals_.add(x);
}

void unit_writer::update(known_run&, const state_value& x) { state_.put(x); }

void unit_writer::update(known_run&, const file_record& x) { files_.add(x); }

}  // namespace riffle::storage
