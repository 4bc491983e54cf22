// SPDX-License-Identifier: MIT
// Nobody is asked about a call that was not looked at, and no approval counts
// that was not compared, however busy the process is.
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "actors/tools/call_check.hpp"
#include "runtime/base/digest.hpp"
#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;

namespace {

const std::string wants_act = model_calls(0, "act") + model_stops("tool_calls");

storage::proposal_record open_one(approval_scene& x) {
  const auto all = x.undecided();
  REQUIRE(all.size() == 1);
  return all[0].what;
}

std::size_t asked(const approval_scene& x) {
  return events_of(x.reader->lines, "approval_required").size();
}

/// Which calls of several, in the order of their questions.
std::vector<int> numbers_asked(const approval_scene& x) {
  std::vector<int> out;
  for (const auto& one : events_of(x.reader->lines, "approval_required"))
    out.push_back(one.at("data").at("arguments").at("n").get<int>());
  return out;
}

}  // namespace

TEST_CASE("a look at a call needs no thread of the tools") {
  approval_scene x;
  x.act->from = "content 1";
  x.run_blocking = x.begin_blocking = false;  // they are all busy
  x.play({wants_act});
  x.settle();
  const auto first = open_one(x);
  CHECK(first.preview == "");
  CHECK(first.basis == "content 1");
  CHECK(first.definition.size() == 64);
  x.act->from = "content 2";
  x.decide(first.id, proposal_outcome::approved);
  x.pass(1s);
  CHECK(open_one(x).replaces == first.id);
  x.cancel();
  x.run_out();
  x.check();
}

TEST_CASE("a look that takes its time is waited for") {
  approval_scene x;
  x.run_looks = false;
  x.act->from = "content 1";
  SECTION("before anybody is asked") {
    x.first_looks = GENERATE(0, 1);
    x.play({wants_act});
    x.pass(20s);
    CHECK(asked(x) == 0);
    x.run_looks = true;
    x.pass(1s);
    CHECK(open_one(x).basis == "content 1");
    CHECK(open_one(x).definition.size() == 64);
  }
  SECTION("and before what was approved acts") {
    x.run_looks = true;
    x.play({wants_act});
    x.pass(1s);
    x.run_looks = false;
    x.decide(open_one(x).id, proposal_outcome::approved);
    x.pass(20s);
    CHECK(x.act->acted.empty());
    CHECK(asked(x) == 1);
    x.run_looks = true;
    x.pass(1s);
    CHECK(x.act->bases == std::vector<std::string>{"content 1"});
  }
  x.cancel();
  x.run_out();
  x.check();
}

TEST_CASE("a call that cannot be looked at ends, and says so") {
  approval_scene x;
  x.run_looks = false;
  x.first_looks = GENERATE(0, 1);
  SECTION("a person would be asked") {}
  SECTION("nobody is there") { x.approval = approve::nobody; }
  SECTION("the proposal would stay open") { x.propose = true; }
  x.play({wants_act});
  x.pass(3min);
  CHECK(asked(x) == 0);
  CHECK(x.act->acted.empty());
  CHECK(x.undecided().empty());
  CHECK(x.outcomes() == std::vector<std::string>{"failed"});
  CHECK(x.error_code(0) == "timeout");
  CHECK(x.told(0).find("looked at") != std::string::npos);
  x.run_looks = true;
  x.run_out();  // too late
  CHECK(asked(x) == 0);
  x.check();
}

TEST_CASE("a call that can only fail fails, and nobody is asked about it") {
  approval_scene x;
  x.act->impossible =
      error{errc::invalid_arguments, "act", "old_string is not in f"};
  SECTION("a person would be asked") {}
  SECTION("nobody is there") { x.approval = approve::nobody; }
  SECTION("the proposal would stay open") { x.propose = true; }
  x.play({wants_act});
  x.run_out();
  CHECK(asked(x) == 0);
  CHECK(x.act->acted.empty());
  CHECK(x.undecided().empty());
  CHECK(x.outcomes() == std::vector<std::string>{"failed"});
  CHECK(x.error_code(0) == "invalid_arguments");
  CHECK(x.told(0).find("old_string is not in f") != std::string::npos);
  x.check();
}

TEST_CASE("what was approved and can only fail by then says why") {
  approval_scene x;
  x.play({wants_act});
  x.run_out();
  const auto proposal = open_one(x);
  x.act->impossible =
      error{errc::invalid_arguments, "act", "old_string is not in f"};
  x.decide(proposal.id, proposal_outcome::approved);
  x.run_out();
  CHECK(asked(x) == 1);
  CHECK(x.act->acted.empty());
  CHECK(x.outcomes() == std::vector<std::string>{"failed"});
  CHECK(x.error_code(0) == "invalid_arguments");
  x.check();
}

TEST_CASE("what was approved and cannot be looked at again does not act") {
  approval_scene x;
  x.play({wants_act});
  x.pass(1s);
  x.run_looks = false;
  x.decide(open_one(x).id, proposal_outcome::approved);
  x.pass(3min);
  CHECK(x.act->acted.empty());
  CHECK(x.undecided().empty());
  CHECK(x.outcomes() == std::vector<std::string>{"failed"});
  CHECK(x.told(0).find("looked at") != std::string::npos);
  CHECK(x.told(0).find("changed") == std::string::npos);
  const auto resolved = x.only("approval_resolved");
  CHECK(resolved.at("decision") == "cancelled");
  CHECK(resolved.at("by") == "riffle");
  x.run_looks = true;
  x.run_out();
  CHECK(x.act->acted.empty());
  x.check();
}

TEST_CASE("an always that is looked for late still holds") {
  approval_scene x;
  const auto first = model_calls(0, "act") + model_stops("tool_calls");
  const auto second =
      model_calls(0, "act", {{"n", 2}}) + model_stops("tool_calls");
  x.approval = approve::ask;
  x.play({first, second});
  x.pass(1s);
  x.decide(open_one(x).id, proposal_outcome::approved, {}, always_scope::tool);
  x.act->also = [&](tools::tool_context&) { x.run_looks = false; };
  x.pass(20s);
  x.act->also = {};
  CHECK(asked(x) == 1);
  x.run_looks = true;
  x.run_out();
  CHECK(x.act->acted.size() == 2);
  x.check();
}

TEST_CASE("an edited call is looked at by a look, not by an actor") {
  approval_scene x;
  x.play({wants_act});
  x.pass(1s);
  const auto id = open_one(x).id;
  x.run_looks = false;
  const auto asked = x.act->subjects;
  x.decide(id, proposal_outcome::approved, R"({"n":7})");
  x.settle();
  CHECK(x.act->subjects == asked);
  CHECK(x.act->acted.empty());
  x.run_looks = true;
  x.run_out();
  CHECK(x.act->subjects > asked);
  CHECK(x.act->arguments == std::vector<std::string>{R"({"n":7})"});
  x.check();
}

TEST_CASE("an approval of what nobody looked at is asked for again") {
  approval_scene x;
  x.propose = true;
  x.play({wants_act});
  x.run_out();
  auto cause = *x.decide(open_one(x).id, proposal_outcome::approved).now;
  // As an earlier Riffle stored it when no thread was free.
  cause.what.definition.clear();
  cause.what.basis.clear();
  cause.what.digest =
      proposal_digest(cause.what.tool, cause.what.arguments, {}, {});
  cause.decided->digest = cause.what.digest;
  auto spec = x.make_spec("run_2");
  spec->cause = cause;
  spec->caused_call = call_of_cause(*spec);
  x.start(spec);
  x.pass(5s);
  CHECK(x.act->acted.empty());
  const auto now = open_one(x);
  CHECK(now.replaces == cause.what.id);
  CHECK(now.definition.size() == 64);
  const auto result =
      events_of(log_of(*x.journal, "run_2"), "tool_result").at(0).at("data");
  CHECK(result.at("outcome") == "denied");
  CHECK(result.dump().find("has changed") == std::string::npos);
}

TEST_CASE("a run whose looks hang has few of them at a time") {
  approval_scene x;
  x.run_looks = false;
  x.first_looks = 1;
  std::string many;
  // Calls that change something are asked about one after the other.
  x.settings.by_name["look"].approval = "ask";
  for (int i = 0; i < 40; ++i) many += model_calls(i, "look", {{"n", i}});
  x.play({many + model_stops("tool_calls")});
  x.pass(1s);
  CHECK(x.looks->jobs.size() <= 4);
  x.run_looks = true;
  x.pass(1s);
  CHECK(x.undecided().size() == 40);
  x.cancel();
  x.run_out();
  x.check();
}

TEST_CASE("looks end in any order, questions come in the model's, 200 times") {
  int out_of_order = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    approval_scene x;
    x.run_looks = false;
    x.first_looks = 2;  // at what the model wrote: one call, then the others
    x.settings.by_name["look"].approval = "ask";
    const int n = 2 + static_cast<int>(random() % 7);
    std::string words;
    std::vector<int> model;
    for (int i = 0; i < n; ++i) {
      words += model_calls(i, "look", {{"n", i}});
      model.push_back(i);
    }
    x.play({words + model_stops("tool_calls")});
    x.settle();
    // One of them may take so long that the others are asked about before it.
    const int hangs = random() % 4 == 0 ? static_cast<int>(random() % 2) : -1;
    auto& jobs = x.looks->jobs;
    REQUIRE(std::cmp_equal(jobs.size(), std::min(n, 4)));
    std::optional<manual_executor::task> held;
    if (hangs >= 0) {
      held = std::move(jobs[static_cast<std::size_t>(hangs)]);
      jobs.erase(jobs.begin() + hangs);
      model.erase(model.begin() + hangs);
      model.push_back(hangs);
    }
    int ended = 0;
    for (; !jobs.empty(); ++ended) {
      const auto next = static_cast<std::ptrdiff_t>(random() % jobs.size());
      out_of_order += next > 0 ? 1 : 0;
      std::rotate(jobs.begin(), jobs.begin() + next, jobs.begin() + next + 1);
      x.looks->run_one();
      x.settle();
      const auto now = numbers_asked(x);
      REQUIRE(std::cmp_less_equal(now.size(), ended + 1));
      REQUIRE(std::equal(now.begin(), now.end(), model.begin()));
    }
    if (held) {
      x.pass(11s);
      CHECK(std::cmp_equal(numbers_asked(x).size(), n - 1));
      held->work();
      x.settle();
    }
    CHECK(numbers_asked(x) == model);
    x.cancel();
    x.run_out();
    x.check();
  }
  CHECK(out_of_order > 200);
}

TEST_CASE("a tool that throws about a call costs that call alone") {
  approval_scene x;
  x.act->fails_in =
      GENERATE("title", "keys", "subject", "preview", "definition");
  x.act->oddly = GENERATE(false, true);
  CAPTURE(x.act->fails_in, x.act->oddly);
  const bool later = GENERATE(false, true);  // when what was approved begins
  const auto function = x.act->fails_in;
  if (later) x.act->fails_in.clear();
  x.act->place = "docs/x";
  x.play({model_calls(0, "act") + model_calls(1, "look") +
          model_stops("tool_calls")});
  x.pass(1s);
  if (later) {
    x.act->fails_in = function;
    x.decide(open_one(x).id, proposal_outcome::approved);
    x.pass(1s);
  }
  x.run_out();
  x.check();
  CHECK(x.only("run_finished").at("status") == "completed");
  CHECK(x.look->acted.size() == 1);
  if (later && function == "title") {  // nobody asks for it any more
    CHECK(x.outcomes() == std::vector<std::string>{"ok", "ok"});
    return;
  }
  CHECK(x.outcomes() == std::vector<std::string>{"failed", "ok"});
  CHECK(x.error_code(0) == "tool_execution_error");
  CHECK(x.act->acted.empty());
  CHECK(x.told(0).find("`act` failed in its function `" + function + "`") !=
        std::string::npos);
  CHECK(events_of(x.reader->lines, "retry").empty());
  CHECK(x.undecided().empty());
}
