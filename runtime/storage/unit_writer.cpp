// SPDX-License-Identifier: MIT
#include "runtime/storage/unit_writer.hpp"

#include <utility>

#include "runtime/storage/record_json.hpp"
#include "runtime/storage/unit_check.hpp"

namespace riffle::storage {

unit_writer::unit_writer(sqlite::database& db, std::string owner)
    : owner_{std::move(owner)},
      reader_{db},
      proposals_{db},
      grants_{db},
      state_{db},
      insert_run_{db,
                  "INSERT INTO runs(n, id, session, ordinal, state, owner, "
                  "crc, data) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"},
      update_run_{db,
                  "UPDATE runs SET state = ?, owner = ?, crc = ?, data = ? "
                  "WHERE n = ?"},
      last_run_{db, "SELECT max(n) FROM runs"},
      put_head_{db,
                "REPLACE INTO heads(n, last_seq, messages, calls, crc) "
                "VALUES(?, ?, ?, ?, ?)"},
      insert_block_{db,
                    "INSERT INTO blocks(key, last_seq, crc, lines) "
                    "VALUES(?, ?, ?, ?)"},
      insert_message_{db,
                      "INSERT INTO messages(key, crc, data) "
                      "VALUES(?, ?, ?)"},
      put_call_{db, "REPLACE INTO calls(key, crc, data) VALUES(?, ?, ?)"},
      put_output_{db,
                  "INSERT INTO outputs(id, crc, text) VALUES(?1, ?2, ?3) "
                  "ON CONFLICT(id) DO UPDATE SET crc = ?2, text = ?3"},
      delete_run_{db, "DELETE FROM runs WHERE n = ?"},
      delete_head_{db, "DELETE FROM heads WHERE n = ?"},
      delete_blocks_{db, "DELETE FROM blocks WHERE key BETWEEN ? AND ?"},
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
      unit, {{run.row.session}, run.row.ordinal, run.head.last_seq});
}

void unit_writer::apply(const commit_unit& unit) {
  auto& run = runs_.at(unit.run.value);
  if (!std::exchange(run.dirty, true)) dirty_.push_back(&run);
  if (unit.block) {
    const auto& block = *unit.block;
    const auto key = block_key(run.row.n, block.first_seq);
    insert_block_.run(key, block.last_seq,
                      crc_of_block(key, block.last_seq, *block.lines),
                      sqlite::blob{*block.lines});
    run.head.last_seq = block.last_seq;
  }
  for (const auto& change : unit.changes)
    std::visit([&](const auto& x) { update(run, x); }, change);
}

void unit_writer::flush() {
  for (auto* run : dirty_) {
    const auto& head = run->head;
    put_head_.run(run->row.n, head.last_seq, head.messages, head.calls,
                  crc_of(run->row.n, head));
  }
}

void unit_writer::settle() {
  for (auto* run : std::exchange(dirty_, {})) {
    run->dirty = false;
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
    auto last = last_run_.query();
    row.n = (last.next() ? last.integer(0) : 0) + 1;
  }
  if (row.n >= max_runs) throw damaged{"the database", "it is full"};
  row.id = run.id.value;
  row.session = run.session.value;
  row.ordinal = run.ordinal;
  row.state = run.state;
  row.owner = owner_;
  row.data = to_json(run);
  insert_run_.run(row.n, row.id, row.session, row.ordinal,
                  static_cast<int>(row.state), row.owner, crc_of(row),
                  row.data);
  const head_row head;
  put_head_.run(row.n, head.last_seq, head.messages, head.calls,
                crc_of(row.n, head));
}

void unit_writer::remove(const run_row& run) {
  const auto head = reader_.read_head(run);
  std::vector<std::string> calls;
  reader_.for_each_call(run, head.calls,
                        [&](std::uint64_t, const call_record& x) {
                          calls.push_back(x.call.id.value);
                        });
  for (const auto& id : calls) delete_output_.run(id);
  delete_blocks_.run(block_key(run.n, 0), block_key(run.n + 1, 0) - 1);
  delete_messages_.run(part_key(run.n, 0), part_key(run.n + 1, 0) - 1);
  delete_calls_.run(part_key(run.n, 0), part_key(run.n + 1, 0) - 1);
  proposals_.remove_session(run.session);
  grants_.remove_session(run.session);
  state_.remove_cancel(run.id);
  delete_head_.run(run.n);
  delete_run_.run(run.n);
}

void unit_writer::take(run_row run) { set_owner(std::move(run), owner_); }

void unit_writer::give_up(run_row run) { set_owner(std::move(run), {}); }

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
  const auto key = part_key(run.row.n, i->second);
  const auto data = to_json(x);
  put_call_.run(key, crc_of_part("call", key, data), data);
}

void unit_writer::update(known_run&, const output_record& x) {
  put_output_.run(x.id.value, crc_of_output(x.id.value, x.text),
                  sqlite::blob{x.text});
}

void unit_writer::update(known_run&, const proposal_record& x) {
  proposals_.add(x);
}

void unit_writer::update(known_run&, const decision_record& x) {
  proposals_.add(x);
}

void unit_writer::update(known_run&, const state_value& x) { state_.put(x); }

}  // namespace riffle::storage
