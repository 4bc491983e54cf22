// SPDX-License-Identifier: MIT
// Lists of runs, and the order of all runs' events.
#include <map>
#include <random>

#include "tests/storage/journal_kinds.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;

namespace {

std::vector<std::string> ids_of(const expected<std::vector<run_record>>& x) {
  REQUIRE(x);
  std::vector<std::string> out;
  for (const auto& run : *x) out.push_back(run.id.value);
  return out;
}

using names = std::vector<std::string>;

/// All of it behind a place, in pages; each entry goes on where its run's last
/// one ended.
std::map<std::string, std::string> read_feed(journal& j, feed_place at,
                                             std::size_t bytes) {
  std::map<std::string, std::string> lines;
  std::map<std::string, std::uint64_t> last;
  feed_place before = at;
  for (int pages = 0; pages < 10'000; ++pages) {
    const auto page = j.read_feed(at, bytes);
    REQUIRE(page);
    for (const auto& x : page->entries) {
      CHECK(before < x.first);
      before = {x.first.commit, x.first.run, x.block.last_seq};
      auto& seq = last[x.run.value];
      if (seq != 0) CHECK(x.block.first_seq == seq + 1);
      seq = x.block.last_seq;
      lines[x.run.value] += *x.block.lines;
    }
    at = page->next;
    if (page->end) return lines;
  }
  FAIL("the feed does not end");
  return {};
}

}  // namespace

TEMPLATE_TEST_CASE(
    "runs are listed from the newest, by state, session and "
    "place",
    "", EVERY_JOURNAL) {
  TestType kind;
  CHECK(ids_of(kind.j->list_runs({})).empty());
  for (const std::string name : {"1", "2", "3"})
    REQUIRE(kind.j->open_run(make_run("ses_" + name, "run_" + name)));
  auto run = kind.j->load_run({"run_2"}).value();
  run.state = run_state::completed;
  REQUIRE_FALSE(kind.put({run.id, {}, {run}}));
  REQUIRE(kind.j->open_run(make_run("ses_2", "run_4")));
  CHECK(ids_of(kind.j->list_runs({})) ==
        names{"run_4", "run_3", "run_2", "run_1"});
  run_filter of;
  of.limit = 2;
  CHECK(ids_of(kind.j->list_runs(of)) == names{"run_4", "run_3"});
  of.before = run_id{"run_3"};
  CHECK(ids_of(kind.j->list_runs(of)) == names{"run_2", "run_1"});
  of.state = run_state::active;
  CHECK(ids_of(kind.j->list_runs(of)) == names{"run_1"});
  of.state = run_state::completed;
  of.before.reset();
  CHECK(ids_of(kind.j->list_runs(of)) == names{"run_2"});
  of.state.reset();
  of.session = session_id{"ses_2"};
  CHECK(ids_of(kind.j->list_runs(of)) == names{"run_4", "run_2"});
  of.before = run_id{"run_4"};
  CHECK(ids_of(kind.j->list_runs(of)) == names{"run_2"});
  of.before = run_id{"none"};
  CHECK(kind.j->list_runs(of).error().code == errc::not_found);
}

TEMPLATE_TEST_CASE("the order of all runs has each event once", "",
                   EVERY_JOURNAL) {
  TestType kind;
  std::mt19937_64 random{fresh_seed()};
  std::map<std::string, std::uint64_t> last;
  std::vector<feed_place> ends{kind.j->end_of_feed().value()};
  for (int n = 1; n <= 5; ++n) {
    const auto name = "run_" + std::to_string(n);
    REQUIRE(kind.j->open_run(make_run("ses_" + name, name)));
    last[name] = 0;
  }
  for (int round = 0; round < 60; ++round) {
    for (auto& [name, seq] : last) {
      if (random() % 3 == 0) continue;
      const auto count = random() % 40 == 0 ? 300 : 1 + random() % 4;
      REQUIRE_FALSE(kind.put(log_unit(name, seq + 1, seq + count)));
      seq += count;
    }
    ends.push_back(kind.j->end_of_feed().value());
  }
  for (const auto bytes : {1UL, 500UL, 1UL << 20}) {
    const auto all = read_feed(*kind.j, {}, bytes);
    for (const auto& [name, seq] : last)
      CHECK(all.at(name) == make_lines(name, 1, seq));
  }
  // From any place on, nothing before it and all behind it.
  for (std::size_t i = 0; i + 1 < ends.size(); i += 7) {
    const auto rest = read_feed(*kind.j, ends[i], 1U << 16);
    for (const auto& [name, lines] : rest)
      CHECK(make_lines(name, 1, last[name]).ends_with(lines));
  }
  // Whoever has read all stands at its end, also by the place of the last
  // event: else it would look as if there were more.
  auto at = feed_place{};
  auto last_event = at;
  for (bool end = false; !end;) {
    const auto page = kind.j->read_feed(at, 500).value();
    for (const auto& x : page.entries)
      last_event = {x.first.commit, x.first.run, x.block.last_seq};
    at = page.next;
    end = page.end;
  }
  CHECK(at == ends.back());
  const auto behind = kind.j->read_feed(last_event, 1).value();
  CHECK(behind.entries.empty());
  CHECK(behind.end);
  CHECK(behind.next == ends.back());
  const auto none = kind.j->read_feed(ends.back(), 1000).value();
  CHECK(none.entries.empty());
  CHECK(none.end);
  CHECK(kind.j->read_feed(kind.j->start_in_feed({"run_3"}).value(), 1)
            ->entries.at(0)
            .first.commit >= 1);
  CHECK(kind.j->start_in_feed({"none"}).error().code == errc::not_found);
}

TEST_CASE("the order stays when the log is moved and runs are deleted") {
  const scratch_folder folder;
  feed_place middle;
  {
    const auto j = open_store(folder.path());
    for (const std::string name : {"a", "b"})
      REQUIRE(j->open_run(make_run("ses_" + name, name)));
    for (std::uint64_t k = 1; k <= 50; ++k) {
      for (const std::string name : {"a", "b"})
        REQUIRE_FALSE(store(*j, log_unit(name, k, k)));
      if (k == 25) middle = j->end_of_feed().value();
    }
  }  // closed: all of it is in rows of the runs
  const auto j = open_store(folder.path());
  REQUIRE(j->open_run(make_run("ses_c", "c")));
  REQUIRE_FALSE(store(*j, log_unit("c", 1, 3)));
  auto all = read_feed(*j, {}, 200);
  CHECK(all.at("a") == make_lines("a", 1, 50));
  CHECK(all.at("c") == make_lines("c", 1, 3));
  auto rest = read_feed(*j, middle, 200);
  CHECK(rest.at("a") == make_lines("a", 26, 50));
  CHECK(rest.at("b") == make_lines("b", 26, 50));
  REQUIRE(j->delete_session({"ses_a"}));
  all = read_feed(*j, {}, 200);
  CHECK_FALSE(all.contains("a"));
  CHECK(all.at("b") == make_lines("b", 1, 50));
}

TEST_CASE("what version 7 wrote keeps its place in the order") {
  const scratch_folder folder;
  {
    const auto j = open_store(folder.path());
    for (const std::string name : {"a", "b"})
      REQUIRE(j->open_run(make_run("ses_" + name, name)));
    for (std::uint64_t k = 1; k <= 50; ++k)
      for (const std::string name : {"a", "b"})
        REQUIRE_FALSE(store(*j, log_unit(name, k, k)));
  }
  make_older(folder.path(), 7);
  feed_place middle;
  {
    const auto j = open_store(folder.path());
    middle = j->end_of_feed().value();
    for (const std::string name : {"a", "b"}) REQUIRE(j->adopt_run({name}));
    for (std::uint64_t k = 51; k <= 90; ++k)
      for (const std::string name : {"a", "b"})
        REQUIRE_FALSE(store(*j, log_unit(name, k, k)));
  }
  const auto j = open_store(folder.path());
  for (const auto bytes : {1UL, 500UL, 1UL << 20}) {
    const auto all = read_feed(*j, {}, bytes);
    for (const std::string name : {"a", "b"})
      CHECK(all.at(name) == make_lines(name, 1, 90));
    const auto rest = read_feed(*j, middle, bytes);
    CHECK(rest.at("a") == make_lines("a", 51, 90));
  }
  REQUIRE(j->adopt_run({"a"}));
  auto run = j->load_run({"a"}).value();
  run.state = run_state::completed;
  REQUIRE_FALSE(store(*j, {run.id, {}, {run}}));
  REQUIRE(j->delete_session({"ses_a"}));
  const auto all = read_feed(*j, {}, 500);
  CHECK_FALSE(all.contains("a"));
  CHECK(all.at("b") == make_lines("b", 1, 90));
}

TEST_CASE("a page is not empty because what was there is deleted",
          "[torture]") {
  const scratch_folder folder;
  const auto j = open_store(folder.path());
  for (const std::string name : {"a", "b"})
    REQUIRE(j->open_run(make_run("ses_" + name, name)));
  // More commits than are looked at for a page.
  for (std::uint64_t k = 1; k <= 21'000; ++k)
    REQUIRE_FALSE(store(*j, log_unit("a", k, k)));
  auto run = j->load_run({"a"}).value();
  run.state = run_state::completed;
  REQUIRE_FALSE(store(*j, {run.id, {}, {run}}));
  REQUIRE_FALSE(store(*j, log_unit("b", 1, 3)));
  REQUIRE(j->delete_session({"ses_a"}));
  const auto page = j->read_feed({}, 1 << 20).value();
  REQUIRE(page.entries.size() == 1);
  CHECK(page.entries[0].run == run_id{"b"});
}

TEST_CASE("what is damaged of one run leaves the others in the order") {
  const auto sql =
      GENERATE("UPDATE blocks SET crc = crc + 1 WHERE key >> 40 = 2",
               "UPDATE blocks SET commits = x'00' WHERE key >> 40 = 2",
               "UPDATE blocks SET last_seq = 0 WHERE key >> 40 = 2",
               "DELETE FROM blocks WHERE key >> 40 = 2",
               "UPDATE heads SET crc = crc + 1 WHERE n = 2",
               "UPDATE runs SET crc = crc + 1 WHERE n = 2",
               "DELETE FROM runs WHERE n = 2",
               "UPDATE feed SET crc = crc + 1 WHERE key >> 40 = 2",
               "UPDATE feed SET last = last + 1 WHERE key >> 40 = 2",
               "INSERT INTO feed SELECT last + (1 << 48), key, crc FROM feed");
  CAPTURE(sql);
  const scratch_folder folder;
  {
    const auto j = open_store(folder.path());
    for (const std::string name : {"a", "b", "c"})
      REQUIRE(j->open_run(make_run("ses_" + name, name)));
    for (std::uint64_t k = 1; k <= 20; ++k)
      for (const std::string name : {"a", "b", "c"})
        REQUIRE_FALSE(store(*j, log_unit(name, k, k)));
  }
  change_file(folder.path(), sql);
  std::vector<std::string> notes;
  const auto j = open_store(folder.path(), &notes);
  for (const auto bytes : {1UL, 500UL, 1UL << 20}) {
    const auto all = read_feed(*j, {}, bytes);
    for (const std::string name : {"a", "c"})
      CHECK(all.at(name) == make_lines(name, 1, 20));
  }
  // Told, once and not for each reader.
  CHECK(notes.size() >= 1);
  const auto told = notes.size();
  read_feed(*j, {}, 1UL << 20);
  CHECK(notes.size() == told);
  // Nor for each look of one who follows.
  REQUIRE(j->adopt_run({"c"}));
  auto at = j->end_of_feed().value();
  for (std::uint64_t k = 21; k <= 30; ++k) {
    REQUIRE_FALSE(store(*j, log_unit("c", k, k)));
    const auto page = j->read_feed(at, 1UL << 20).value();
    CHECK(page.entries.size() == 1);
    at = page.next;
  }
  CHECK(notes.size() == told);
}

TEST_CASE("a piece that the order of all runs has lost is not lost silently") {
  const auto sql = GENERATE(
      "DELETE FROM feed WHERE key = (1 << 40) + 91",
      "UPDATE feed SET last = last | (1 << 54) WHERE key = (1 << 40) + 91",
      "UPDATE feed SET last = last | (1 << 63) WHERE key = (1 << 40) + 91",
      "UPDATE blocks SET commits = x'' WHERE key = (1 << 40) + 91",
      "UPDATE blocks SET commits = NULL WHERE key = (1 << 40) + 91");
  CAPTURE(sql);
  const scratch_folder folder;
  {
    const auto j = open_store(folder.path());
    for (const std::string name : {"a", "b"}) {
      REQUIRE(j->open_run(make_run("ses_" + name, name)));
      // Each becomes a row of its own.
      for (std::uint64_t k = 0; k < 3; ++k)
        REQUIRE_FALSE(store(
            *j, {{name}, make_block(name, 90 * k + 1, 90 * k + 90, 100), {}}));
    }
  }
  change_file(folder.path(), sql);
  std::vector<std::string> notes;
  const auto j = open_store(folder.path(), &notes);
  feed_place at;
  std::string lines;
  for (bool end = false; !end;) {
    const auto page = j->read_feed(at, 1).value();
    for (const auto& x : page.entries) lines += *x.block.lines;
    at = page.next;
    end = page.end;
  }
  CHECK(lines == make_lines("a", 1, 90, 100) + make_lines("a", 181, 270, 100) +
                     make_lines("b", 1, 270, 100));
  REQUIRE(notes.size() >= 1);
  CHECK(notes[0].find("left out of the order of all runs") != notes[0].npos);
}
