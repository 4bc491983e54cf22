// SPDX-License-Identifier: MIT
// Who works on a run: beginning, adopting and leaving runs. A part of the
// SQLite journal.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/storage/sqlite_guarded.hpp"
#include "runtime/storage/storage_error.hpp"

namespace riffle::storage {

namespace {

/// The snapshot of a run in its session, the run's end taken from `head`.
run_snapshot snapshot_of(row_reader& rows, const run_row& run) {
  return {record_of(run), rows.read_head(run).last_seq,
          rows.read_session({run.session}),
          rows.files().of_session(run.session)};
}

/// Whether these are all its runs, and none of them went on since: what is over
/// does not change.
bool has_runs(const run_snapshot& x, const std::vector<run_row>& now) {
  return std::ranges::equal(x.session.runs, now,
                            [](const auto& a, const auto& b) {
                              return a.id.value == b.id && a.state == b.state &&
                                     a.state != run_state::active;
                            });
}

}  // namespace

/// A session of megabytes takes long to read: that is done before, on the
/// thread of the caller, so that no commit of another run waits for it.
expected<run_snapshot> sqlite_journal::open_run(
    run_record run, std::vector<file_record> files) {
  for (int left = 3;; --left) {
    auto before = guarded("open_run", [&]() -> expected<run_snapshot> {
      return readers_.read([&](row_reader& rows) {
        return run_snapshot{{},
                            0,
                            rows.read_session(run.session),
                            rows.files().of_session(run.session.value)};
      });
    });
    // What cannot be read may be mended there.
    auto* known = before && left > 0 ? &*before : nullptr;
    auto x = write_mended<std::optional<run_snapshot>>("open_run", [&] {
      // A second try reads it in its place: this one has taken it away.
      return open_in_transaction(run, files, std::exchange(known, nullptr));
    });
    if (!x) return unexpected{std::move(x.error())};
    if (*x) return std::move(**x);  // else: it has changed meanwhile
  }
}

/// It is ours, or stays ours, before it is read: nobody writes it meanwhile.
expected<run_snapshot> sqlite_journal::adopt_run(const run_id& id) {
  auto taken = write_mended<adopted>("adopt_run",
                                     [&] { return adopt_in_transaction(id); });
  if (!taken) return unexpected{std::move(taken.error())};
  auto x = guarded("adopt_run", [&]() -> expected<run_snapshot> {
    auto out = readers_.read(
        [&](row_reader& rows) { return snapshot_of(rows, taken->run); });
    out.left = taken->left;
    return out;
  });
  if (x)
    suspended_.release(id, taken->held);
  else if (taken->is_new)
    static_cast<void>(write<void>("adopt_run", [&]() -> expected<void> {
      auto& units = writer_->units;
      taken->left ? units.leave(taken->run) : units.give_up(taken->run);
      return {};
    }));
  return x;
}

/// `known`: what its session had; null: it is read here. Nothing: it has other
/// runs by now.
expected<std::optional<run_snapshot>> sqlite_journal::open_in_transaction(
    run_record run, const std::vector<file_record>& files,
    run_snapshot* known) {
  auto& rows = writer_->units.reader();
  if (auto problem = find_open_fault(run)) return unexpected{*problem};
  writer_->units.mend_log();
  const auto earlier = rows.runs_of(run.session);
  for (const auto& x : earlier)
    if (x.state == run_state::active) return unexpected{busy(x)};
  if (rows.find_run(run.id))
    return unexpected{error{errc::invalid_request,
                            "open_run",
                            "run " + run.id.value + " exists",
                            false,
                            {}}};
  if (known != nullptr && !has_runs(*known, earlier))
    return std::optional<run_snapshot>{};
  if (auto taken = take_cause(run); !taken)
    return unexpected{std::move(taken.error())};
  run.ordinal = earlier.size() + 1;
  const auto id = run.id;
  for (const auto& x : files)
    writer_->units.files().add({run.session, x.digest, x.bytes});
  writer_->units.insert_run(run);
  const auto row = rows.find_run(id).value();
  if (known == nullptr) return snapshot_of(rows, row);
  known->run = record_of(row);
  auto& session = known->session;
  session.runs.push_back(known->run);
  // These change without a run.
  session.proposals = rows.proposals().of_session(session.session.value);
  session.state = rows.state().of_session(session.session);
  for (const auto& x : files) known->files.emplace(x.digest, x.bytes);
  return std::move(*known);
}

expected<void> sqlite_journal::take_cause(const run_record& run) {
  if (run.cause.empty()) return {};
  const auto cause = writer_->units.reader().proposals().find(run.cause.value);
  if (auto fault = find_cause_fault(cause, run.session))
    return unexpected{cause_error(run.cause, *fault)};
  writer_->units.proposals().note_execution(*cause->decided, run.id.value);
  return {};
}

expected<sqlite_journal::adopted> sqlite_journal::adopt_in_transaction(
    const run_id& id) {
  auto& rows = writer_->units.reader();
  writer_->units.mend_log();
  auto run = rows.find_run(id);
  if (!run) return missing("adopt_run", "run " + id.value);
  if (run->state != run_state::active)
    return unexpected{error{errc::invalid_request,
                            "adopt_run",
                            "run " + id.value + " has finished",
                            false,
                            {}}};
  const auto owner = owner_of(*run);
  if (owner == run_owner::elsewhere) return unexpected{busy(*run)};
  // A run that was suspended is written too: that shows that it can go on.
  const bool is_new = owner == run_owner::gone;
  if (is_new || suspended_.find(id)) writer_->units.take(*run);
  const bool left = run->owner == left_in_order;
  return adopted{std::move(*run), suspended_.mark(id), left, is_new};
}

sqlite_journal::held_run sqlite_journal::hold(const run_id& run) const {
  return {run, suspended_.mark(run)};
}

void sqlite_journal::release(const std::vector<held_run>& all) {
  for (const auto& x : all) suspended_.release(x.run, x.mark);
}

expected<run_owner> sqlite_journal::owner_of_run(const run_id& id) {
  return guarded("owner_of_run", [&]() -> expected<run_owner> {
    const auto run =
        readers_.read([&](row_reader& rows) { return rows.find_run(id); });
    if (!run) return missing("owner_of_run", "run " + id.value);
    return owner_of(*run);
  });
}

expected<void> sqlite_journal::disown_run(const run_id& id) {
  std::vector<held_run> held;
  auto done = write<void>("disown_run", [&]() -> expected<void> {
    auto run = writer_->units.reader().find_run(id);
    const bool ours = run && run->state == run_state::active &&
                      owner_of(*run) == run_owner::here;
    if (!ours) return {};
    writer_->units.give_up(*run);
    held.push_back(hold(id));
    return {};
  });
  if (done) release(held);
  return done;
}

expected<void> sqlite_journal::leave_runs() {
  std::vector<held_run> held;
  auto done = write<void>("leave_runs", [&]() -> expected<void> {
    std::size_t damaged = 0;
    constexpr std::size_t every = std::numeric_limits<std::int32_t>::max();
    const auto all = writer_->units.reader().active_runs(every, damaged);
    for (const auto& run : all) {
      if (owner_of(run) != run_owner::here) continue;
      writer_->units.leave(run);
      held.push_back(hold({run.id}));
    }
    return {};
  });
  if (done) release(held);
  return done;
}

error sqlite_journal::busy(const run_row& run) const {
  const auto folder = data_dir_ / "owners";
  const bool lives = owner_of(run) != run_owner::gone;
  return {errc::session_busy,
          "open_run",
          "session " + run.session + " has the active run " + run.id +
              ", owned by " +
              (lives ? describe_owner(folder, run.owner) + " (" + run.owner +
                           "): wait for it or cancel it"
                     : "a process that is gone: 'riffle sessions resume " +
                           run.session + "' finishes it"),
          true,
          {}};
}

}  // namespace riffle::storage
