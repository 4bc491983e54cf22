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

expected<void> sqlite_journal::delete_session(const session_id& id) {
  const auto remove = [&](bool after_reindex) {
    return write<void>("delete_session", [&] {
      if (after_reindex) writer_->db.execute("REINDEX");
      return delete_in_transaction(id, after_reindex);
    });
  };
  auto done = remove(false);
  // The way to make room on a full disk needs some.
  if (!done && wants_room(done.error()) && free_reserve(data_dir_))
    done = remove(false);
  // An index that has lost a row keeps it from going.
  if (!done && done.error().code == errc::storage_corrupt)
    if (auto again = remove(true)) done = std::move(again);
  if (done) checkpoints_.empty();
  return done;
}

expected<void> sqlite_journal::delete_in_transaction(const session_id& id,
                                                     bool is_damaged) {
  auto& units = writer_->units;
  const auto runs = units.reader().raw_runs_of(id, is_damaged);
  if (runs.empty() && !has_state(units.reader(), id))
    return missing("delete_session", "session " + id.value);
  for (const auto& x : runs)
    if (x.state == run_state::active && owner_of(x) != run_owner::gone)
      return unexpected{busy(x)};
  // A picture leaves no byte, neither in a row nor in a page that is free.
  const secure_deletion overwritten{writer_->db};
  units.remove(id, runs);
  for (const auto& x : runs) suspended_.release({x.id});
  return {};
}

expected<readable_session> sqlite_journal::load_readable(const session_id& id) {
  return guarded("load_session", [&]() -> expected<readable_session> {
    readable_session out;
    out.session.session = id;
    const auto found = readers_.read([&](row_reader& rows) {
      const auto all = rows.raw_runs_of(id);
      for (const auto& row : all) {
        try {
          const auto whole = rows.find_run({row.id});
          out.session.runs.push_back(record_of(whole ? *whole : row));
        } catch (const damaged&) {
          ++out.lost_runs;
        }
        for (const auto& call : rows.find_call_ids(row)) {
          out.session.calls.emplace_back();
          out.session.calls.back().call.id = {call};
        }
      }
      return all.size();
    });
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
