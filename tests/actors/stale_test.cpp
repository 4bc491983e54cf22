// SPDX-License-Identifier: MIT
// What was shown is what runs: what has changed since is asked for again.
#include "actors/tools/call_check.hpp"
#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;
using nlohmann::json;

namespace {

const std::string wants_act = model_calls(0, "act") + model_stops("tool_calls");

/// The only proposal without a decision.
storage::proposal_record open_one(approval_scene& x) {
  const auto all = x.undecided();
  REQUIRE(all.size() == 1);
  return all[0].what;
}

}  // namespace

TEST_CASE("what has changed since it was shown is shown and asked for again") {
  approval_scene x;
  x.act->shows = "one";
  x.act->from = "content 1";
  x.play({wants_act});
  x.pass(1s);
  const auto old = open_one(x);
  SECTION("the tool") { x.act->is = " of another kind"; }
  SECTION("what the preview was made from") {
    x.act->shows = "two";
    x.act->from = "content 2";
  }
  SECTION("the preview, if it does not say from what it was made") {
    x.act->from.clear();
    x.act->shows = "two";
  }
  SECTION("whether there is a preview") {
    x.act->shows.clear();
    x.act->from = "nothing";
  }
  x.decide(old.id, proposal_outcome::approved);
  x.pass(1s);
  CHECK(x.act->acted.empty());
  const auto now = open_one(x);
  CHECK(now.replaces == old.id);
  CHECK(now.call == old.call);
  CHECK(now.digest != old.digest);
  const auto asked = events_of(x.reader->lines, "approval_required");
  REQUIRE(asked.size() == 2);
  CHECK(asked[0].at("data").at("digest") == old.digest);
  CHECK(asked[1].at("data").at("digest") == now.digest);
  const auto resolved = x.only("approval_resolved");
  CHECK(resolved.at("proposal_id") == old.id.value);
  CHECK(resolved.at("decision") == "cancelled");
  CHECK(resolved.at("by") == "riffle");
  CHECK(resolved.at("reason").get<std::string>().starts_with("stale"));
  x.check(true);
  x.decide(now.id, proposal_outcome::approved);
  x.run_out();
  CHECK(x.act->acted.size() == 1);
  CHECK(x.act->bases == std::vector{now.basis});
  CHECK(x.undecided().empty());
  x.check();
}

TEST_CASE("what leads to where it is denied by now is not asked for again") {
  approval_scene x;
  x.settings.by_name["act"].rules = {{"etc/*", "deny"}};
  x.act->place = "new/x";
  x.act->from = "content 1";
  x.play({wants_act});
  x.pass(1s);
  const auto old = open_one(x);
  x.act->place = "etc/x";
  x.act->from = "content 2";
  x.decide(old.id, proposal_outcome::approved);
  x.run_out();
  CHECK(x.act->acted.empty());
  CHECK(x.undecided().empty());
  CHECK(x.outcomes() == std::vector<std::string>{"denied"});
  CHECK(x.error_code(0) == "approval_denied");
  CHECK(events_of(x.reader->lines, "approval_required").size() == 1);
  x.check();
}

TEST_CASE("what changes all the while is asked for each time, and ends") {
  approval_scene x;
  x.act->from = "0";
  x.play({wants_act});
  x.pass(1s);
  for (int i = 1; i <= 20; ++i) {
    const auto id = open_one(x).id;
    x.act->from = std::to_string(i);
    x.decide(id, proposal_outcome::approved);
    x.pass(1s);
  }
  CHECK(x.act->acted.empty());
  SECTION("when it stands still") {
    x.decide(open_one(x).id, proposal_outcome::approved);
    x.run_out();
    CHECK(x.act->acted.size() == 1);
  }
  SECTION("or is cancelled") {
    x.cancel();
    x.run_out();
    CHECK(x.act->acted.empty());
    CHECK(x.outcomes() == std::vector<std::string>{"cancelled"});
  }
  x.check();
}

TEST_CASE("a cancel while an approval is looked at again leaves no call open") {
  approval_scene x;
  x.play({wants_act});
  x.pass(1s);
  const auto id = open_one(x).id;
  x.act->is = " of another kind";
  x.run_looks = false;
  x.decide(id, proposal_outcome::approved, {}, always_scope::none, true);
  x.pass(1s);
  x.cancel();
  x.settle();
  x.run_looks = true;
  x.run_out();
  CHECK(x.act->acted.empty());
  CHECK(x.outcomes() == std::vector<std::string>{"cancelled"});
  CHECK(x.undecided().empty());
  x.check();
}

TEST_CASE("edited arguments are bound to the tool and to what was shown") {
  approval_scene x;
  x.act->from = "content 1";
  x.play({wants_act});
  x.pass(1s);
  const auto old = open_one(x);
  const auto changed = GENERATE("nothing", "tool", "content");
  if (changed == std::string{"tool"}) x.act->is = " of another kind";
  if (changed == std::string{"content"}) x.act->from = "content 2";
  x.decide(old.id, proposal_outcome::approved, R"({"n":8})");
  x.pass(1s);
  if (changed == std::string{"nothing"}) {
    CHECK(x.act->arguments == std::vector<std::string>{R"({"n":8})"});
    CHECK(x.act->bases == std::vector<std::string>{"content 1"});
    const auto told = x.only("approval_resolved");
    CHECK(told.at("arguments") == json{{"n", 8}});
  } else {
    CHECK(x.act->acted.empty());
    const auto now = open_one(x);
    CHECK(now.replaces == old.id);
    CHECK(now.arguments == R"({"n":8})");
    x.decide(now.id, proposal_outcome::denied);
  }
  x.run_out();
  x.check();
}

TEST_CASE("changed arguments that are asked for again are what runs") {
  const auto stored = std::make_shared<test_journal>();
  proposal_id open;
  {
    approval_scene x{stored};
    x.act->from = "content 1";
    x.play({wants_act});
    x.pass(1s);
    x.run_looks = false;
    x.decide(open_one(x).id, proposal_outcome::approved, R"({"n":8})");
    x.act->from = "content 2";  // behind the decision
    x.run_looks = true;
    x.pass(1s);
    CHECK(x.act->acted.empty());
    open = open_one(x).id;
    if (GENERATE(true, false)) {
      x.decide(open, proposal_outcome::approved);
      x.run_out();
      CHECK(x.act->arguments == std::vector<std::string>{R"({"n":8})"});
      CHECK(x.act->bases == std::vector<std::string>{"content 2"});
      CHECK(x.told(0).find("changed its arguments") != std::string::npos);
      const auto told = events_of(x.reader->lines, "approval_resolved");
      CHECK(told.back().at("data").at("arguments") == json{{"n", 8}});
      x.check();
      return;
    }
  }
  next_life x{stored->crash(100)};
  x.act->from = "content 2";
  x.go_on();
  x.pass(2s);
  CHECK(open_one(x).id == open);
  x.decide(open, proposal_outcome::approved);
  x.run_out();
  CHECK(x.act->arguments == std::vector<std::string>{R"({"n":8})"});
  x.check();
}

TEST_CASE("a run that is killed between stale and asked again asks once") {
  for (std::size_t acks = 0; acks < 8; ++acks) {
    INFO("acknowledged " << acks);
    auto journal = std::make_shared<test_journal>();
    {
      approval_scene x{journal};
      x.act->from = "content 1";
      x.play({wants_act});
      x.pass(1s);
      x.act->from = "content 2";
      x.release_acks = false;
      x.decide(open_one(x).id, proposal_outcome::approved, {},
               always_scope::none, true);
      x.settle();
      for (std::size_t i = 0; i < acks; ++i) {
        journal->release_one();
        x.settle();
      }
    }
    auto next = journal->crash(acks);
    next_life x{next};
    x.act->from = "content 2";
    x.go_on();
    x.pass(2s);
    CHECK(x.act->acted.empty());
    x.decide(open_one(x).id, proposal_outcome::approved);
    x.run_out();
    CHECK(x.act->acted.size() == 1);
    check_log(log_of(*next, "run_1"));
    CHECK(x.undecided().empty());
  }
}

TEST_CASE("what has changed while nobody ran is shown as it is now") {
  auto journal = std::make_shared<test_journal>();
  proposal_id old;
  {
    approval_scene x{journal};
    x.act->shows = "one";
    x.act->from = "content 1";
    x.play({wants_act});
    x.pass(1s);
    old = open_one(x).id;
  }
  const bool changed = GENERATE(true, false);
  auto next = journal->crash(100);
  next_life x{next};
  x.act->shows = changed ? "two" : "one";
  x.act->from = changed ? "content 2" : "content 1";
  x.go_on();
  x.pass(2s);
  const auto now = open_one(x);
  CHECK((now.id == old) == !changed);
  CHECK(now.preview == (changed ? "two" : "one"));
  CHECK(now.replaces == (changed ? old : proposal_id{}));
  x.decide(now.id, proposal_outcome::approved);
  x.run_out();
  CHECK(x.act->bases == std::vector{now.basis});
  CHECK(x.undecided().empty());
  check_log(log_of(*next, "run_1"));
}

TEST_CASE("a run that is killed while it withdraws an old picture asks once") {
  for (std::size_t acks = 0; acks < 6; ++acks) {
    INFO("acknowledged " << acks);
    auto journal = std::make_shared<test_journal>();
    {
      approval_scene x{journal};
      x.act->from = "content 1";
      x.play({wants_act});
      x.pass(1s);
    }
    auto second = journal->crash(100);
    {
      next_life x{second};
      x.act->from = "content 2";
      x.release_acks = false;
      x.go_on();
      x.settle();
      for (std::size_t i = 0; i < acks; ++i) {
        second->release_one();
        x.settle();
      }
    }
    auto third = second->crash(acks);
    next_life x{third, 2};
    x.act->from = "content 2";
    x.go_on();
    x.pass(2s);
    CHECK(x.act->acted.empty());
    x.decide(open_one(x).id, proposal_outcome::approved);
    x.run_out();
    CHECK(x.act->acted.size() == 1);
    CHECK(x.undecided().empty());
    check_log(log_of(*third, "run_1"));
  }
}

TEST_CASE("what a finished run proposed, and has changed, is proposed anew") {
  approval_scene x;
  x.propose = true;
  x.act->from = "content 1";
  x.play({wants_act});
  x.run_out();
  const auto old = open_one(x);
  const auto cause = *x.decide(old.id, proposal_outcome::approved).now;
  const bool stale = GENERATE(true, false);
  if (stale) x.act->from = "content 2";
  auto spec = x.make_spec("run_2");
  spec->cause = cause;
  spec->caused_call = call_of_cause(*spec);
  x.start(spec);
  x.pass(5s);
  const auto lines = log_of(*x.journal, "run_2");
  check_log(lines);
  const auto result = events_of(lines, "tool_result").at(0).at("data");
  CHECK(result.at("outcome") == (stale ? "denied" : "ok"));
  CHECK(x.act->acted.size() == (stale ? 0 : 1));
  if (!stale) {
    CHECK(x.act->bases == std::vector<std::string>{"content 1"});
    return;
  }
  const auto now = open_one(x);
  CHECK(now.replaces == old.id);
  CHECK_FALSE(now.waits);
  CHECK(events_of(lines, "final_answer")
            .at(0)
            .at("data")
            .at("content")
            .get<std::string>()
            .find(now.id.value) != std::string::npos);
  auto again = x.make_spec("run_3");
  again->cause = *x.decide(now.id, proposal_outcome::approved).now;
  again->caused_call = call_of_cause(*again);
  x.start(again);
  x.pass(5s);
  CHECK(x.act->bases == std::vector<std::string>{"content 2"});
}
