// SPDX-License-Identifier: MIT
// Which runs have not ended, and whether somebody works on them.
#include "tests/storage/journal_kinds.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;

namespace {

std::vector<std::string> names(const std::vector<unfinished_run>& all) {
  std::vector<std::string> out;
  for (const auto& x : all) out.push_back(x.run.id.value);
  return out;
}

using strings = std::vector<std::string>;

}  // namespace

TEMPLATE_TEST_CASE("runs that have not ended are listed from the newest", "",
                   EVERY_JOURNAL) {
  TestType kind;
  CHECK(kind.j->unfinished_runs(9)->empty());
  auto run = kind.j->open_run(make_run("ses_b", "run_b"))->run;
  for (const std::string name : {"c", "a"})
    REQUIRE(kind.j->open_run(make_run("ses_" + name, "run_" + name)));
  CHECK(names(*kind.j->unfinished_runs(9)) ==
        strings{"run_a", "run_c", "run_b"});
  CHECK(names(*kind.j->unfinished_runs(2)) == strings{"run_a", "run_c"});
  CHECK(kind.j->unfinished_runs(0)->empty());
  const auto found = kind.j->unfinished_runs(9)->back();
  CHECK(found.run == run);
  CHECK(found.owner == run_owner::here);
  run.state = run_state::failed;
  REQUIRE_FALSE(kind.put({run.id, {}, {run}}));
  CHECK(names(*kind.j->unfinished_runs(9)) == strings{"run_a", "run_c"});
}

TEST_CASE("an unfinished run says whether its owner lives") {
  scratch_folder folder;
  auto first = open_store(folder.path());
  auto second = open_store(folder.path());
  REQUIRE(first->open_run(make_run("ses_1", "run_1")));
  auto seen = second->unfinished_runs(9).value();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].owner == run_owner::elsewhere);
  CHECK(seen[0].owner_name.find("process ") == 0);
  first = nullptr;
  seen = second->unfinished_runs(9).value();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].owner == run_owner::gone);
  REQUIRE(second->adopt_run({"run_1"}));
  CHECK(second->unfinished_runs(9)->at(0).owner == run_owner::here);
}

TEST_CASE("a damaged unfinished run is left out, and that is said") {
  scratch_folder folder;
  std::vector<std::string> notes;
  {
    const auto journal = open_store(folder.path());
    REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
    REQUIRE(journal->open_run(make_run("ses_2", "run_2")));
  }
  sqlite::database{folder.path() / "riffle.db", std::chrono::seconds{1}}
      .execute("UPDATE runs SET data = 'x' WHERE id = 'run_1'");
  const auto journal = open_store(folder.path(), &notes);
  CHECK(names(*journal->unfinished_runs(9)) == strings{"run_2"});
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("1 damaged run") != std::string::npos);
}
