// SPDX-License-Identifier: MIT
// What only the journal over SQLite has: files, owners, other processes.
#include <chrono>
#include <fstream>
#include <sqlite3.h>
#include <sys/stat.h>
#include <thread>

#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;
namespace fs = std::filesystem;

std::size_t owners_in(const fs::path& folder) {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& x :
       fs::directory_iterator{folder / "owners"})
    ++n;
  return n;
}

error open_error(const fs::path& folder) {
  const auto opened = open_sqlite_journal(folder, durability::process);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find(folder.string()) != std::string::npos);
  return opened.error();
}

}  // namespace

TEST_CASE("data_dir is made for its user alone, with its parents") {
  scratch_folder folder;
  const auto data_dir = folder.path() / "a" / "b/";
  const auto journal = open_sqlite_journal(data_dir, durability::disk);
  REQUIRE(journal);
  struct stat status{};
  REQUIRE(::stat(data_dir.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  CHECK(fs::exists(data_dir / "riffle.db"));
}

TEST_CASE("a data_dir that cannot be made is an error that names it") {
  scratch_folder folder;
  std::ofstream{folder.path() / "file"} << "x";
  CHECK(open_error(folder.path() / "file").code == errc::storage_unavailable);
  CHECK(open_error(folder.path() / "file/x").code == errc::storage_unavailable);
}

TEST_CASE("everything is there after a restart") {
  scratch_folder folder;
  auto run = make_run("ses_1", "run_1");
  {
    const auto journal = open_store(folder.path());
    run = journal->open_run(run)->run;
    REQUIRE_FALSE(store(
        *journal, {{"run_1"},
                   make_block("run_1", 1, 500),
                   {make_message(run, "x"), make_call("run_1", "call_1")}}));
  }
  CHECK_FALSE(fs::exists(folder.path() / "riffle.db-wal"));
  const auto journal = open_store(folder.path());
  const auto adopted = journal->adopt_run({"run_1"});
  REQUIRE(adopted);
  CHECK(adopted->run == run);
  CHECK(adopted->last_seq == 500);
  CHECK(adopted->session.messages == std::vector{make_message(run, "x")});
  CHECK(adopted->session.calls == std::vector{make_call("run_1", "call_1")});
  // The known calls keep their places.
  auto call = make_call("run_1", "call_1");
  call.stage = call_stage::running;
  REQUIRE_FALSE(
      store(*journal, {{"run_1"}, make_block("run_1", 501, 501), {call}}));
  CHECK(journal->load_session({"ses_1"})->calls == std::vector{call});
  CHECK(read_all(*journal, "run_1", 0, 3000).value() ==
        make_lines("run_1", 1, 501));
}

TEST_CASE("an appended unit is stored before the journal ends") {
  scratch_folder folder;
  std::vector<std::uint64_t> done;
  {
    const auto journal = open_store(folder.path());
    REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
    for (std::uint64_t seq = 1; seq <= 100; ++seq)
      journal->append({{"run_1"}, make_block("run_1", seq, seq), {}},
                      [&done, seq](auto failure) {
                        if (!failure) done.push_back(seq);
                      });
  }
  CHECK(done.size() == 100);
  CHECK(read_all(*open_store(folder.path()), "run_1").value() ==
        make_lines("run_1", 1, 100));
}

TEST_CASE("a run of a living process cannot be taken, one of a dead can") {
  scratch_folder folder;
  auto first = open_store(folder.path());
  const auto second = open_store(folder.path());
  REQUIRE(first->open_run(make_run("ses_1", "run_1")));

  const auto taken = second->adopt_run({"run_1"});
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == errc::session_busy);
  CHECK(taken.error().message.find("run_1") != std::string::npos);
  CHECK(taken.error().message.find("process ") != std::string::npos);
  const auto opened = second->open_run(make_run("ses_1", "run_2"));
  CHECK(opened.error().code == errc::session_busy);
  CHECK(store(*second, {{"run_1"}, make_block("run_1", 1, 1), {}})->code ==
        errc::storage_corrupt);

  first = nullptr;
  const auto third = open_store(folder.path());
  const auto still = third->open_run(make_run("ses_1", "run_2"));
  CHECK(still.error().code == errc::session_busy);
  CHECK(still.error().message.find("resume") != std::string::npos);
  CHECK(third->adopt_run({"run_1"}));
}

TEST_CASE("of many that adopt at once one gets the run") {
  scratch_folder folder;
  REQUIRE(open_store(folder.path())->open_run(make_run("ses_1", "run_1")));
  std::vector<std::unique_ptr<sqlite_journal>> processes;
  for (int i = 0; i < 4; ++i) processes.push_back(open_store(folder.path()));
  std::atomic<int> winners{0};
  std::atomic<int> busy{0};
  std::vector<std::thread> threads;
  for (auto& journal : processes)
    threads.emplace_back([&] {
      const auto adopted = journal->adopt_run({"run_1"});
      if (adopted)
        ++winners;
      else if (adopted.error().code == errc::session_busy)
        ++busy;
    });
  for (auto& thread : threads) thread.join();
  CHECK(winners == 1);
  CHECK(busy == 3);
}

TEST_CASE("several journals write one file at the same time") {
  scratch_folder folder;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      const auto name = "run_" + std::to_string(t);
      const auto journal = open_store(folder.path());
      if (!journal->open_run(make_run("ses_" + name, name))) ++failures;
      for (std::uint64_t seq = 1; seq <= 50; ++seq)
        if (store(*journal, {{name}, make_block(name, seq, seq), {}}))
          ++failures;
      if (read_all(*journal, name).value() != make_lines(name, 1, 50))
        ++failures;
    });
  for (auto& thread : threads) thread.join();
  CHECK(failures == 0);
}

TEST_CASE("a lock that another process holds for too long is an error") {
  scratch_folder folder;
  sqlite_options options;
  options.timeout = std::chrono::milliseconds{50};
  const auto journal =
      sqlite_journal::open(folder.path(), options).value().release();
  const std::unique_ptr<sqlite_journal> owner{journal};
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open((folder.path() / "riffle.db").c_str(), &other) ==
          SQLITE_OK);
  REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) ==
          SQLITE_OK);
  const auto busy = journal->open_run(make_run("ses_1", "run_1"));
  REQUIRE_FALSE(busy);
  CHECK(busy.error().code == errc::storage_unavailable);
  CHECK(busy.error().retryable);
  CHECK(busy.error().message.find("another process") != std::string::npos);
  sqlite3_close(other);
  CHECK(journal->open_run(make_run("ses_1", "run_1")));
}

TEST_CASE("marks of dead owners are swept, those of the living stay") {
  scratch_folder folder;
  const auto first = open_store(folder.path());
  for (const char* name : {"own_dead1", "own_dead2"})
    std::ofstream{folder.path() / "owners" / name} << "1\n";
  CHECK(owners_in(folder.path()) == 3);
  {
    const auto second = open_store(folder.path());
    CHECK(owners_in(folder.path()) == 2);
  }
  CHECK(owners_in(folder.path()) == 1);
}

TEST_CASE("a newer file is refused with what to do") {
  scratch_folder folder;
  open_store(folder.path());
  change_file(folder.path(), "PRAGMA user_version = 99");
  const auto refused = open_error(folder.path());
  CHECK(refused.code == errc::storage_unavailable);
  CHECK(refused.message.find("newer") != std::string::npos);
}

TEST_CASE("another program's database is refused") {
  scratch_folder folder;
  change_file(folder.path(), "CREATE TABLE theirs(x)");
  CHECK(open_error(folder.path()).code == errc::storage_corrupt);
}

TEST_CASE("a row that vanished or moved is damage") {
  scratch_folder folder;
  // So long that each becomes a row of its own.
  constexpr std::size_t size = 9000;
  {
    const auto journal = open_store(folder.path());
    for (const std::string name : {"run_1", "run_2"}) {
      const auto run = journal->open_run(make_run("ses_" + name, name))->run;
      for (std::uint64_t seq = 1; seq <= 3; ++seq)
        REQUIRE_FALSE(store(
            *journal, {run.id,
                       make_block(name, seq, seq, size),
                       {make_message(run, name),
                        make_call(name, "call_" + std::to_string(seq) + name),
                        output_record{{"call_" + name}, "text"}}}));
    }
  }
  bool log = false;
  bool session = false;
  bool record = false;
  bool output = false;
  SECTION("the last block") {
    change_file(folder.path(), "DELETE FROM blocks WHERE key = (1 << 40) + 3");
    log = true;
  }
  SECTION("a block in the middle") {
    change_file(folder.path(), "DELETE FROM blocks WHERE key = (1 << 40) + 2");
    log = true;
  }
  SECTION("a block with other lines") {
    change_file(folder.path(),
                "UPDATE blocks SET lines = 'x' WHERE key "
                "= (1 << 40) + 2");
    log = true;
  }
  SECTION("the last message") {
    change_file(folder.path(),
                "DELETE FROM messages WHERE key = (1 << 32) + 3");
    session = true;
  }
  SECTION("a call") {
    change_file(folder.path(), "DELETE FROM calls WHERE key = (1 << 32) + 1");
    session = true;
  }
  SECTION("the head") {
    change_file(folder.path(), "DELETE FROM heads WHERE n = 1");
    session = log = true;
  }
  SECTION("an older head") {
    change_file(folder.path(), "UPDATE heads SET last_seq = 2 WHERE n = 1");
    session = log = true;
  }
  SECTION("the record") {
    change_file(folder.path(), "UPDATE runs SET owner = 'x' WHERE n = 1");
    session = log = record = true;
  }
  SECTION("an output") {
    change_file(folder.path(),
                "UPDATE outputs SET text = 'x' WHERE id = 'call_run_1'");
    output = true;
  }
  const auto journal = open_store(folder.path());
  const auto bad = [](const auto& x) {
    return !x && x.error().code == errc::storage_corrupt;
  };
  CHECK(bad(read_all(*journal, "run_1")) == log);
  CHECK(bad(journal->load_session({"ses_run_1"})) == session);
  CHECK(bad(journal->load_run({"run_1"})) == record);
  CHECK(bad(journal->load_output({"call_run_1"})) == output);
  CHECK(bad(journal->adopt_run({"run_1"})) == session);
  CHECK(journal->adopt_run({"run_2"}));
  CHECK(read_all(*journal, "run_2").value() == make_lines("run_2", 1, 3, size));
  CHECK(journal->load_output({"call_run_2"}).value() == "text");
  CHECK(journal->list_sessions(9)->size() == 2);
}

TEST_CASE("units that wait form groups, and the counts say so") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
  for (std::uint64_t seq = 1; seq <= 500; ++seq)
    journal->append({{"run_1"}, make_block("run_1", seq, seq), {}},
                    [](auto) {});
  REQUIRE(journal->adopt_run({"run_1"})->last_seq == 500);
  const auto counts = journal->counts();
  CHECK(counts.units == 500);
  CHECK(counts.commits >= 1);
  CHECK(counts.commits < 500);
  CHECK(counts.waiting_units == 0);
  CHECK(counts.waiting_bytes == 0);
  CHECK(counts.most_waiting_bytes > 0);
}
