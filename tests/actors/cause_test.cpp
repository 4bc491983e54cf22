// SPDX-License-Identifier: MIT
// Runs that approvals cause: started though it takes a while, and at most once.
#include "tests/actors/propose_scene.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;

namespace {

const std::string wants_act = model_calls(0, "act") + model_stops("tool_calls");

}  // namespace

TEST_CASE("what was approved starts as soon as what hinders it has passed") {
  propose_scene x;
  x.play({wants_act});
  x.run_out();
  const auto id = x.undecided().at(0).what.id;
  std::optional<error> why;
  SECTION("the process has all runs that it may") {
    why = error{errc::budget_exceeded, "run_registry", "max_runs"};
  }
  SECTION("the journal takes nothing") {
    why = error{errc::storage_unavailable, "journal", "the disk is full"};
  }
  SECTION("the registry does not answer") {}
  x.stop_starts(why);
  x.approve(id);
  x.pass(200s);
  CHECK(x.starts >= 2);
  CHECK(x.starts <= 25);  // it is no storm
  CHECK(x.act->acted.empty());
  x.go_on_with_starts();
  x.pass(120s);
  CHECK(x.act->acted.size() == 1);
  check_log(log_of(*x.journal, "run_" + std::to_string(x.last)));
}

TEST_CASE("what an approved call needs is made beside the inbox") {
  propose_scene x;
  x.inbox_executor = std::make_shared<manual_executor>();
  x.play({wants_act});
  x.run_out();
  x.approve(x.undecided().at(0).what.id);
  x.pass(5s);
  CHECK(x.act->acted.empty());
  auto& jobs = x.inbox_executor->jobs;
  REQUIRE(jobs.size() == 1);  // once, and the inbox did not wait for it
  jobs.front().work();
  x.pass(5s);
  CHECK(x.act->acted.size() == 1);
}

TEST_CASE("what throws while a run is made costs that run, not the inbox") {
  propose_scene x;
  bool breaks = true;
  x.make_cause_spec = [&breaks, made = x.make_cause_spec](const auto& cause) {
    if (breaks) throw std::runtime_error{"a fault of the test"};
    return made(cause);
  };
  x.play({wants_act});
  x.run_out();
  x.approve(x.undecided().at(0).what.id);
  x.pass(5s);
  CHECK(x.act->acted.empty());
  breaks = false;
  caf::anon_send(x.inbox, queued_cause{x.journal->list_proposals({})->at(0)});
  x.pass(5s);
  CHECK(x.act->acted.size() == 1);
}

TEST_CASE("what was approved is given up for what stays") {
  propose_scene x;
  x.play({wants_act});
  x.run_out();
  const auto id = x.undecided().at(0).what.id;
  x.stop_starts(error{errc::invalid_config, "node", "no such agent"});
  x.approve(id);
  x.pass(200s);
  CHECK(x.starts == 1);
  SECTION("and starts when it is approved again") {
    x.go_on_with_starts();
    caf::anon_send(x.inbox, queued_cause{x.journal->list_proposals({})->at(0)});
    x.pass(5s);
    CHECK(x.act->acted.size() == 1);
  }
}

TEST_CASE("a run with a cause that is killed acts at most once") {
  for (std::size_t acks = 0; acks < 10; ++acks) {
    INFO("acknowledged " << acks);
    auto journal = std::make_shared<test_journal>();
    storage::proposal_state cause;
    std::size_t acted = 0;
    {
      approval_scene x{journal};
      x.propose = true;
      x.play({wants_act});
      x.run_out();
      cause = *x.decide(x.undecided().at(0).what.id, proposal_outcome::approved)
                   .now;
      x.release_acks = false;
      auto spec = x.make_spec("run_2");
      spec->cause = cause;
      x.start(spec);
      x.settle();
      for (std::size_t i = 0; i < acks; ++i) {
        journal->release_one();
        x.settle();
      }
      acted += x.act->acted.size();
    }
    auto next = journal->crash(acks);
    const auto known = next->load_run(run_id{"run_2"});
    REQUIRE(known);
    CHECK(known->cause == cause.what.id);
    if (known->state == storage::run_state::active) {
      next_life x{next};
      x.begin();
      auto spec = x.make_spec("run_2");
      spec->cause = cause;
      x.resume(spec);
      x.run_out();
      acted += x.act->acted.size();
      CHECK(x.provider->requests.empty());
    }
    const auto lines = log_of(*next, "run_2");
    check_log(lines);
    const auto end = events_of(lines, "tool_result").at(0).at("data");
    CHECK(acted <= 1);
    if (end.at("outcome") == "ok") CHECK(acted == 1);
  }
}

TEST_CASE("a run with a cause executes what was approved and nothing else") {
  approval_scene x;
  x.propose = true;
  x.play({wants_act});
  x.run_out();
  auto cause =
      *x.decide(x.undecided().at(0).what.id, proposal_outcome::approved).now;
  SECTION("not other arguments") { cause.what.arguments = R"({"n":2})"; }
  SECTION("not another tool") { cause.what.tool = "redo"; }
  auto spec = x.make_spec("run_2");
  spec->cause = cause;
  x.start(spec);
  x.pass(5s);
  CHECK(x.act->acted.empty());
  CHECK(x.redo->acted.empty());
  const auto lines = log_of(*x.journal, "run_2");
  check_log(lines);
  CHECK(events_of(lines, "tool_result").at(0).at("data").at("outcome") ==
        "denied");
}

TEST_CASE("a denied proposal starts nothing") {
  propose_scene x;
  x.play({wants_act});
  x.run_out();
  auto answer = x.decide(x.undecided().at(0).what.id, proposal_outcome::denied);
  caf::anon_send(x.inbox, queued_cause{*answer.now});
  x.pass(5s);
  CHECK(x.act->acted.empty());
  CHECK_FALSE(x.journal->load_run(run_id{"run_2"}));
}
