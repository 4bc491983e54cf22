// SPDX-License-Identifier: MIT
// What waits for a decision when the process dies.
#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;

namespace {

const std::string wants_act = model_calls(0, "act") + model_stops("tool_calls");

}  // namespace

TEST_CASE("what waited when the process died still waits, by the same name") {
  auto journal = std::make_shared<test_journal>();
  proposal_id id;
  {
    approval_scene x{journal};
    x.play({wants_act});
    x.pass(1s);
    id = x.undecided().at(0).what.id;
  }
  auto next = journal->crash(1);
  SECTION("and is decided then") {
    next_life x{next};
    x.go_on();
    x.pass(1s);
    REQUIRE(x.undecided().size() == 1);
    CHECK(x.undecided()[0].what.id == id);
    x.decide(id, proposal_outcome::approved);
    x.run_out();
    CHECK(x.act->acted.size() == 1);
    x.check();
  }
  SECTION("or was decided while nobody ran it") {
    next_life x{next};
    x.decide(id, proposal_outcome::approved, R"({"n":4})");
    x.go_on();
    x.settle();  // at once: nobody waits for a timer
    CHECK(x.act->arguments == std::vector<std::string>{R"({"n":4})"});
    x.run_out();
    x.check();
  }
  SECTION("or its time is over") {
    next_life x{next};
    x.decide(id, proposal_outcome::expired);
    x.go_on();
    x.run_out();
    CHECK(x.act->acted.empty());
    CHECK(x.error_code(0) == "approval_expired");
    x.check();
  }
  SECTION("or the run is cancelled then") {
    const bool early = GENERATE(true, false);
    next_life x{next};
    x.go_on();
    // Early: before the call has reached the gate again.
    while (!x.opened) REQUIRE((x.scheduler().try_run_once() || x.settle()));
    if (!early) x.settle();
    x.cancel();
    x.run_out();
    CHECK(x.act->acted.empty());
    CHECK(x.undecided().empty());
    x.check();
  }
  SECTION("or the process dies again, and again") {
    for (int n = 1; n < 6; ++n) {
      {
        next_life x{next, n};
        x.go_on();
        x.pass(1s);
        REQUIRE(x.undecided().size() == 1);
      }
      next = next->crash(static_cast<unsigned>(n));
    }
    next_life x{next, 9};
    x.decide(id, proposal_outcome::denied);
    x.go_on();
    x.run_out();
    CHECK(x.outcomes() == std::vector<std::string>{"denied"});
  }
  const auto lines = log_of(*next, "run_1");
  check_log(lines);
  const auto asked = events_of(lines, "approval_required");
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].at("data").at("proposal_id") == id.value);
  CHECK(events_of(lines, "approval_resolved").size() == 1);
}

TEST_CASE("what waited is decided by the choice of who goes on with it") {
  auto journal = std::make_shared<test_journal>();
  proposal_id id;
  {
    approval_scene x{journal};
    x.play({wants_act});
    x.pass(1s);
    id = x.undecided().at(0).what.id;
  }
  auto next = journal->crash(1);
  next_life x{next};
  x.approval = GENERATE(approve::all, approve::none, approve::nobody);
  CAPTURE(static_cast<int>(x.approval));
  SECTION("as it was shown") {}
  SECTION("or as another one than was shown") { x.act->from = "another"; }
  SECTION("but a person was faster") {
    x.decide(id, proposal_outcome::denied);
    x.approval = approve::all;
  }
  const auto late = x.undecided().empty();
  x.go_on();
  x.run_out();
  const bool approved = x.approval == approve::all && !late;
  CHECK(x.act->acted.size() == (approved ? 1 : 0));
  CHECK(x.undecided().empty());
  const auto lines = log_of(*next, "run_1");
  check_log(lines);
  const auto resolved = events_of(lines, "approval_resolved");
  REQUIRE_FALSE(resolved.empty());
  const auto& last = resolved.back().at("data");
  CHECK(last.at("decision") == (approved ? "approved" : "denied"));
  CHECK(last.value("unasked", false) == (x.approval == approve::nobody));
  x.check();
}

TEST_CASE("what waited and may not run by the rules of now is denied") {
  auto journal = std::make_shared<test_journal>();
  proposal_id id;
  {
    approval_scene x{journal};
    x.act->place = "src/x";
    x.settings.by_name["act"].rules = {{"docs/*", "allow"}};
    x.play({wants_act});
    x.pass(1s);
    id = x.undecided().at(0).what.id;
  }
  next_life x{journal->crash(1)};
  x.act->place = "src/x";
  std::string why = "does not allow";
  SECTION("a rule denies it") {
    x.settings.by_name["act"].rules = {{"src/*", "deny"}};
  }
  SECTION("all calls of its tool are denied") {
    x.settings.by_name["act"].approval = "deny";
  }
  SECTION("it leads elsewhere, where a rule denies it") {
    x.settings.by_name["act"].rules = {{"docs/*", "allow"}, {"etc/*", "deny"}};
    x.act->place = "etc/x";
    x.act->from = "another";
  }
  SECTION("its tool was taken from the agent") {
    x.taken_out = {"act"};
    why = "is not among the agent's tools any more";
  }
  x.go_on();
  x.run_out();
  CHECK(x.act->acted.empty());
  CHECK(x.undecided().empty());
  CHECK(x.outcomes() == std::vector<std::string>{"denied"});
  CHECK(x.told(0).find(why) != std::string::npos);
  const auto resolved = x.only("approval_resolved");
  CHECK(resolved.at("proposal_id") == id.value);
  CHECK(resolved.at("decision") == "denied");
  CHECK(resolved.at("by") == "riffle");
  CHECK(resolved.at("reason").get<std::string>().find(why) !=
        std::string::npos);
  x.check();
  // Who decides now hears what became of it.
  const auto late = x.decide(id, proposal_outcome::approved);
  REQUIRE((late.now && late.now->decided));
  CHECK(late.now->decided->how == proposal_outcome::denied);
  CHECK(late.now->decided->reason.find(why) != std::string::npos);
}

TEST_CASE("what waits for an answer and still may run is asked about as ever") {
  auto journal = std::make_shared<test_journal>();
  {
    approval_scene x{journal};
    x.play({wants_act});
    x.pass(1s);
  }
  next_life x{journal->crash(1)};
  x.settings.by_name["act"].rules = {{"*9*", "deny"}};
  x.go_on();
  x.pass(1s);
  CHECK(x.undecided().size() == 1);
  x.check(true);
}

TEST_CASE("a decision that was acted on before a crash holds after it") {
  // The process ends after each possible number of acknowledgements.
  for (std::size_t acks = 0; acks < 12; ++acks) {
    INFO("acknowledged " << acks);
    auto journal = std::make_shared<test_journal>();
    std::size_t acted = 0;
    bool edited_ran = true;
    {
      approval_scene x{journal};
      x.play({wants_act});
      x.pass(1s);
      x.release_acks = false;
      x.decide(x.undecided().at(0).what.id, proposal_outcome::approved,
               R"({"n":9})");
      x.pass(1s);
      for (std::size_t i = 0; i < acks; ++i) {
        journal->release_one();
        x.settle();
      }
      acted += x.act->acted.size();
      for (const auto& a : x.act->arguments)
        edited_ran = edited_ran && a == R"({"n":9})";
    }
    auto next = journal->crash(acks);
    const auto known = next->load_run(run_id{"run_1"});
    REQUIRE(known);
    if (known->state == storage::run_state::active) {
      next_life x{next};
      x.go_on();
      x.run_out();
      acted += x.act->acted.size();
      for (const auto& a : x.act->arguments)
        edited_ran = edited_ran && a == R"({"n":9})";
      x.check();
    }
    CHECK(acted == 1);
    CHECK(edited_ran);
    const auto lines = log_of(*next, "run_1");
    check_log(lines);
    CHECK(events_of(lines, "approval_required").size() == 1);
  }
}
