// SPDX-License-Identifier: MIT
// The write-ahead log stays short, whoever reads and writes meanwhile.
#include <algorithm>
#include <atomic>
#include <sqlite3.h>
#include <thread>

#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/crash_vfs.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

std::unique_ptr<storage::sqlite_journal> open_with(
    const std::filesystem::path& folder, int pages,
    std::chrono::milliseconds wait = std::chrono::milliseconds{500}) {
  storage::sqlite_options options;
  options.checkpoint_pages = pages;
  options.checkpoint_wait = wait;
  // Who writes waits meanwhile.
  options.timeout = std::max(options.timeout, 4 * wait);
  auto made = storage::sqlite_journal::open(folder, std::move(options));
  REQUIRE(made);
  return std::move(*made);
}

/// One commit of about 8 pages.
void put(storage::journal& to, std::uint64_t n) {
  REQUIRE_FALSE(store(to, {{"run_1"}, make_block("run_1", n, n, 30'000), {}}));
}

template <class F>
bool eventually(F done) {
  const auto end =
      std::chrono::steady_clock::now() + scaled(std::chrono::seconds{10});
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

}  // namespace

TEST_CASE(
    "the write-ahead log is copied and begins anew, with readers that "
    "never pause") {
  constexpr int pages = 64;
  constexpr std::uintmax_t bound = 16UL * pages * 4200UL;
  scratch_folder folder;
  // However slow the machine: each of its readers ends, and is waited for.
  const auto journal =
      open_with(folder.path(), pages, scaled(std::chrono::seconds{5}));
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
  std::atomic<bool> over = false;
  std::atomic<int> unread = 0;
  std::vector<std::thread> readers;
  readers.reserve(2);
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      while (!over)
        if (!journal->read_events({"run_1"}, 0, 1u << 20)) ++unread;
    });
  std::uintmax_t longest = 0;
  for (std::uint64_t n = 1; n <= 600; ++n) {
    put(*journal, n);
    longest = std::max(
        longest, std::filesystem::file_size(folder.path() / "riffle.db-wal"));
  }
  over = true;
  for (auto& x : readers) x.join();
  CHECK(unread == 0);
  CHECK(journal->checkpoints() > 2);
  // 600 commits have about 5000 pages.
  CHECK(longest < bound);
}

TEST_CASE("a log that cannot be copied is said once, and copied later") {
  scratch_folder folder;
  fail_storage_at(0, SQLITE_OK);
  const auto journal = open_with(folder.path(), 1'000'000);
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
  for (std::uint64_t n = 1; n < 20; ++n) put(*journal, n);
  std::atomic<int> notes = 0;
  storage::checkpointer other{
      folder.path() / "riffle.db",
      {storage::durability::process, 10, 40, std::chrono::milliseconds{100},
       [&](const auto&) { ++notes; }}};
  fail_storage_at(1, SQLITE_IOERR_WRITE);
  other.on_commit(10);
  CHECK(eventually([&] { return notes == 1; }));
  const auto before = storage_operations();
  other.on_commit(100);
  CHECK(eventually([&] { return storage_operations() > before; }));
  CHECK(other.count() == 0);
  fail_storage_at(0, SQLITE_OK);
  other.on_commit(500);
  CHECK(eventually([&] { return other.count() > 0; }));
  CHECK(notes == 1);
  put(*journal, 20);  // and the writer is not disturbed
}

TEST_CASE("a short log is left alone") {
  scratch_folder folder;
  const auto journal = open_with(folder.path(), 4000);
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
  for (std::uint64_t n = 1; n < 20; ++n) put(*journal, n);
  CHECK(journal->checkpoints() == 0);
}

TEST_CASE("what is acknowledged with disk is synced, the log before the file") {
  const auto mode =
      GENERATE(storage::durability::process, storage::durability::disk);
  const bool disk = mode == storage::durability::disk;
  scratch_folder folder;
  watch_syncs();
  {
    storage::sqlite_options options;
    options.mode = mode;
    options.on_note = [](const auto&) {};
    auto opened = storage::sqlite_journal::open(folder.path(), options);
    REQUIRE(opened);
    auto& journal = **opened;
    REQUIRE(journal.open_run(make_run("ses_1", "run_1")));
    for (std::uint64_t seq = 1; seq <= 10; ++seq) {
      const auto before = storage_syncs().of_log;
      REQUIRE_FALSE(
          store(journal, {{"run_1"}, make_block("run_1", seq, seq), {}}));
      CHECK((storage_syncs().of_log > before) == disk);
    }
    const auto before = storage_syncs().of_log;
    REQUIRE(journal.disown_run({"run_1"}));
    REQUIRE(journal.delete_session({"ses_1"}));
    // Else the copy that takes the deleted text away may sync it, later.
    if (disk) CHECK(storage_syncs().of_log > before);
    // Closing copies the log into the file.
  }
  CHECK(storage_syncs().of_log > 0);
  CHECK(storage_syncs().early_writes == 0);
}

TEST_CASE("a reader that does not end lets few commits wait, and is told") {
  constexpr int pages = 64;
  scratch_folder folder;
  std::vector<std::string> notes;
  storage::sqlite_options options;
  options.checkpoint_pages = pages;
  options.on_note = [&](const std::string& x) { notes.push_back(x); };
  auto made = storage::sqlite_journal::open(folder.path(), std::move(options));
  REQUIRE(made);
  auto& journal = **made;
  REQUIRE(journal.open_run(make_run("ses_1", "run_1")));
  sqlite3* reader = nullptr;
  REQUIRE(sqlite3_open((folder.path() / "riffle.db").c_str(), &reader) ==
          SQLITE_OK);
  REQUIRE(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM runs", nullptr,
                       nullptr, nullptr) == SQLITE_OK);
  const auto begin = std::chrono::steady_clock::now();
  // The first waits at 384 pages, which 50 bring; each would wait half a
  // second.
  for (std::uint64_t n = 1; n <= 200; ++n) put(journal, n);
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took < scaled(std::chrono::seconds{40}));
  CHECK(std::ranges::count_if(notes, [](const auto& x) {
          return x.find("does not end") != x.npos;
        }) == 1);
  sqlite3_close(reader);
}
