// SPDX-License-Identifier: MIT
// Proposals in the file: other processes, older versions, damage.
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "runtime/storage/record_json.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;

TEST_CASE("of many processes that decide at once one is accepted") {
  scratch_folder folder;
  const auto owner = open_store(folder.path());
  const auto run = owner->open_run(make_run("ses_1", "run_1"))->run;
  REQUIRE_FALSE(store(*owner, {run.id, {}, {make_proposal(run, "prop_1")}}));
  std::atomic<int> accepted = 0;
  std::atomic<int> late = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i)
    others.emplace_back([&, i] {
      const auto mine = open_store(folder.path());
      auto said = make_decision("prop_1");
      said.by = std::to_string(i);
      const auto answer = mine->decide(said, "d1");
      if (!answer) return;
      if (answer->verdict == decision_verdict::accepted) {
        ++accepted;
        if (answer->now->decided->by != said.by) accepted += 100;
      } else {
        ++late;
      }
    });
  for (auto& x : others) x.join();
  CHECK(accepted == 1);
  CHECK(late == 3);
  CHECK(owner->decisions_of({{"prop_1"}})->size() == 1);
}

TEST_CASE("a file of version 1 is brought up to date, with all that it has") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    const auto run = journal->open_run(make_run("ses_1", "run_1"))->run;
    REQUIRE_FALSE(store(
        *journal, {run.id,
                   make_block("run_1", 1, 2),
                   {make_message(run, "m"), make_call("run_1", "call_1")}}));
  }
  make_older(folder.path(), 1);
  const auto journal = open_store(folder.path());
  const auto found = journal->adopt_run({"run_1"});
  REQUIRE(found);
  CHECK(found->last_seq == 2);
  CHECK(found->session.calls == std::vector{make_call("run_1", "call_1")});
  CHECK(found->session.proposals.empty());
  REQUIRE_FALSE(
      store(*journal, {{"run_1"}, {}, {make_proposal(found->run, "prop_1")}}));
  CHECK(journal->decide(make_decision("prop_1"), {})->verdict ==
        decision_verdict::accepted);
}

TEST_CASE("a file of version 3 is brought up to date, with its decisions") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    const auto run = journal->open_run(make_run("ses_1", "run_1"))->run;
    REQUIRE_FALSE(
        store(*journal, {run.id, {}, {make_proposal(run, "prop_1")}}));
    auto said = make_decision("prop_1");
    said.always = always_scope::none;
    REQUIRE(journal->decide(said, {}));
  }
  make_older(folder.path(), 3);
  const auto journal = open_store(folder.path());
  CHECK(journal->decisions_of({{"prop_1"}})->size() == 1);
  // What was approved for good in version 3 is not bound to a tool's
  // definition: it counts no more.
  CHECK(journal->grants({})->empty());
  const auto found = journal->adopt_run({"run_1"});
  REQUIRE(found);
  REQUIRE_FALSE(
      store(*journal, {{"run_1"}, {}, {make_proposal(found->run, "prop_2")}}));
  auto as_asked = make_decision("prop_2");
  as_asked.arguments = {};  // it has a pattern, other arguments have none
  REQUIRE(journal->decide(as_asked, {}));
  CHECK(journal->grants({})->size() == 1);
}

TEST_CASE("a decision as version 3 wrote it is read, and can be executed") {
  const auto old = decision_from_json(
      R"({"proposal":"p","how":"approved","by":"ann","always":true,"at":1})");
  CHECK(old.always == always_scope::tool);
  CHECK(decision_from_json(to_json(old)) == old);
  CHECK(decision_from_json(R"({"proposal":"p","always":false})").always ==
        always_scope::none);
}

TEST_CASE("a grant that changed is damage, and what is revoked stays away") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    const auto run = journal->open_run(make_run("ses_1", "run_1"))->run;
    REQUIRE_FALSE(store(*journal, {run.id,
                                   {},
                                   {make_proposal(run, "prop_1"),
                                    make_proposal(run, "prop_2")}}));
    for (const auto* id : {"prop_1", "prop_2"}) {
      auto as_asked = make_decision(id);
      as_asked.arguments = {};
      REQUIRE(journal->decide(as_asked, {}));
    }
    REQUIRE(journal->revoke({"prop_2"}));
  }
  CHECK(open_store(folder.path())->grants({})->size() == 1);
  change_file(folder.path(),
              "UPDATE grants SET data = replace(data, 'pattern', 'tool')");
  // It allows nothing, and that is told.
  std::vector<std::string> notes;
  CHECK(open_store(folder.path(), &notes)->grants({})->empty());
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("1 damaged approval") != std::string::npos);
}

TEST_CASE("an answer that is asked again takes what it allowed with it") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  const auto run = journal->open_run(make_run("ses_1", "run_1"))->run;
  const auto decide = [&](const std::string& id, const std::string& replaces,
                          events::proposal_outcome how) {
    auto what = make_proposal(run, id);
    what.replaces = {replaces};
    REQUIRE_FALSE(store(*journal, {run.id, {}, {what}}));
    auto x = make_decision(id, how);
    x.arguments = {};
    REQUIRE(journal->decide(x, {}));
    return journal->grants({})->size();
  };
  CHECK(decide("prop_1", "", events::proposal_outcome::approved) == 1);
  CHECK(decide("prop_2", "prop_1", events::proposal_outcome::approved) == 1);
  CHECK(decide("prop_3", "", events::proposal_outcome::approved) == 2);
  CHECK(decide("prop_4", "", events::proposal_outcome::denied) == 2);
  CHECK(decide("prop_5", "prop_2", events::proposal_outcome::denied) == 1);
  CHECK(journal->grants({})->front().proposal == proposal_id{"prop_3"});
}

TEST_CASE("a file of version 1 that lacks a table is damaged") {
  scratch_folder folder;
  {
    open_store(folder.path());
  }
  make_older(folder.path(), 1);
  change_file(folder.path(), "DROP TABLE outputs");
  const auto journal = sqlite_journal::open(folder.path(), {});
  REQUIRE_FALSE(journal);
  CHECK(journal.error().code == errc::storage_corrupt);
}

TEST_CASE("a row of a proposal or a decision that changed is damage") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    const auto run = journal->open_run(make_run("ses_1", "run_1"))->run;
    REQUIRE_FALSE(store(
        *journal,
        {run.id, {}, {make_proposal(run, "prop_1"), make_decision("prop_1")}}));
  }
  SECTION("its text") {
    change_file(folder.path(),
                "UPDATE proposals SET data = replace(data, 'make', 'rake')");
  }
  SECTION("its session") {
    change_file(folder.path(), "UPDATE proposals SET session = 'ses_2'");
  }
  SECTION("its decision") {
    change_file(folder.path(),
                "UPDATE decisions SET data = replace(data, 'ann', 'bob')");
  }
  SECTION("the run that executed it") {
    change_file(folder.path(), "UPDATE decisions SET run = 'run_7'");
  }
  const auto journal = open_store(folder.path());
  proposal_filter filter;
  filter.id = proposal_id{"prop_1"};
  const auto found = journal->list_proposals(filter);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == errc::storage_corrupt);
  // Lists have the others.
  REQUIRE(journal->open_run(make_run("ses_9", "run_9")));
  const auto run = journal->load_run({"run_9"}).value();
  REQUIRE_FALSE(store(
      *journal,
      {run.id, {}, {make_proposal(run, "prop_9"), make_decision("prop_9")}}));
  const auto listed = journal->list_proposals({});
  REQUIRE(listed);
  REQUIRE(listed->size() == 1);
  CHECK(listed->front().what.id == proposal_id{"prop_9"});
  const auto decided = journal->decisions_of({{"prop_1"}, {"prop_9"}});
  REQUIRE(decided);
  CHECK(decided->back().proposal == proposal_id{"prop_9"});
}

TEST_CASE("an index that has lost a decision does not open it again") {
  std::string whole;
  {
    scratch_folder folder;
    {
      const auto journal = open_store(folder.path());
      const auto run = journal->open_run(make_run("ses_1", "run_1"))->run;
      REQUIRE_FALSE(store(*journal, {run.id,
                                     {},
                                     {make_proposal(run, "prop_b1"),
                                      make_decision("prop_b1")}}));
    }
    std::ifstream in{folder.path() / "riffle.db", std::ios::binary};
    whole.assign(std::istreambuf_iterator<char>{in}, {});
  }
  std::size_t places = 0;
  for (auto at = whole.find("prop_b1"); at != whole.npos;
       at = whole.find("prop_b1", at + 1)) {
    if (whole[at - 1] == '"' || whole[at - 1] == '_') continue;  // in JSON
    ++places;
    CAPTURE(at);
    scratch_folder folder;
    auto bytes = whole;
    bytes[at + 6] = 'X';  // sorts elsewhere, and cannot be found
    std::ofstream{folder.path() / "riffle.db", std::ios::binary} << bytes;
    const auto journal = open_store(folder.path());
    const auto answer = journal->decide(make_decision("prop_b1"), {});
    if (answer) CHECK(answer->verdict != decision_verdict::accepted);
  }
  CHECK(places >= 4);
}
