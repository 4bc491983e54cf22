// SPDX-License-Identifier: MIT
// Proposals and decisions: one decision each, whoever decides.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/base/call_identity.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/storage/memory_journal.hpp"
#include "runtime/storage/record_json.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_journal.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;
using events::proposal_outcome;

namespace {

struct sqlite_proposals {
  scratch_folder folder;
  std::unique_ptr<sqlite_journal> j = open_store(folder.path());
  void settle() {}
};

struct memory_proposals {
  std::unique_ptr<journal> j = make_memory_journal();
  void settle() {}
};

struct test_proposals {
  std::shared_ptr<test_journal> j = std::make_shared<test_journal>();
  void settle() { j->release_all(); }
};

template <class Kind>
void put(Kind& k, const run_record& run, std::vector<state_change> changes) {
  std::optional<error> answer = error{errc::timeout, "test", "no answer"};
  std::atomic<bool> done = false;
  k.j->append({run.id, {}, std::move(changes)}, [&](auto failure) {
    answer = failure;
    done = true;
  });
  k.settle();
  while (!done) std::this_thread::yield();
  REQUIRE_FALSE(answer);
}

template <class Kind>
run_record opened(Kind& k, const std::string& session = "ses_1",
                  const std::string& name = "run_1") {
  auto made = k.j->open_run(make_run(session, name));
  REQUIRE(made);
  return made->run;
}

void finish(auto& k, run_record run) {
  run.state = run_state::completed;
  put(k, run, {run});
}

/// Always for its pattern, which only the call as it was asked has.
decision_record as_asked(const std::string& id) {
  auto x = make_decision(id);
  x.arguments = {};
  return x;
}

std::optional<proposal_state> find(journal& j, const std::string& id) {
  proposal_filter filter;
  filter.id = proposal_id{id};
  const auto all = j.list_proposals(filter);
  REQUIRE(all);
  if (all->empty()) return {};
  return all->at(0);
}

}  // namespace

#define EVERY_KIND sqlite_proposals, memory_proposals, test_proposals

TEMPLATE_TEST_CASE("a proposal comes back whole, and with its decision", "",
                   EVERY_KIND) {
  TestType k;
  const auto run = opened(k);
  const auto made = make_proposal(run, "prop_1");
  put(k, run, {made});
  CHECK(find(*k.j, "prop_1") == proposal_state{made, {}, {}});
  CHECK(k.j->decisions_of({{"prop_1"}})->empty());
  auto said = make_decision("prop_1");
  said.basis = "what it acts on";
  const auto answer = k.j->decide(said, "d1");
  REQUIRE(answer);
  said.digest =
      proposal_digest("bash", R"({"command":"make all"})", "def1", said.basis);
  const proposal_state now{made, said, {}};
  CHECK(*answer == decision_answer{decision_verdict::accepted, now});
  CHECK(find(*k.j, "prop_1") == now);
  CHECK(k.j->load_session({"ses_1"})->proposals == std::vector{now});
  CHECK(k.j->adopt_run({"run_1"})->session.proposals == std::vector{now});
  CHECK(*k.j->decisions_of({{"prop_0"}, {"prop_1"}}) == std::vector{said});
}

TEMPLATE_TEST_CASE("the first decision wins", "", EVERY_KIND) {
  TestType k;
  const auto run = opened(k);
  put(k, run, {make_proposal(run, "prop_1"), make_proposal(run, "prop_2")});
  const auto verdict = [&](decision_record x, const std::string& digest = {}) {
    const auto answer = k.j->decide(std::move(x), digest);
    REQUIRE(answer);
    return answer->verdict;
  };
  SECTION("of two by persons") {
    CHECK(verdict(make_decision("prop_1", proposal_outcome::denied)) ==
          decision_verdict::accepted);
    CHECK(verdict(make_decision("prop_1")) == decision_verdict::too_late);
    CHECK(find(*k.j, "prop_1")->decided->how == proposal_outcome::denied);
    CHECK_FALSE(find(*k.j, "prop_2")->decided);
  }
  SECTION("also if it was stored with the proposal") {
    put(k, run,
        {make_proposal(run, "prop_3"), make_decision("prop_3"),
         make_decision("prop_3", proposal_outcome::denied)});
    CHECK(verdict(make_decision("prop_3")) == decision_verdict::too_late);
    CHECK(find(*k.j, "prop_3")->decided->how == proposal_outcome::approved);
  }
  SECTION("what an approval is bound to is stored with it") {
    auto plain = make_decision("prop_1");
    plain.arguments.clear();
    CHECK(verdict(plain) == decision_verdict::accepted);
    CHECK(find(*k.j, "prop_1")->decided->digest == "d1");
    CHECK(verdict(make_decision("prop_2", proposal_outcome::denied)) ==
          decision_verdict::accepted);
    CHECK(find(*k.j, "prop_2")->decided->digest.empty());
  }
  SECTION("one for other arguments changes nothing") {
    CHECK(verdict(make_decision("prop_1"), "d2") == decision_verdict::stale);
    CHECK_FALSE(find(*k.j, "prop_1")->decided);
    CHECK(verdict(make_decision("prop_1"), "d1") == decision_verdict::accepted);
  }
  SECTION("one about nothing is told so") {
    CHECK(verdict(make_decision("prop_9")) == decision_verdict::unknown);
  }
  SECTION("one after its time finds it expired") {
    auto late = make_decision("prop_1");
    late.at = {1000};
    CHECK(verdict(late) == decision_verdict::too_late);
    CHECK(find(*k.j, "prop_1")->decided->how == proposal_outcome::expired);
    CHECK(find(*k.j, "prop_1")->decided->by == "riffle");
  }
  SECTION("Riffle's own may come at any time") {
    auto late = make_decision("prop_1", proposal_outcome::expired);
    late.at = {5000};
    CHECK(verdict(late) == decision_verdict::accepted);
  }
  SECTION("one for a run that has ended finds it cancelled") {
    finish(k, run);
    CHECK(verdict(make_decision("prop_1")) == decision_verdict::too_late);
    CHECK(find(*k.j, "prop_1")->decided->how == proposal_outcome::cancelled);
  }
  SECTION("unless the run did not wait for it") {
    auto standing = make_proposal(run, "prop_4");
    standing.waits = false;
    put(k, run, {standing});
    finish(k, run);
    CHECK(verdict(make_decision("prop_4")) == decision_verdict::accepted);
  }
}

TEMPLATE_TEST_CASE("an approved call is executed by one run", "", EVERY_KIND) {
  TestType k;
  const auto run = opened(k);
  auto made = make_proposal(run, "prop_1");
  made.waits = false;
  auto other = make_proposal(run, "prop_2");
  auto words = make_proposal(run, "prop_3");
  words.waits = false;
  words.source = events::proposal_source::seek_approval;
  put(k, run, {made, other, words, make_decision("prop_2")});
  finish(k, run);
  const auto begin = [&](const std::string& name, const std::string& cause,
                         const std::string& session = "ses_1") {
    auto record = make_run(session, name);
    record.cause = {cause};
    return k.j->open_run(record);
  };
  CHECK(begin("run_2", "prop_1").error().code == errc::invalid_request);
  CHECK(begin("run_2", "prop_2").error().code == errc::invalid_request);
  CHECK(begin("run_2", "prop_9").error().code == errc::invalid_request);
  k.j->decide(make_decision("prop_3"), {});
  CHECK(begin("run_2", "prop_3").error().code == errc::invalid_request);
  k.j->decide(make_decision("prop_1"), {});
  CHECK(begin("run_2", "prop_1", "ses_2").error().code ==
        errc::invalid_request);
  CHECK(k.j->list_sessions(9)->size() == 1);
  const auto second = begin("run_2", "prop_1");
  REQUIRE(second);
  CHECK(second->run.cause == proposal_id{"prop_1"});
  CHECK(k.j->load_run({"run_2"})->cause == proposal_id{"prop_1"});
  CHECK(find(*k.j, "prop_1")->executed_by == run_id{"run_2"});
  CHECK(find(*k.j, "prop_1")->decided->by == "ann");
  finish(k, second->run);
  const auto third = begin("run_3", "prop_1");
  REQUIRE_FALSE(third);
  CHECK(third.error().message.find("run_2 has executed it") !=
        std::string::npos);
}

TEMPLATE_TEST_CASE("proposals are listed newest first, by what is asked", "",
                   EVERY_KIND) {
  TestType k;
  const auto run = opened(k);
  const auto away = opened(k, "ses_2", "run_2");
  put(k, run, {make_proposal(run, "prop_1"), make_proposal(run, "prop_2")});
  put(k, away, {make_proposal(away, "prop_3")});
  put(k, run, {make_proposal(run, "prop_4")});
  k.j->decide(make_decision("prop_2"), {});
  const auto ids = [&](const proposal_filter& filter) {
    std::string text;
    const auto all = k.j->list_proposals(filter);
    REQUIRE(all);
    for (const auto& x : *all) text += x.what.id.value.back();
    return text;
  };
  CHECK(ids({}) == "4321");
  CHECK(ids({.undecided = true}) == "431");
  CHECK(ids({.limit = 2}) == "43");
  CHECK(ids({.undecided = true, .limit = 2}) == "43");
  CHECK(ids({.session = session_id{"ses_1"}}) == "421");
  CHECK(ids({.session = session_id{"ses_1"}, .undecided = true}) == "41");
  CHECK(ids({.id = proposal_id{"prop_3"}}) == "3");
  CHECK(ids({.id = proposal_id{"prop_3"}, .session = session_id{"ses_1"}}) ==
        "");
  finish(k, run);
  REQUIRE(k.j->delete_session({"ses_1"}));
  CHECK(ids({}) == "3");
  CHECK(k.j->decisions_of({{"prop_2"}})->empty());
}

TEMPLATE_TEST_CASE("a proposal of another run is refused", "", EVERY_KIND) {
  TestType k;
  const auto run = opened(k);
  const auto away = opened(k, "ses_2", "run_2");
  std::optional<error> answer;
  std::atomic<bool> done = false;
  k.j->append({run.id, {}, {make_proposal(away, "prop_1")}}, [&](auto failure) {
    answer = failure;
    done = true;
  });
  k.settle();
  while (!done) std::this_thread::yield();
  REQUIRE(answer);
  CHECK(answer->code == errc::storage_corrupt);
}

TEST_CASE("how a proposal stands follows from its decision and the time") {
  run_record run;
  proposal_state x{make_proposal(run, "prop_1"), {}, {}};
  CHECK_FALSE(effective_outcome(x, {999}));
  CHECK(effective_outcome(x, {1000}) == proposal_outcome::expired);
  x.decided = make_decision("prop_1", proposal_outcome::denied);
  CHECK(effective_outcome(x, {2000}) == proposal_outcome::denied);
  x.decided.reset();
  x.what.expires.reset();
  CHECK_FALSE(effective_outcome(x, {2000}));
}

// -- what is approved once and for all ----------------------------------------

TEMPLATE_TEST_CASE("an approval that says always is kept until it is revoked",
                   "", EVERY_KIND) {
  TestType k;
  const auto run = opened(k);
  auto plain = make_proposal(run, "prop_3");
  plain.can_always = false;
  put(k, run,
      {make_proposal(run, "prop_1"), make_proposal(run, "prop_2"), plain});
  CHECK(k.j->grants({})->empty());
  REQUIRE(k.j->decide(as_asked("prop_1"), {}));
  auto call = make_decision("prop_2");
  call.always = always_scope::call;
  REQUIRE(k.j->decide(call, {}));
  REQUIRE(k.j->decide(make_decision("prop_3"), {}));
  // A decision that comes too late gives nothing.
  auto late = make_decision("prop_2");
  late.always = always_scope::tool;
  REQUIRE(k.j->decide(late, {}));
  const grant_record one{{"prop_1"}, {"ses_1"}, "/home/me/project",
                         "bash",     "def1",    always_scope::pattern,
                         "make *",   "ann",     {200}};
  auto two = one;
  two.proposal = {"prop_2"};
  two.scope = always_scope::call;
  two.what = R"({"command":"make all"})";
  CHECK(*k.j->grants({}) == std::vector{one, two});
  CHECK(*k.j->grants(session_id{"ses_1"}) == std::vector{one, two});
  CHECK(k.j->grants(session_id{"ses_2"})->empty());
  auto again = make_proposal(run, "prop_4");
  again.replaces = {"prop_1"};  // that answer did not hold
  put(k, run, {again});
  CHECK_FALSE(*k.j->revoke({"prop_1"}));
  CHECK(*k.j->grants({}) == std::vector{two});
  finish(k, run);
  REQUIRE(k.j->delete_session({"ses_1"}));
  CHECK(k.j->grants({})->empty());
}

TEMPLATE_TEST_CASE("what is kept for a folder outlives its session", "",
                   EVERY_KIND) {
  TestType k;
  const auto run = opened(k);
  put(k, run, {make_proposal(run, "prop_1")});
  auto kept = as_asked("prop_1");
  kept.kept = true;
  REQUIRE(k.j->decide(kept, {}));
  const grant_record one{{"prop_1"}, {},     "/home/me/project",
                         "bash",     "def1", always_scope::pattern,
                         "make *",   "ann",  {200}};
  for (const auto* session : {"ses_1", "ses_2"})
    CHECK(*k.j->grants(session_id{session}) == std::vector{one});
  finish(k, run);
  REQUIRE(k.j->delete_session({"ses_1"}));
  CHECK(*k.j->grants({}) == std::vector{one});
  CHECK(*k.j->revoke({"prop_1"}));
  CHECK(k.j->grants({})->empty());
}

TEST_CASE("a denial gives nothing, whatever it says") {
  const auto run = make_run("ses_1", "run_1");
  CHECK_FALSE(grant_of(make_proposal(run, "prop_1"),
                       make_decision("prop_1", proposal_outcome::denied)));
}

TEST_CASE("a call that was edited gives no pattern, which was another's") {
  const auto run = make_run("ses_1", "run_1");
  const auto what = make_proposal(run, "prop_1");
  auto x = as_asked("prop_1");
  REQUIRE(x.always == always_scope::pattern);
  REQUIRE(grant_of(what, x));
  CHECK(grant_of(what, x)->what == "make *");
  x.arguments = R"({"command":"true"})";
  CHECK_FALSE(grant_of(what, x));
  x.always = always_scope::call;
  REQUIRE(grant_of(what, x));
  CHECK(grant_of(what, x)->what == x.arguments);
  x.basis = "other";  // it is that which the changed ones act on
  CHECK(grant_of(what, x)->definition ==
        call_identity(what.definition, "other"));
  x.arguments = {};
  REQUIRE(grant_of(what, x));
  CHECK(grant_of(what, x)->definition ==
        call_identity(what.definition, what.basis));
}

TEST_CASE("what is always approved covers calls that wait") {
  const auto run = make_run("ses_1", "run_1");
  auto what = make_proposal(run, "prop_2");
  what.can_always = true;
  what.definition = "def";
  what.pattern = "git log *";
  grant_record grant{
      {"prop_1"},         {}, what.folder, what.tool, what.definition,
      always_scope::tool, {}, "user",      {}};
  CHECK(covers_waiting(grant, what));
  SECTION("of its session alone") {
    grant.session = what.session;
    CHECK(covers_waiting(grant, what));
    grant.session = {"ses_2"};
  }
  SECTION("these arguments") {
    grant.scope = always_scope::call;
    grant.what = what.arguments;
    grant.definition = call_identity("def", what.basis);
    CHECK(covers_waiting(grant, what));
    SECTION("others") {
      grant.what = "{}";
      what.arguments = "{\"x\":1}";
    }
    SECTION("that act on something else now") { what.basis = "new"; }
    SECTION("that nobody knows what they acted on") {
      grant.definition = "def";
    }
  }
  SECTION("a pattern that the call offers") {
    grant.scope = always_scope::pattern;
    grant.what = what.pattern;
    CHECK(covers_waiting(grant, what));
    what.pattern = "git push *";
  }
  SECTION("another tool") { grant.tool = "other"; }
  SECTION("a tool that is not what it was") { grant.definition = "new"; }
  SECTION("another folder") { grant.folder = "/elsewhere"; }
  SECTION("a rule asks each time") { what.can_always = false; }
  CHECK_FALSE(covers_waiting(grant, what));
}
