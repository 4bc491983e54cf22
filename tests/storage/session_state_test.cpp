// SPDX-License-Identifier: MIT
// What sessions keep, and what processes ask of each other.
#include "tests/storage/journal_kinds.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;

namespace {

using values = std::map<std::string, std::string>;
using cancels = std::vector<cancel_request>;

}  // namespace

TEMPLATE_TEST_CASE("values are kept with their session, by units and at once",
                   "", EVERY_JOURNAL) {
  TestType kind;
  CHECK(kind.j->load_state({"ses_1"})->empty());
  REQUIRE(kind.j->set_state({{"ses_1"}, "seed", "1"}));
  auto run = kind.j->open_run(make_run("ses_1", "run_1"));
  REQUIRE(run);
  CHECK(run->session.state == values{{"seed", "1"}});
  REQUIRE(kind.j->open_run(make_run("ses_2", "run_2")));
  const session_id mine{"ses_1"};
  REQUIRE_FALSE(kind.put(
      {{"run_1"},
       {},
       {state_value{mine, "a", "[1]"}, state_value{mine, "b", "{}"},
        state_value{mine, "a", "\"new\""}, state_value{mine, "seed", ""}}}));
  const values wanted{{"a", "\"new\""}, {"b", "{}"}};
  CHECK(kind.j->load_state(mine).value() == wanted);
  CHECK(kind.j->load_session(mine)->state == wanted);
  CHECK(kind.j->adopt_run({"run_1"})->session.state == wanted);
  CHECK(kind.j->load_state({"ses_2"})->empty());
  // A run is active: its calls alone set values.
  const auto refused = kind.j->set_state({mine, "a", "2"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::session_busy);
  auto ended = run->run;
  ended.state = run_state::completed;
  REQUIRE_FALSE(kind.put({{"run_1"}, {}, {ended}}));
  REQUIRE(kind.j->set_state({mine, "a", "2"}));
  REQUIRE(kind.j->set_state({mine, "b", ""}));
  CHECK(kind.j->load_state(mine).value() == values{{"a", "2"}});
  REQUIRE(kind.j->delete_session(mine));
  CHECK(kind.j->load_state(mine)->empty());
  REQUIRE(kind.j->set_state({{"ses_9"}, "a", "2"}));  // without a run
  REQUIRE(kind.j->delete_session({"ses_9"}));
  CHECK_FALSE(kind.j->delete_session({"ses_9"}));
}

TEMPLATE_TEST_CASE("a value of another session is refused", "", EVERY_JOURNAL) {
  TestType kind;
  REQUIRE(kind.j->open_run(make_run("ses_1", "run_1")));
  const auto failure =
      kind.put({{"run_1"}, {}, {state_value{{"ses_2"}, "a", "1"}}});
  REQUIRE(failure);
  CHECK(failure->code == errc::storage_corrupt);
  CHECK(kind.j->load_state({"ses_2"})->empty());
}

TEMPLATE_TEST_CASE("a run of this process is cancelled here", "",
                   EVERY_JOURNAL) {
  TestType kind;
  auto run = kind.j->open_run(make_run("ses_1", "run_1"))->run;
  CHECK(kind.j->ask_cancel({"run_9"}, "x").value() == cancel_verdict::unknown);
  CHECK(kind.j->ask_cancel(run.id, "x").value() == cancel_verdict::here);
  CHECK(kind.j->cancels()->empty());
  run.state = run_state::failed;
  REQUIRE_FALSE(kind.put({run.id, {}, {run}}));
  CHECK(kind.j->ask_cancel(run.id, "x").value() == cancel_verdict::finished);
}

TEST_CASE("the owner of a run finds who wants to cancel it, until its end") {
  scratch_folder folder;
  const auto owner = open_store(folder.path());
  const auto other = open_store(folder.path());
  auto run = owner->open_run(make_run("ses_1", "run_1"))->run;
  REQUIRE(other->open_run(make_run("ses_2", "run_2")));
  CHECK(owner->cancels()->empty());
  CHECK(other->ask_cancel(run.id, "enough").value() == cancel_verdict::asked);
  CHECK(other->ask_cancel(run.id, "again").value() == cancel_verdict::asked);
  CHECK(owner->cancels().value() == cancels{{run.id, "enough"}});
  CHECK(owner->cancels()->size() == 1);  // a crash does not lose it
  CHECK(other->cancels()->empty());
  run.state = run_state::cancelled;
  REQUIRE_FALSE(store(*owner, {run.id, {}, {run}}));
  CHECK(owner->cancels()->empty());
  sqlite::database file{folder.path() / "riffle.db", std::chrono::seconds{1}};
  CHECK(file.integer("SELECT count(*) FROM commands") == 0);
  // The name may come back.
  REQUIRE(owner->delete_session({"ses_1"}));
  REQUIRE(owner->open_run(make_run("ses_1", "run_1")));
  CHECK(owner->cancels()->empty());
}

TEST_CASE("who adopts a run finds what was asked of its dead owner") {
  scratch_folder folder;
  auto owner = open_store(folder.path());
  REQUIRE(owner->open_run(make_run("ses_1", "run_1")));
  owner = nullptr;
  const auto other = open_store(folder.path());
  CHECK(other->ask_cancel({"run_1"}, "x").value() == cancel_verdict::gone);
  CHECK(other->cancels()->empty());
  REQUIRE(other->adopt_run({"run_1"}));
  CHECK(other->cancels().value() == cancels{{{"run_1"}, "x"}});
}

TEST_CASE(
    "a session whose owner died unfinished can be deleted, one of the "
    "living cannot") {
  scratch_folder folder;
  auto owner = open_store(folder.path());
  const auto run = owner->open_run(make_run("ses_1", "run_1"))->run;
  REQUIRE_FALSE(store(*owner, {run.id,
                               make_block("run_1", 1, 9),
                               {make_call("run_1", "call_1"),
                                state_value{{"ses_1"}, "a", "1"}}}));
  const auto other = open_store(folder.path());
  CHECK(other->delete_session({"ses_1"}).error().code == errc::session_busy);
  owner = nullptr;
  REQUIRE(other->delete_session({"ses_1"}));
  CHECK(other->load_session({"ses_1"}).error().code == errc::not_found);
  CHECK(other->unfinished_runs(9)->empty());
  CHECK(other->load_state({"ses_1"})->empty());
  CHECK(other->open_run(make_run("ses_1", "run_1"))->run.ordinal == 1);
}

TEST_CASE("a value or a command that changed is damage") {
  scratch_folder folder;
  {
    const auto owner = open_store(folder.path());
    REQUIRE(owner->open_run(make_run("ses_1", "run_1")));
    REQUIRE_FALSE(
        store(*owner, {{"run_1"}, {}, {state_value{{"ses_1"}, "a", "1"}}}));
  }
  const auto code = [&] {
    return open_store(folder.path())->load_state({"ses_1"}).error().code;
  };
  SECTION("another value") {
    change_file(folder.path(), "UPDATE state SET data = '2'");
    CHECK(code() == errc::storage_corrupt);
  }
  SECTION("another key") {
    change_file(folder.path(), "UPDATE state SET key = 'b'");
    CHECK(code() == errc::storage_corrupt);
  }
  SECTION("another reason") {
    const auto journal = open_store(folder.path());
    REQUIRE(journal->open_run(make_run("ses_2", "run_2")));
    REQUIRE(journal->disown_run({"run_2"}));
    for (const std::string name : {"run_1", "run_2"}) {
      REQUIRE(journal->ask_cancel({name}, "x"));
      REQUIRE(journal->adopt_run({name}));
    }
    CHECK(journal->cancels()->size() == 2);
    change_file(folder.path(),
                "UPDATE commands SET reason = 'y' WHERE run = 'run_1'");
    // It asks for nothing, and does not hide what is asked of others.
    CHECK(journal->cancels().value() ==
          std::vector{cancel_request{{"run_2"}, "x"}});
  }
}

TEST_CASE("a file of version 2 is brought up to date, with all that it has") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    const auto run = journal->open_run(make_run("ses_1", "run_1"))->run;
    REQUIRE_FALSE(store(*journal, {run.id, make_block("run_1", 1, 9), {run}}));
  }
  make_older(folder.path(), 2);
  const auto journal = open_store(folder.path());
  CHECK(journal->adopt_run({"run_1"})->last_seq == 9);
  REQUIRE(journal->set_state({{"ses_2"}, "a", "1"}));
  CHECK(journal->load_state({"ses_2"})->size() == 1);
}
