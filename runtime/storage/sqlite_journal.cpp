// SPDX-License-Identifier: MIT
#include "runtime/storage/sqlite_journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/storage/private_files.hpp"
#include "runtime/storage/sqlite_guarded.hpp"
#include "runtime/storage/storage_error.hpp"
#include "runtime/storage/wal_check.hpp"

namespace riffle::storage {

sqlite_journal::sqlite_journal(std::filesystem::path data_dir,
                               sqlite_options options, owner_lock owner,
                               std::unique_ptr<write_connection> connection)
    : data_dir_{std::move(data_dir)},
      file_{data_dir_ / "riffle.db"},
      options_{std::move(options)},
      owner_{std::move(owner)},
      writer_{std::move(connection)},
      checkpoints_{file_,
                   {options_.mode, options_.checkpoint_pages,
                    4 * options_.checkpoint_pages, options_.checkpoint_wait,
                    [this](const std::string& text) { note(text); }}},
      readers_{file_, options_.readers, options_.timeout},
      queue_{options_.group,
             [this](const std::vector<queued_unit>& group) {
               return store(group);
             },
             [this] { move_log(false); }} {
  // Of the writing connection, so on the queue's thread.
  sqlite3_wal_hook(
      writer_->db.get(),
      [](void* to, sqlite3*, const char*, int pages) {
        static_cast<checkpointer*>(to)->on_commit(pages);
        return SQLITE_OK;
      },
      &checkpoints_);
}

sqlite_journal::~sqlite_journal() {
  // At rest each run's lines lie together.
  queue_.run([this] { move_log(true); });
}

void sqlite_journal::append(commit_unit unit, completion done) {
  queue_.append(std::move(unit), std::move(done));
}

commit_queue::stored sqlite_journal::store(
    const std::vector<queued_unit>& group) {
  commit_queue::stored result;
  try {
    check_log_is_whole();
    auto scope = writer_->transactions.begin_write();
    for (std::size_t i = 0; i < group.size(); ++i)
      if (auto why = apply(group[i].unit)) result.fail(group, i, *why);
    writer_->units.flush();
    scope.commit();
    check_files_are_there();
    writer_->units.settle();
    note_loss(true);
  } catch (const std::exception& problem) {
    const auto why = describe_problem("append", file_, problem);
    writer_->units.forget();
    if (why.code == errc::storage_corrupt) suspended_.halt_all(why);
    for (std::size_t i = 0; i < group.size(); ++i) {
      suspended_.halt(group[i].unit.run, why);
      result.fail(group, i, suspended_.find(group[i].unit.run).value_or(why));
    }
  }
  return result;
}

/// Whoever frees the locks of this process (by another descriptor of the file,
/// fcntl(2)) lets another one take its log away, and commits would go to a file
/// that nobody can open. The same for the database itself. A log that was
/// cut has lost what was acknowledged.
void sqlite_journal::check_files_are_there() {
  const auto is_same = [](const std::string& name, std::uint64_t& inode,
                          struct stat& now) {
    if (::stat(name.c_str(), &now) != 0) return false;
    if (inode == 0) inode = now.st_ino;
    return inode == now.st_ino;
  };
  struct stat now{};
  if (!is_same(file_.string(), file_inode_, now))
    throw sqlite::failure{SQLITE_CORRUPT,
                          "the database was taken away or replaced"};
  const auto log = file_.string() + "-wal";
  if (!is_same(log, log_inode_, now))
    throw sqlite::failure{SQLITE_CORRUPT,
                          "the write-ahead log was taken away or replaced"};
  // Nobody has a lock on it that closing it would free.
  if (!log_fd_) log_fd_ = unique_fd{::open(log.c_str(), O_RDONLY | O_CLOEXEC)};
  check_log_is_whole();
}

void sqlite_journal::check_log_is_whole() {
  if (!log_fd_) return;
  const auto now = look_at_log(log_fd_.get());
  if (was_cut(std::exchange(log_, now), now))
    throw sqlite::failure{SQLITE_CORRUPT, "the write-ahead log was cut"};
}

/// Nobody waits for it: what is not moved now is moved later.
void sqlite_journal::move_log(bool always) {
  const auto& log = writer_->units.log();
  if (!always && ((log.extent().bytes < options_.log_bytes &&
                   log.rows() < options_.log_rows) ||
                  log.extent().bytes < next_move_))
    return;
  if (suspended_.find_end()) return;
  const auto bytes = log.extent().bytes;
  try {
    auto scope = writer_->transactions.begin_write();
    writer_->units.move_log();
    scope.commit();
    next_move_ = 0;
    note_loss(true);
  } catch (const std::exception& problem) {
    const auto why = describe_problem("append", file_, problem);
    if (why.code == errc::storage_corrupt) suspended_.halt_all(why);
    next_move_ = bytes + options_.log_bytes / 4;
  }
}

/// Why the unit is not part of the transaction, or nothing.
std::optional<error> sqlite_journal::apply(const commit_unit& unit) {
  if (auto why = suspended_.find(unit.run)) return why;
  const auto corrupt = [this](const std::string& what) {
    return error{errc::storage_corrupt, "append", file_.string() + ": " + what};
  };
  try {
    if (auto fault = writer_->units.find_fault(unit)) {
      // What is stored is whole: only who writes this run has gone wrong.
      suspended_.halt(unit.run, corrupt(*fault));
      return suspended_.find(unit.run);
    }
  } catch (const damaged& problem) {
    suspended_.halt(unit.run, corrupt(problem.what()));
    return suspended_.find(unit.run);
  }
  writer_->units.apply(unit);
  return std::nullopt;
}

void sqlite_journal::mend_log() {
  queue_.run([this] {
    try {
      auto scope = writer_->transactions.begin_write();
      writer_->units.mend_log();
      scope.commit();
      note_loss(true);
    } catch (const std::exception& problem) {
      const auto why = describe_problem("open_journal", file_, problem);
      if (why.code != errc::storage_corrupt) return;  // a run that begins mends
      suspended_.halt_all(why);
      note(why.message + ": nothing is written");
    }
  });
}

void sqlite_journal::note_loss(bool is_committed) const noexcept {
  try {
    const auto x = writer_->units.take_loss();
    if (x && is_committed) note(file_.string() + ": " + *x);
  } catch (const std::exception&) {
    return;  // what is stored does not depend on it
  }
}

void sqlite_journal::note_damaged(std::size_t count, const char* what) const {
  if (count != 0)
    note(file_.string() + ": " + std::to_string(count) + " damaged " + what);
}

void sqlite_journal::note(const std::string& text) const {
  if (options_.on_note)
    options_.on_note(text);
  else
    log_warn("journal", text);
}

expected<session_snapshot> sqlite_journal::load_session(const session_id& id) {
  return guarded("load_session", [&]() -> expected<session_snapshot> {
    auto x =
        readers_.read([&](row_reader& rows) { return rows.read_session(id); });
    if (x.runs.empty()) return missing("load_session", "session " + id.value);
    return x;
  });
}

expected<run_record> sqlite_journal::load_run(const run_id& id) {
  return guarded("load_run", [&]() -> expected<run_record> {
    const auto run =
        readers_.read([&](row_reader& rows) { return rows.find_run(id); });
    if (!run) return missing("load_run", "run " + id.value);
    return record_of(*run);
  });
}

expected<std::vector<session_id>> sqlite_journal::list_sessions(
    std::size_t limit) {
  using list = std::vector<session_id>;
  return guarded("list_sessions", [&]() -> expected<list> {
    std::size_t damaged_ones = 0;
    auto all = readers_.read([&](row_reader& rows) {
      return rows.list_sessions(limit, damaged_ones);
    });
    note_damaged(damaged_ones, "sessions are in the list, or left out of it");
    if (damaged_ones != 0) lost_.name(all);
    tell_lost();
    return all;
  });
}

expected<std::vector<run_record>> sqlite_journal::list_runs(
    const run_filter& filter) {
  using list = std::vector<run_record>;
  return guarded("list_runs", [&]() -> expected<list> {
    std::size_t left_out = 0;
    auto all = readers_.read(
        [&](row_reader& from) { return list_runs_of(from, filter, left_out); });
    if (!all) return missing("list_runs", "run " + filter.before->value);
    note_damaged(left_out, "runs are left out of the list");
    return std::move(*all);
  });
}

expected<std::vector<unfinished_run>> sqlite_journal::unfinished_runs(
    std::size_t limit) {
  using list = std::vector<unfinished_run>;
  return guarded("unfinished_runs", [&]() -> expected<list> {
    std::size_t left_out = 0;
    const auto rows = readers_.read(
        [&](row_reader& from) { return from.active_runs(limit, left_out); });
    list all;
    for (const auto& row : rows) {
      auto record = record_if_whole(row, left_out);
      if (!record) continue;
      const auto owner = owner_of(row);
      all.push_back({std::move(*record),
                     owner,
                     describe_owner(data_dir_ / "owners", row.owner),
                     {}});
      if (owner == run_owner::here)
        all.back().suspended = suspended_.find({row.id});
    }
    note_damaged(left_out, "runs are left out of the unfinished ones");
    return all;
  });
}

run_owner sqlite_journal::owner_of(const run_row& run) const {
  if (run.owner == owner_.id()) return run_owner::here;
  return owner_lives(data_dir_ / "owners", run.owner) ? run_owner::elsewhere
                                                      : run_owner::gone;
}

expected<event_page> sqlite_journal::read_events(const run_id& run,
                                                 std::uint64_t after_seq,
                                                 std::size_t max_bytes) {
  return guarded("read_events", [&]() -> expected<event_page> {
    return readers_.read([&](row_reader& rows) -> expected<event_page> {
      const auto row = rows.find_run(run);
      if (!row) return missing("read_events", "run " + run.value);
      return rows.read_events(*row, after_seq, max_bytes);
    });
  });
}

expected<std::string> sqlite_journal::load_output(const call_id& id) {
  return guarded("load_output", [&]() -> expected<std::string> {
    auto text =
        readers_.read([&](row_reader& rows) { return rows.find_output(id); });
    if (!text) return missing("load_output", "output of call " + id.value);
    return std::move(*text);
  });
}

expected<kept_files> sqlite_journal::load_files(const session_id& id) {
  return guarded("load_files", [&]() -> expected<kept_files> {
    return readers_.read(
        [&](row_reader& rows) { return rows.files().of_session(id.value); });
  });
}

expected<void> sqlite_journal::set_state(const state_value& x) {
  return write<void>("set_state", [&]() -> expected<void> {
    if (const auto run = writer_->units.reader().active_run(x.session))
      return unexpected{busy(*run)};
    writer_->units.state().put(x);
    return {};
  });
}

expected<std::map<std::string, std::string>> sqlite_journal::load_state(
    const session_id& id) {
  using values = std::map<std::string, std::string>;
  return guarded("load_state", [&]() -> expected<values> {
    return readers_.read(
        [&](row_reader& rows) { return rows.state().of_session(id); });
  });
}

}  // namespace riffle::storage
