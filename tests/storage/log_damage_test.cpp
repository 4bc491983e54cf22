// SPDX-License-Identifier: MIT
// Damage to the log of commits is named, and costs the runs that may have had
// something in what is lost, nobody else.
#include <algorithm>

#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
namespace fs = std::filesystem;

/// Row 1 has run 3, which ends; row 2 an event of run 1, row 3 one of run 2,
/// and so on, three of each. Run 4 has begun and has none.
void make_log(storage::journal& to) {
  for (const std::string n : {"1", "2", "3", "4"})
    REQUIRE(to.open_run(make_run("ses_" + n, "run_" + n)));
  auto ended = to.load_run({"run_3"}).value();
  ended.state = storage::run_state::completed;
  REQUIRE_FALSE(
      store(to, {ended.id, make_block("run_3", 1, 100, 100), {ended}}));
  for (std::uint64_t seq = 1; seq <= 3; ++seq)
    for (const std::string n : {"1", "2"})
      REQUIRE_FALSE(
          store(to, {{"run_" + n}, make_block("run_" + n, seq, seq), {}}));
}

void copy_as_killed(const fs::path& from, const fs::path& to) {
  for (const char* name : {"riffle.db", "riffle.db-wal"})
    fs::copy_file(from / name, to / name);
}

template <class T>
bool is_corrupt(const expected<T>& x) {
  return !x && x.error().code == errc::storage_corrupt;
}

/// Runs of which events are lost, and runs whose end is.
struct damaged_runs {
  std::vector<std::string> lines;
  std::vector<std::string> ends;
};

bool is_among(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

void check_damaged(storage::journal& j, const damaged_runs& which) {
  for (const std::string n : {"1", "2", "3", "4"}) {
    CAPTURE(n);
    const bool end = is_among(which.ends, n);
    const auto lines = read_all(j, "run_" + n);
    CHECK(is_corrupt(lines) == (end || is_among(which.lines, n)));
    if (lines)
      CHECK(*lines == (n == "3"   ? make_lines("run_3", 1, 100, 100)
                       : n == "4" ? ""
                                  : make_lines("run_" + n, 1, 3)));
    const auto whole = j.load_session({"ses_" + n});
    CHECK(is_corrupt(whole) == end);
    if (!whole)
      CHECK(whole.error().message.find("the log of commits") !=
            std::string::npos);
  }
  CHECK(j.list_sessions(9)->size() >= 4);
}

/// What is whole goes on, `before` times until now.
void check_life(storage::journal& j, const damaged_runs& which,
                const std::string& name, std::uint64_t before) {
  REQUIRE(j.open_run(make_run("ses_" + name, name)));
  REQUIRE_FALSE(store(j, {{name}, make_block(name, 1, 2), {}}));
  CHECK(read_all(j, name).value() == make_lines(name, 1, 2));
  for (const std::string n : {"1", "2", "4"}) {
    const auto adopted = j.adopt_run({"run_" + n});
    CHECK(is_corrupt(adopted) == is_among(which.ends, n));
    if (!adopted) continue;
    const auto next = adopted->last_seq + 1;
    CHECK(next == (n == "4" ? 1 : 4) + before);
    REQUIRE_FALSE(
        store(j, {{"run_" + n}, make_block("run_" + n, next, next), {}}));
    REQUIRE(j.disown_run({"run_" + n}));
  }
}

struct log_damage {
  const char* what;
  const char* sql;
  damaged_runs costs;
};

const damaged_runs all_ends{{}, {"1", "2", "4"}};

const std::vector<log_damage> log_damages{
    {"the last row is lost",
     "DELETE FROM commits WHERE n = (SELECT max(n) FROM commits)", all_ends},
    {"all rows are lost", "DELETE FROM commits", all_ends},
    {"the first row is lost", "DELETE FROM commits WHERE n = 1", {{}, {"4"}}},
    {"a row in between is lost",
     "DELETE FROM commits WHERE n = 3",
     {{"2"}, {"4"}}},
    {"a row too many, of no commit",
     "INSERT INTO commits VALUES(99, 0, x'', x'')",
     {}},
    {"rows change places",
     "UPDATE commits SET n = n + 1000 WHERE n IN (3, 5); "
     "UPDATE commits SET n = 3 WHERE n = 1005; "
     "UPDATE commits SET n = 5 WHERE n = 1003",
     {{"2"}, {"4"}}},
    {"another directory",
     "UPDATE commits SET directory = x'' WHERE n = 4",
     {{"1"}, {"4"}}},
    {"another directory, behind which only one run goes on",
     "UPDATE commits SET directory = x'' WHERE n = 6",
     {{"1"}, {"1", "4"}}},
    {"no extent", "DELETE FROM log", all_ends},
    {"another extent", "UPDATE log SET last = last - 1", all_ends},
    {"another extent, without the last row",
     "DELETE FROM commits WHERE n = (SELECT last FROM log); "
     "UPDATE log SET last = last - 1",
     all_ends},
    {"other lines",
     "UPDATE commits SET lines = replace(lines, 'run_1', 'run_8')",
     {{"1"}, {}}},
    {"fewer lines",
     "UPDATE commits SET lines = x'' WHERE instr(lines, CAST('run_1' AS "
     "BLOB)) > 0",
     {{"1"}, {}}},
};

bool rows_are_within_extent(const fs::path& folder) {
  return storage::sqlite::database{folder / "riffle.db",
                                   std::chrono::seconds{1}}
             .integer(
                 "SELECT count(*) FROM commits WHERE n NOT BETWEEN (SELECT "
                 "first FROM log) AND (SELECT last FROM log)") == 0;
}

}  // namespace

TEST_CASE("damage to the log of commits costs what may have been in it") {
  const auto& damage = GENERATE(from_range(log_damages));
  CAPTURE(damage.what);
  scratch_folder source;
  scratch_folder folder;
  const auto origin = open_store(source.path());
  make_log(*origin);
  copy_as_killed(source.path(), folder.path());
  change_file(folder.path(), damage.sql);
  {
    // Another process that lives: this one finds the log as it is.
    const auto other = storage::owner_lock::create(folder.path() / "owners");
    REQUIRE(other);
    const auto journal = open_store(folder.path());
    check_damaged(*journal, damage.costs);
    check_life(*journal, damage.costs, "run_5", 0);
  }
  std::vector<std::string> notes;
  {
    const auto journal = open_store(folder.path(), &notes);
    check_life(*journal, damage.costs, "run_6", 1);
    CHECK(read_all(*journal, "run_5").value() == make_lines("run_5", 1, 2));
    CHECK(is_corrupt(read_all(*journal, "run_1")) ==
          (is_among(damage.costs.ends, "1") ||
           is_among(damage.costs.lines, "1")));
    CHECK(rows_are_within_extent(folder.path()));
  }
  const auto journal = open_store(folder.path(), &notes);
  CHECK(notes.empty());  // nothing new
  for (const std::string n : {"1", "2", "3", "4"})
    CHECK(journal->delete_session({"ses_" + n}));
  for (const std::string n : {"run_5", "run_6"})
    CHECK(journal->delete_session({"ses_" + n}));
  CHECK(journal->list_sessions(9)->empty());
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
}

TEST_CASE(
    "a damaged log is settled when a process opens it, and that is told") {
  scratch_folder source;
  scratch_folder folder;
  const auto origin = open_store(source.path());
  make_log(*origin);
  copy_as_killed(source.path(), folder.path());
  change_file(folder.path(),
              "UPDATE commits SET directory = CAST(x'ff' || substr(directory, "
              "2) AS BLOB) WHERE n = 7");
  std::vector<std::string> notes;
  const auto journal = open_store(folder.path(), &notes);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("has a row 7 whose directory fails its checksum") !=
        std::string::npos);
  CHECK(notes[0].ends_with("run_1, run_2, run_4"));
  check_damaged(*journal, {{}, {"1", "2", "4"}});
  // A number is not given twice.
  const auto end = journal->end_of_feed().value();
  REQUIRE(journal->open_run(make_run("ses_5", "run_5")));
  REQUIRE_FALSE(store(*journal, {{"run_5"}, make_block("run_5", 1, 1), {}}));
  CHECK(journal->read_feed(end, 1)->entries.size() == 1);
  CHECK(journal->start_in_feed({"run_5"})->commit == 8);
}

TEST_CASE("a process that writes goes on where its log is damaged") {
  scratch_folder folder;
  storage::feed_place end;
  {
    std::vector<std::string> notes;
    const auto journal = open_store(folder.path(), &notes);
    make_log(*journal);
    const auto other = open_store(folder.path());
    REQUIRE(other->open_run(make_run("ses_9", "run_9")));
    REQUIRE_FALSE(store(*other, {{"run_9"}, make_block("run_9", 1, 2), {}}));
    SECTION("a directory") {
      change_file(folder.path(),
                  "UPDATE commits SET directory = x'00' WHERE n IN (7, 8)");
    }
    SECTION("the extent") { change_file(folder.path(), "DELETE FROM log"); }
    SECTION("the extent has another number") {
      change_file(folder.path(), "UPDATE log SET last = last + 1000");
    }
    // Both, and a run that begins.
    for (std::uint64_t seq = 4; seq <= 6; ++seq) {
      REQUIRE_FALSE(
          store(*journal, {{"run_1"}, make_block("run_1", seq, seq), {}}));
      REQUIRE_FALSE(store(
          *other, {{"run_9"}, make_block("run_9", seq - 1, seq - 1), {}}));
      const auto name = "run_new" + std::to_string(seq);
      REQUIRE(journal->open_run(make_run("ses_" + name, name)));
      REQUIRE_FALSE(store(*journal, {{name}, make_block(name, 1, 1), {}}));
      CHECK(read_all(*journal, name).value() == make_lines(name, 1, 1));
    }
    CHECK(read_all(*journal, "run_1").value() == make_lines("run_1", 1, 6));
    // It was written here: its end is known, what was in row 7 is not.
    REQUIRE_FALSE(store(*journal, {{"run_2"}, make_block("run_2", 4, 5), {}}));
    CHECK(journal->load_session({"ses_2"}));
    CHECK(other->load_session({"ses_9"}));
    CHECK(journal->delete_session({"ses_3"}));
    end = journal->end_of_feed().value();
  }
  const auto journal = open_store(folder.path());
  CHECK(journal->end_of_feed().value() >= end);
  CHECK(read_all(*journal, "run_1").value() == make_lines("run_1", 1, 6));
  CHECK(read_all(*journal, "run_new6").value() == make_lines("run_new6", 1, 1));
  CHECK(journal->load_session({"ses_9"}));
  CHECK(journal->adopt_run({"run_9"})->last_seq == 5);
}

TEST_CASE("damage of one run does not end the writing of others") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  for (const std::string n : {"1", "2"})
    REQUIRE(journal->open_run(make_run("ses_" + n, "run_" + n)));
  change_file(folder.path(), "UPDATE heads SET crc = crc + 1 WHERE n = 1");
  const auto why = store(*journal, {{"run_1"}, make_block("run_1", 1, 1), {}});
  REQUIRE(why);
  CHECK(why->code == errc::storage_corrupt);
  CHECK(store(*journal, {{"run_1"}, make_block("run_1", 2, 2), {}}));
  REQUIRE_FALSE(store(*journal, {{"run_2"}, make_block("run_2", 1, 1), {}}));
  CHECK(journal->open_run(make_run("ses_3", "run_3")));
  CHECK(journal->unfinished_runs(9)->back().suspended);
}
