// SPDX-License-Identifier: MIT
#include "runtime/storage/read_only_journal.hpp"

#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/storage/file_records.hpp"
#include "runtime/storage/owner.hpp"
#include "runtime/storage/private_files.hpp"
#include "runtime/storage/reader_pool.hpp"
#include "runtime/storage/schema.hpp"
#include "runtime/storage/storage_error.hpp"
#include "runtime/storage/told_losses.hpp"

namespace riffle::storage {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_readers = 4;
constexpr std::chrono::milliseconds timeout{10'000};
constexpr std::uintmax_t least_index = 32u << 10;

/// SQLite needs the index of the write-ahead log to read it. Where there is
/// none and no log either, nobody writes: then the main file is all.
sqlite::access access_of(const fs::path& file) {
  std::error_code none;
  const auto index = fs::file_size(file.string() + "-shm", none);
  // A smaller one was begun on a disk that was full.
  const bool has_index = !none && index >= least_index;
  const auto log = fs::file_size(file.string() + "-wal", none);
  const bool has_log = !none && log > 0;
  return has_index || has_log ? sqlite::access::read : sqlite::access::frozen;
}

class read_only_journal final : public journal, public file_records {
 public:
  read_only_journal(const fs::path& data_dir, const fs::path& file)
      : owners_{data_dir / "owners"},
        file_{file},
        readers_{file, most_readers, timeout, access_of(file)} {
    readers_.read([](row_reader&) { return 0; });
  }

  void append(commit_unit, completion done) override {
    done(refused("append"));
  }
  using journal::open_run;
  expected<run_snapshot> open_run(run_record,
                                  std::vector<file_record>) override {
    return unexpected{refused("open_run")};
  }
  expected<run_snapshot> adopt_run(const run_id&) override {
    return unexpected{refused("adopt_run")};
  }
  expected<void> disown_run(const run_id&) override {
    return unexpected{refused("disown_run")};
  }
  expected<decision_answer> decide(decision_record,
                                   const std::string&) override {
    return unexpected{refused("decide")};
  }
  expected<cancel_verdict> ask_cancel(const run_id&,
                                      const std::string&) override {
    return unexpected{refused("ask_cancel")};
  }
  expected<bool> revoke(const proposal_id&) override {
    return unexpected{refused("revoke")};
  }
  expected<void> set_state(const state_value&) override {
    return unexpected{refused("set_state")};
  }
  expected<void> delete_session(const session_id&) override {
    return unexpected{refused("delete_session")};
  }
  /// It has no runs of its own.
  expected<std::vector<cancel_request>> cancels() override { return {}; }

  expected<session_snapshot> load_session(const session_id& id) override {
    auto x = read("load_session",
                  [&](row_reader& rows) { return rows.read_session(id); });
    if (x && x->runs.empty())
      return missing("load_session", "session " + id.value);
    return x;
  }
  expected<run_record> load_run(const run_id& id) override {
    auto run = read("load_run", [&](row_reader& rows) {
      const auto row = rows.find_run(id);
      return row ? std::optional{record_of(*row)} : std::nullopt;
    });
    if (!run) return unexpected{run.error()};
    if (!*run) return missing("load_run", "run " + id.value);
    return std::move(**run);
  }
  expected<run_owner> owner_of_run(const run_id& id) override {
    const auto row = read("owner_of_run",
                          [&](row_reader& rows) { return rows.find_run(id); });
    if (!row) return unexpected{row.error()};
    if (!*row) return missing("owner_of_run", "run " + id.value);
    return owner_lives(owners_, (*row)->owner) ? run_owner::elsewhere
                                               : run_owner::gone;
  }
  expected<std::vector<session_id>> list_sessions(std::size_t limit) override {
    std::size_t left_out = 0;
    auto all = read("list_sessions", [&](row_reader& rows) {
      return rows.list_sessions(limit, left_out);
    });
    tell(left_out, "sessions are in the list, or left out of it");
    return all;
  }
  expected<std::vector<run_record>> list_runs(
      const run_filter& filter) override {
    std::size_t left_out = 0;
    const auto rows = read("list_runs", [&](row_reader& from) {
      return list_runs_of(from, filter, left_out);
    });
    if (!rows) return unexpected{rows.error()};
    tell(left_out, "runs are left out of the list");
    if (!*rows) return missing("list_runs", "run " + filter.before->value);
    return std::move(**rows);
  }
  expected<std::vector<unfinished_run>> unfinished_runs(
      std::size_t limit) override {
    std::size_t left_out = 0;
    const auto rows = read("unfinished_runs", [&](row_reader& from) {
      return from.active_runs(limit, left_out);
    });
    if (!rows) return unexpected{rows.error()};
    std::vector<unfinished_run> all;
    for (const auto& row : *rows) {
      auto record = record_if_whole(row, left_out);
      if (!record) continue;
      const auto owner = owner_lives(owners_, row.owner) ? run_owner::elsewhere
                                                         : run_owner::gone;
      all.push_back(
          {std::move(*record), owner, describe_owner(owners_, row.owner), {}});
    }
    tell(left_out, "runs are left out of the unfinished ones");
    return all;
  }
  expected<feed_page> read_feed(const feed_place& after,
                                std::size_t max_bytes) override {
    feed_losses left_out;
    auto page = read("read_feed", [&](row_reader& rows) {
      return rows.read_feed(after, max_bytes, left_out);
    });
    tell(told_losses_.add(left_out), left_out_of_feed);
    return page;
  }
  expected<feed_place> end_of_feed() override {
    return read("end_of_feed",
                [](row_reader& rows) { return rows.end_of_feed(); });
  }
  expected<feed_place> start_in_feed(const run_id& run) override {
    const auto at = read("start_in_feed", [&](row_reader& rows) {
      const auto row = rows.find_run(run);
      return row ? rows.start_in_feed(*row) : std::nullopt;
    });
    if (!at) return unexpected{at.error()};
    if (!*at) return missing("start_in_feed", "run " + run.value);
    return **at;
  }
  expected<event_page> read_events(const run_id& run, std::uint64_t after_seq,
                                   std::size_t max_bytes) override {
    auto page = read("read_events", [&](row_reader& rows) {
      const auto row = rows.find_run(run);
      return row ? std::optional{rows.read_events(*row, after_seq, max_bytes)}
                 : std::nullopt;
    });
    if (!page) return unexpected{page.error()};
    if (!*page) return missing("read_events", "run " + run.value);
    return std::move(**page);
  }
  expected<std::string> load_output(const call_id& id) override {
    auto text = read("load_output",
                     [&](row_reader& rows) { return rows.find_output(id); });
    if (!text) return unexpected{text.error()};
    if (!*text) return missing("load_output", "output of call " + id.value);
    return std::move(**text);
  }
  expected<kept_files> load_files(const session_id& id) override {
    return read("load_files", [&](row_reader& rows) {
      return rows.files().of_session(id.value);
    });
  }
  expected<std::vector<proposal_state>> list_proposals(
      const proposal_filter& filter) override {
    std::size_t left_out = 0;
    auto all = read("list_proposals", [&](row_reader& rows) {
      return rows.proposals().list(filter, left_out);
    });
    tell(left_out, "proposals are left out of the list");
    return all;
  }
  expected<std::vector<decision_record>> decisions_of(
      const std::vector<proposal_id>& ids) override {
    std::size_t left_out = 0;
    auto all = read("decisions_of", [&](row_reader& rows) {
      return rows.proposals().decisions(ids, left_out);
    });
    tell(left_out, "decisions are left out");
    return all;
  }
  expected<std::vector<grant_record>> grants(
      const std::optional<session_id>& of) override {
    std::size_t left_out = 0;
    auto all = read("grants", [&](row_reader& rows) {
      return rows.grants().list(of, left_out);
    });
    tell(left_out, "approvals that say always do not count");
    return all;
  }
  expected<std::map<std::string, std::string>> load_state(
      const session_id& id) override {
    return read("load_state",
                [&](row_reader& rows) { return rows.state().of_session(id); });
  }

 private:
  /// In a read transaction; exceptions become errors of `op`.
  template <class F>
  auto read(const char* op, F f)
      -> expected<decltype(f(std::declval<row_reader&>()))> {
    try {
      return readers_.read(f);
    } catch (const std::exception& problem) {
      return unexpected{describe_problem(op, file_, problem)};
    }
  }

  [[nodiscard]] error refused(const char* op) const {
    return {errc::storage_unavailable,
            op,
            file_.string() + " cannot be written, only read",
            false,
            {}};
  }

  void tell(std::size_t left_out, const char* what) const {
    if (left_out != 0)
      log_warn("journal", file_.string() + ": " + std::to_string(left_out) +
                              " damaged " + what);
  }

  const fs::path owners_;
  const fs::path file_;
  told_losses told_losses_;
  reader_pool readers_;
};

}  // namespace

bool is_writable(const fs::path& data_dir) {
  const auto may_write = [](const fs::path& x) {
    return ::faccessat(AT_FDCWD, x.c_str(), W_OK, AT_EACCESS) == 0;
  };
  return may_write(data_dir) && may_write(data_dir / "riffle.db");
}

expected<std::unique_ptr<journal>> open_read_only_journal(
    const fs::path& data_dir) {
  const auto file = data_dir / "riffle.db";
  if (auto wrong = find_wrong_kind(file)) return unexpected{std::move(*wrong)};
  if (auto lost = find_lost_file(file)) return unexpected{std::move(*lost)};
  try {
    sqlite::database db{file, timeout, access_of(file)};
    check_schema(db);
    return std::make_unique<read_only_journal>(data_dir, file);
  } catch (const std::exception& problem) {
    return unexpected{describe_problem("open_journal", file, problem)};
  }
}

}  // namespace riffle::storage
