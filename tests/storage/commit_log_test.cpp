// SPDX-License-Identifier: MIT
// The log of commits: its rows, who finds them, how they are moved. What damage
// to them costs: log_damage_test.cpp.
#include "runtime/storage/commit_log.hpp"

#include <chrono>
#include <cstdlib>

#include "runtime/storage/block_rows.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
namespace fs = std::filesystem;

std::unique_ptr<storage::sqlite_journal> open_with(
    const fs::path& folder, std::uint64_t rows,
    std::uint64_t bytes = std::uint64_t{4} << 20) {
  storage::sqlite_options options;
  options.log_rows = rows;
  options.log_bytes = bytes;
  options.on_note = [](const std::string&) {};
  auto made = storage::sqlite_journal::open(folder, std::move(options));
  REQUIRE(made);
  return std::move(*made);
}

std::int64_t count(const fs::path& folder, const std::string& sql) {
  return storage::sqlite::database{folder / "riffle.db",
                                   std::chrono::seconds{1}}
      .integer("SELECT count(*) FROM " + sql);
}

std::string name_of(std::size_t i) { return "run_" + std::to_string(i); }

void open_runs(storage::journal& to, std::size_t runs) {
  for (std::size_t i = 1; i <= runs; ++i)
    REQUIRE(to.open_run(make_run("ses_" + std::to_string(i), name_of(i))));
}

/// Events `first` to `last` of each run, one event a unit, so that each
/// commit has a few of all.
void put(storage::journal& to, std::size_t runs, std::uint64_t first,
         std::uint64_t last, std::size_t size = 80) {
  for (auto seq = first; seq < last; ++seq)
    for (std::size_t i = 1; i <= runs; ++i)
      to.append({{name_of(i)}, make_block(name_of(i), seq, seq, size), {}},
                [](auto failure) {
                  if (failure) std::abort();
                });
  for (std::size_t i = 1; i <= runs; ++i)
    REQUIRE_FALSE(store(
        to, {{name_of(i)}, make_block(name_of(i), last, last, size), {}}));
}

void check_runs(storage::journal& from, std::size_t runs, std::uint64_t last,
                std::size_t size = 80) {
  for (std::size_t i = 1; i <= runs; ++i)
    for (const std::uint64_t after : {std::uint64_t{0}, last / 2, last})
      CHECK(read_all(from, name_of(i), after, 700).value() ==
            make_lines(name_of(i), after + 1, last, size));
}

/// The files as a kill would leave them now.
void copy_files(const fs::path& from, const fs::path& to) {
  for (const char* name : {"riffle.db", "riffle.db-wal"})
    fs::copy_file(from / name, to / name);
}

}  // namespace

TEST_CASE("a commit of many runs is one row, and each run finds its lines") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  open_runs(*journal, 3);
  put(*journal, 3, 1, 20);
  check_runs(*journal, 3, 20);
  CHECK(count(folder.path(), "blocks") == 0);
  CHECK(count(folder.path(), "commits") ==
        static_cast<std::int64_t>(journal->counts().commits));
}

TEST_CASE("another process finds what is in the log, as it grows and moves") {
  scratch_folder folder;
  const auto first = open_with(folder.path(), 7);
  const auto second = open_with(folder.path(), 1'000);
  open_runs(*first, 2);
  for (std::uint64_t seq = 1; seq < 60; seq += 3) {
    put(*first, 2, seq, seq + 2);
    check_runs(*second, 2, seq + 2);
    check_runs(*first, 2, seq + 2);
  }
  // Both write the one log.
  REQUIRE(second->open_run(make_run("ses_3", "run_3")));
  for (std::uint64_t seq = 1; seq <= 20; ++seq) {
    REQUIRE_FALSE(
        store(*second, {{"run_3"}, make_block("run_3", seq, seq), {}}));
    put(*first, 2, 60 + seq, 60 + seq);
  }
  check_runs(*first, 2, 80);
  CHECK(read_all(*first, "run_3").value() == make_lines("run_3", 1, 20));
}

TEST_CASE("what a killed process left in the log is found and goes on") {
  scratch_folder folder;
  scratch_folder killed;
  {
    const auto journal = open_store(folder.path());
    open_runs(*journal, 2);
    put(*journal, 2, 1, 30);
    const auto run = journal->load_run({"run_1"}).value();
    REQUIRE_FALSE(store(
        *journal, {{"run_1"},
                   {},
                   {make_message(run, "m"), make_call("run_1", "call_1")}}));
    copy_files(folder.path(), killed.path());
  }
  const auto journal = open_store(killed.path());
  check_runs(*journal, 2, 30);
  const auto adopted = journal->adopt_run({"run_1"});
  REQUIRE(adopted);
  CHECK(adopted->last_seq == 30);
  CHECK(adopted->session.messages.size() == 1);
  CHECK(adopted->session.calls.size() == 1);
  REQUIRE(journal->adopt_run({"run_2"}));
  put(*journal, 2, 31, 40);
  check_runs(*journal, 2, 40);
}

TEST_CASE("the log is moved when it is long, in rows or in bytes") {
  scratch_folder folder;
  const bool by_bytes = GENERATE(false, true);
  const auto journal = by_bytes ? open_with(folder.path(), 1'000'000, 20'000)
                                : open_with(folder.path(), 50);
  open_runs(*journal, 2);
  for (std::uint64_t seq = 1; seq <= 200; ++seq) put(*journal, 2, seq, seq);
  // After what was appended, so after the move that it caused.
  REQUIRE(journal->adopt_run({"run_1"}));
  const auto rows = count(folder.path(), "commits");
  CHECK(rows < (by_bytes ? 200 : 50));
  // In large pieces.
  CHECK(count(folder.path(), "blocks") >= 2);
  CHECK(count(folder.path(), "blocks") < 40);
  check_runs(*journal, 2, 200);
  CHECK(journal->adopt_run({"run_1"})->last_seq == 200);
}

TEST_CASE("at rest the log is empty and each run has its head") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    open_runs(*journal, 2);
    for (std::uint64_t seq = 1; seq <= 2000; ++seq) put(*journal, 2, seq, seq);
  }
  CHECK(count(folder.path(), "commits") == 0);
  CHECK(count(folder.path(), "heads WHERE last_seq = 2000") == 2);
  // Pieces of 64 KiB at most.
  CHECK(count(folder.path(), "blocks WHERE length(lines) > 65536") == 0);
  CHECK(count(folder.path(), "blocks") == 6);
  check_runs(*open_store(folder.path()), 2, 2000);
}

TEST_CASE("many lines of a run become rows of its own at once, in between") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  open_runs(*journal, 2);
  std::uint64_t seq = 0;
  const auto add = [&](std::uint64_t events, std::size_t size) {
    REQUIRE_FALSE(store(
        *journal,
        {{"run_1"}, make_block("run_1", seq + 1, seq + events, size), {}}));
    seq += events;
  };
  std::string wanted;
  for (int round = 0; round < 3; ++round) {
    add(2, 100);
    wanted += make_lines("run_1", seq - 1, seq, 100);
    add(90, 100);
    wanted += make_lines("run_1", seq - 89, seq, 100);
    add(1, 20'000);
    wanted += make_lines("run_1", seq, seq, 20'000);
  }
  CHECK(count(folder.path(), "blocks") == 6);
  CHECK(count(folder.path(), "commits WHERE length(lines) > 0") == 3);
  for (const std::size_t page : {1, 300, 50'000, 1'000'000})
    CHECK(read_all(*journal, "run_1", 0, page).value() == wanted);
  const auto page = journal->read_events({"run_1"}, 0, 1'000'000).value();
  CHECK(page.end);
  CHECK(page.blocks.size() == 9);
}

TEST_CASE("units of one run in one commit are joined, small and large") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  open_runs(*journal, 1);
  std::string wanted;
  std::uint64_t seq = 0;
  for (int i = 0; i < 300; ++i) {
    const std::size_t size = i % 7 == 3 ? 9'000 : i % 3 == 0 ? 2'000 : 90;
    ++seq;
    journal->append({{"run_1"}, make_block("run_1", seq, seq, size), {}},
                    [](auto failure) {
                      if (failure) std::abort();
                    });
    wanted += make_lines("run_1", seq, seq, size);
  }
  REQUIRE(journal->adopt_run({"run_1"})->last_seq == seq);
  CHECK(read_all(*journal, "run_1").value() == wanted);
}

TEST_CASE("a deleted session leaves no byte in rows that others share") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  open_runs(*journal, 3);
  put(*journal, 3, 1, 20);
  auto run = journal->load_run({"run_2"}).value();
  run.state = storage::run_state::completed;
  REQUIRE_FALSE(store(*journal, {run.id, {}, {run}}));
  const std::string with_run = " WHERE instr(lines, CAST('run_2' AS BLOB)) > 0";
  REQUIRE(count(folder.path(), "commits" + with_run) > 0);
  REQUIRE(journal->delete_session({"ses_2"}));
  CHECK(count(folder.path(), "commits" + with_run) == 0);
  CHECK(count(folder.path(), "blocks" + with_run) == 0);
  CHECK(count(folder.path(), "heads") == 2);
  for (const std::string name : {"run_1", "run_3"})
    CHECK(read_all(*journal, name).value() == make_lines(name, 1, 20));
  CHECK(journal->read_events({"run_2"}, 0, 1).error().code == errc::not_found);
  put(*journal, 1, 21, 22);
  check_runs(*journal, 1, 22);
}

TEST_CASE("the number of a deleted run can be given to a new one") {
  scratch_folder folder;
  auto first = open_store(folder.path());
  open_runs(*first, 1);
  put(*first, 1, 1, 9);
  const auto second = open_store(folder.path());
  check_runs(*second, 1, 9);
  first = nullptr;
  const auto third = open_store(folder.path());
  REQUIRE(third->delete_session({"ses_1"}));
  REQUIRE(third->open_run(make_run("ses_9", "run_9")));
  CHECK(read_all(*second, "run_9").value().empty());
  REQUIRE_FALSE(store(*third, {{"run_9"}, make_block("run_9", 1, 2), {}}));
  CHECK(read_all(*second, "run_9").value() == make_lines("run_9", 1, 2));
}

TEST_CASE("a file of version 4 is brought up to date where it lies") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    open_runs(*journal, 2);
    put(*journal, 2, 1, 50);
  }
  make_older(folder.path(), 4);
  const auto journal = open_store(folder.path());
  check_runs(*journal, 2, 50);
  REQUIRE(journal->adopt_run({"run_1"}));
  REQUIRE(journal->adopt_run({"run_2"}));
  put(*journal, 2, 51, 60);
  check_runs(*journal, 2, 60);
}

TEST_CASE("rows of runs say which commits brought them, in one order") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    open_runs(*journal, 2);
    for (std::uint64_t seq = 1; seq <= 5; ++seq) put(*journal, 2, seq, seq);
    REQUIRE_FALSE(
        store(*journal, {{"run_1"}, make_block("run_1", 6, 95, 100), {}}));
  }
  using shares = std::vector<storage::commit_share>;
  storage::sqlite::database db{folder.path() / "riffle.db",
                               std::chrono::seconds{1}};
  std::vector<shares> found;
  storage::sqlite::statement all{
      db, "SELECT key, commits FROM blocks ORDER BY key"};
  for (auto rows = all.query(); rows.next();)
    found.push_back(storage::shares_of(rows.integer(0), rows.bytes(1), "run"));
  CHECK(found == std::vector{shares{{1, 1}, {3, 1}, {5, 1}, {7, 1}, {9, 1}},
                             shares{{11, 90}},
                             shares{{2, 1}, {4, 1}, {6, 1}, {8, 1}, {10, 1}}});
  const auto text = storage::to_text(7, {{1, 1}, {300, 2}});
  CHECK(storage::shares_of(7, text, "run") == shares{{1, 1}, {300, 2}});
  CHECK_THROWS_AS(storage::shares_of(8, text, "run"), storage::damaged);
  CHECK_THROWS_AS(
      storage::shares_of(7, std::string_view{text}.substr(0, 5), "run"),
      storage::damaged);
}

TEST_CASE("an active run of many commits is read at once", "[torture]") {
  const std::uint64_t events =
      std::getenv("RIFFLE_TEST_FULL") != nullptr ? 100'000 : 20'000;
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  open_runs(*journal, 2);
  put(*journal, 2, 1, events, 200);
  const auto reader = open_store(folder.path());
  for (auto* from : {journal.get(), reader.get()}) {
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t seq = 0;
    for (bool end = false; !end;) {
      const auto page = from->read_events({"run_1"}, seq, 64 << 10).value();
      for (const auto& x : page.blocks) seq = x.last_seq;
      end = page.end;
    }
    CHECK(seq == events);
    CHECK(std::chrono::steady_clock::now() - begin <
          scaled(std::chrono::milliseconds{200}));
  }
}
