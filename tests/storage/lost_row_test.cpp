// SPDX-License-Identifier: MIT
// An entry of an index that leads to no row costs no other session, and what is
// left can be deleted. Nor is a log that was taken away written on.
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sqlite3.h>

#include "runtime/base/locked_files.hpp"
#include "runtime/storage/read_only_journal.hpp"
#include "runtime/storage/readable_session.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

/// Lets the entries of row 2 lead to row 99, which is not there; `columns`: of
/// the index, without the row's number.
void mislead(const std::filesystem::path& folder, const std::string& index,
             const std::string& columns) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open((folder / "riffle.db").c_str(), &db) == SQLITE_OK);
  int root = 0;
  const auto read = [](void* to, int, char** row, char**) {
    *static_cast<int*>(to) = std::stoi(row[0]);
    return 0;
  };
  const auto which =
      "SELECT rootpage FROM sqlite_schema WHERE name = '" + index + "'";
  REQUIRE(sqlite3_exec(db, which.c_str(), read, &root, nullptr) == SQLITE_OK);
  REQUIRE(root > 0);
  // See "imposter tables" in SQLite's documentation.
  sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, db, "main", 1, root);
  const auto make = "CREATE TABLE imposter(" + columns + ", n, PRIMARY KEY(" +
                    columns + ", n)) WITHOUT ROWID";
  REQUIRE(sqlite3_exec(db, make.c_str(), nullptr, nullptr, nullptr) ==
          SQLITE_OK);
  sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, db, "main", 0, 0);
  REQUIRE(sqlite3_exec(db, "UPDATE imposter SET n = 99 WHERE n = 2", nullptr,
                       nullptr, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_changes(db) == 1);
  sqlite3_close(db);
}

/// The only place with these bytes.
void change_bytes(const std::filesystem::path& file, const std::string& from,
                  const std::string& to) {
  std::ifstream in{file, std::ios::binary};
  std::string all{std::istreambuf_iterator<char>{in}, {}};
  const auto at = all.find(from);
  REQUIRE(at != all.npos);
  REQUIRE(all.find(from, at + 1) == all.npos);
  all.replace(at, to.size(), to);
  std::ofstream{file, std::ios::binary} << all;
}

struct lost_index {
  const char* name;
  const char* columns;
};

}  // namespace

TEST_CASE("an index that leads nowhere hides no other session") {
  const auto lost = GENERATE(lost_index{"runs_first", "a"},
                             lost_index{"runs_by_session", "a, b"},
                             lost_index{"runs_by_session_again", "a, b"},
                             lost_index{"runs_active", "a"});
  CAPTURE(lost.name);
  const scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    for (const std::string name : {"1", "2", "3"})
      REQUIRE(journal->open_run(make_run("ses_" + name, "run_" + name)));
  }
  mislead(folder.path(), lost.name, lost.columns);
  const auto journal = open_store(folder.path());
  const auto all = journal->list_sessions(10);
  REQUIRE(all);
  CHECK(*all == std::vector<session_id>{{"ses_3"}, {"ses_2"}, {"ses_1"}});
  const auto open = journal->unfinished_runs(10);
  REQUIRE(open);
  CHECK(open->size() == 3);
  for (const std::string name : {"1", "3"})
    CHECK(journal->load_session({"ses_" + name}));
  REQUIRE(journal->open_run(make_run("ses_4", "run_4")));
  CHECK(storage::load_readable(*journal, {"ses_2"}));
  REQUIRE(journal->delete_session({"ses_2"}));
  CHECK(journal->list_sessions(10)->size() == 3);
  CHECK(journal->load_session({"ses_2"}).error().code == errc::not_found);
}

TEST_CASE("nothing else of the process opens the files that hold its locks") {
  const scratch_folder folder;
  const auto journal = open_store(folder.path());
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
  for (const auto* name : {"riffle.db", "riffle.db-shm"}) {
    errno = 0;
    CHECK_FALSE(open_unlocked((folder.path() / name).string(), O_RDONLY));
    CHECK(errno == EBUSY);
  }
}

TEST_CASE("a log or a database that was taken away or cut is not written on") {
  const scratch_folder folder;
  const auto journal = open_store(folder.path());
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
  REQUIRE_FALSE(store(*journal, {{"run_1"}, make_block("run_1", 1, 2), {}}));
  const auto wal = folder.path() / "riffle.db-wal";
  SECTION("it is gone") { REQUIRE(std::filesystem::remove(wal)); }
  SECTION("another one stands in its place") {
    std::filesystem::rename(wal, folder.path() / "old");
    std::filesystem::copy_file(folder.path() / "old", wal);
  }
  SECTION("it was emptied") { std::filesystem::resize_file(wal, 0); }
  SECTION("it was cut") {
    std::filesystem::resize_file(wal, std::filesystem::file_size(wal) - 4096);
  }
  SECTION("the database is gone") {
    REQUIRE(std::filesystem::remove(folder.path() / "riffle.db"));
  }
  SECTION("another one stands in the place of the database") {
    const auto file = folder.path() / "riffle.db";
    std::filesystem::rename(file, folder.path() / "old");
    std::filesystem::copy_file(folder.path() / "old", file);
  }
  for (int i = 0; i < 2; ++i) {
    const auto why =
        store(*journal, {{"run_1"}, make_block("run_1", 3, 4), {}});
    REQUIRE(why);
    CHECK(why->code == errc::storage_corrupt);
  }
}

TEST_CASE("a log whose file is missing is kept") {
  const scratch_folder folder;
  const auto kept = folder.path() / "kept";
  {
    const auto journal = open_store(folder.path());
    REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
    REQUIRE_FALSE(store(*journal, {{"run_1"}, make_block("run_1", 1, 2), {}}));
    std::filesystem::create_directory(kept);
    // As a kill leaves them.
    for (const auto* name : {"riffle.db", "riffle.db-wal"})
      std::filesystem::copy_file(folder.path() / name, kept / name);
  }
  const auto log = std::filesystem::file_size(kept / "riffle.db-wal");
  const bool is_empty = GENERATE(false, true);
  std::filesystem::rename(kept / "riffle.db", folder.path() / "away");
  if (is_empty) std::ofstream{kept / "riffle.db"};
  const auto refused = storage::sqlite_journal::open(kept, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::storage_unavailable);
  CHECK(refused.error().message.find("put it back") != std::string::npos);
  CHECK(std::filesystem::file_size(kept / "riffle.db-wal") == log);
  const auto looked = storage::open_read_only_journal(kept);
  REQUIRE_FALSE(looked);
  CHECK(looked.error().message == refused.error().message);
  std::filesystem::rename(folder.path() / "away", kept / "riffle.db");
  const auto journal = open_store(kept);
  CHECK(journal->adopt_run({"run_1"})->last_seq == 2);
}

TEST_CASE("a damaged index is made anew for a run that begins") {
  const scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    for (const std::string name : {"1", "2"})
      REQUIRE(journal->open_run(make_run("ses_" + name, "run_" + name)));
  }
  mislead(folder.path(), "runs_by_id", "a");
  std::vector<std::string> notes;
  const auto journal = open_store(folder.path(), &notes);
  // It looks for its own id, which is not there yet, and for run 2.
  REQUIRE(journal->adopt_run({"run_2"}));
  REQUIRE(journal->open_run(make_run("ses_3", "run_3")));
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("made anew") != std::string::npos);
}

TEST_CASE("a run whose session's name is damaged goes with its session") {
  const scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    auto run = journal->open_run(make_run("ses_1", "run_1"))->run;
    run.state = storage::run_state::completed;
    REQUIRE_FALSE(store(*journal, {{"run_1"}, {}, {run}}));
    REQUIRE(journal->open_run(make_run("ses_1", "run_2")));
  }
  // In the row alone: its index has the old name, as after a flipped bit.
  change_bytes(folder.path() / "riffle.db", "run_1ses_1", "run_1ses_X");
  const auto journal = open_store(folder.path());
  REQUIRE(journal->delete_session({"ses_1"}));
  CHECK(journal->list_sessions(10)->empty());
  CHECK(journal->list_runs({})->empty());
}

TEST_CASE("a session whose name is damaged is listed as its record names it") {
  const scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    for (const std::string name : {"1", "2", "3"})
      REQUIRE(journal->open_run(make_run("ses_" + name, "run_" + name)));
  }
  const std::string name = GENERATE("'ses_X'", "NULL", "'a' || char(0)");
  change_file(folder.path(),
              "UPDATE runs SET session = " + name + " WHERE n = 2");
  const auto journal = open_store(folder.path());
  const auto all = journal->list_sessions(10);
  REQUIRE(all);
  CHECK(*all == std::vector<session_id>{{"ses_3"}, {"ses_2"}, {"ses_1"}});
  CHECK(storage::load_readable(*journal, {"ses_2"}));
  REQUIRE(journal->delete_session({"ses_2"}));
  CHECK(journal->list_sessions(10)->size() == 2);
}
