// SPDX-License-Identifier: MIT
// Deleting sessions, whole and damaged ones: the third part of the SQLite
// journal.
#include <utility>

#include "runtime/storage/private_files.hpp"
#include "runtime/storage/readable_session.hpp"
#include "runtime/storage/sqlite_guarded.hpp"
#include "runtime/storage/storage_error.hpp"

namespace riffle::storage {

namespace {

bool has_state(row_reader& rows, const session_id& id) {
  try {
    return !rows.state().of_session(id).empty();
  } catch (const damaged&) {
    return true;
  }
}

using removal = unit_writer::removal;

/// Nothing: it is damaged.
std::optional<run_record> readable_record(row_reader& rows,
                                          const run_row& row) {
  try {
    const auto whole = rows.find_run({row.id});
    return record_of(whole ? *whole : row);
  } catch (const damaged&) {
    return {};
  } catch (const sqlite::failure& problem) {
    if (!problem.is_corrupt()) throw;
    return {};
  }
}

/// Nothing: it is damaged.
std::optional<session_snapshot> whole_session(row_reader& rows,
                                              const session_id& id) {
  try {
    return rows.read_session(id);
  } catch (const damaged&) {
    return {};
  } catch (const sqlite::failure& problem) {
    if (!problem.is_corrupt()) throw;
    return {};
  }
}

/// As long as it lives.
class secure_deletion {
 public:
  explicit secure_deletion(sqlite::database& db) : db_{db} {
    db_.execute("PRAGMA secure_delete = ON");
  }
  ~secure_deletion() {
    sqlite3_exec(db_.get(), "PRAGMA secure_delete = OFF", nullptr, nullptr,
                 nullptr);
  }
  secure_deletion(const secure_deletion&) = delete;
  secure_deletion& operator=(const secure_deletion&) = delete;

 private:
  sqlite::database& db_;
};

}  // namespace

/// Lost rows are looked for anew where none or too little is found of it.
removal sqlite_journal::read_removal(row_reader& rows, const session_id& id) {
  removal out;
  const auto runs = rows.indexed_runs_of(id);
  bool is_whole = !runs.empty();
  for (const auto& run : runs) {
    if (run.state == run_state::active) continue;
    if (auto calls = rows.calls_if_whole(run))
      out.calls.emplace(run.id, std::move(*calls));
    else
      is_whole = false;
  }
  out.lost = lost_.of(rows, id, !is_whole);
  return out;
}

/// What is read of a session of megabytes is read before, on the thread of the
/// caller, so that no commit of a run waits for it.
expected<void> sqlite_journal::delete_session(const session_id& id) {
  auto known = guarded("delete_session", [&]() -> expected<removal> {
    return readers_.read(
        [&](row_reader& rows) { return read_removal(rows, id); });
  });
  const auto remove = [&](bool after_reindex) {
    std::vector<held_run> held;
    auto done = write<void>("delete_session", [&] {
      if (after_reindex) writer_->db.execute("REINDEX");
      return delete_in_transaction(
          id, known && !after_reindex ? &*known : nullptr, held);
    });
    if (done) release(held);
    return done;
  };
  auto done = remove(false);
  // The way to make room on a full disk needs some.
  if (!done && wants_room(done.error()) && free_reserve(data_dir_))
    done = remove(false);
  // An index that has lost a row keeps it from going.
  if (!done && done.error().code == errc::storage_corrupt)
    if (auto again = remove(true)) done = std::move(again);
  if (!done) return done;
  lost_.forget(id);
  checkpoints_.empty();
  return done;
}

/// `known`: null if that could not be read; then each row is looked at.
expected<void> sqlite_journal::delete_in_transaction(
    const session_id& id, const removal* known, std::vector<held_run>& held) {
  auto& units = writer_->units;
  removal found;
  if (known == nullptr) found.lost = lost_.of(units.reader(), id, true);
  const auto& about = known != nullptr ? *known : found;
  const auto runs = units.reader().raw_runs_of(id, known == nullptr);
  if (runs.empty() && about.lost.empty() && !has_state(units.reader(), id))
    return missing("delete_session", "session " + id.value);
  for (const auto& x : runs)
    if (x.state == run_state::active && owner_of(x) != run_owner::gone)
      return unexpected{busy(x)};
  // A picture leaves no byte, neither in a row nor in a page that is free.
  const secure_deletion overwritten{writer_->db};
  units.remove(id, runs, about);
  for (const auto& x : runs) held.push_back(hold({x.id}));
  return {};
}

void sqlite_journal::tell_lost() {
  if (told_lost_.exchange(true)) return;
  const auto all =
      readers_.read([&](row_reader& rows) { return lost_.all(rows, false); });
  if (all.empty()) return;
  std::string named;
  for (const auto& x : all)
    if (!x.session.empty() &&
        (named + ", ").find(" " + x.session + ", ") == named.npos)
      named += (named.empty() ? " " : ", ") + x.session;
  note(file_.string() + ": " + std::to_string(all.size()) +
       " runs are lost but for some of their rows, and in no list" +
       (named.empty() ? ""
                      : ": 'riffle sessions delete' deletes what is left of") +
       named);
}

/// How many runs it finds, lost ones as well.
std::size_t sqlite_journal::read_what_is_left(row_reader& rows,
                                              readable_session& to) {
  const auto& id = to.session.session;
  auto whole = whole_session(rows, id);
  const bool any = !whole || !whole->runs.empty();
  const auto lost = lost_.of(rows, id, !whole || !any);
  if (whole && any && lost.empty()) {
    to.session = std::move(*whole);
    return to.session.runs.size();
  }
  // Where no index knows it, a list may have named it by its record.
  if (!any && lost.empty() && !lost_.is_named(id)) return 0;
  const auto add_calls = [&](const run_row& row) {
    for (const auto& call : rows.find_call_ids(row)) {
      to.session.calls.emplace_back();
      to.session.calls.back().call.id = {call};
    }
  };
  const auto all = rows.raw_runs_of(id);
  for (const auto& row : all) {
    if (auto record = readable_record(rows, row))
      to.session.runs.push_back(std::move(*record));
    else
      ++to.lost_runs;
    add_calls(row);
  }
  for (const auto& x : lost) {
    run_row row;
    row.n = x.n;
    if (x.n > 0 && x.n < max_runs - 1) add_calls(row);
  }
  // Rows with damaged keys may be of a run that is there.
  if (all.empty()) to.lost_runs += lost.size();
  return all.size() + lost.size();
}

expected<readable_session> sqlite_journal::load_readable(const session_id& id) {
  return guarded("load_session", [&]() -> expected<readable_session> {
    readable_session out;
    out.session.session = id;
    const auto found = readers_.read(
        [&](row_reader& rows) { return read_what_is_left(rows, out); });
    if (found == 0) return missing("load_session", "session " + id.value);
    return out;
  });
}

expected<readable_session> load_readable(journal& from, const session_id& id) {
  // Other journals hold nothing that could be damaged, or delete nothing.
  if (auto* stored = dynamic_cast<sqlite_journal*>(&from))
    return stored->load_readable(id);
  auto all = from.load_session(id);
  if (!all) return unexpected{std::move(all.error())};
  return readable_session{std::move(*all), 0};
}

}  // namespace riffle::storage
