// SPDX-License-Identifier: MIT
// What an answer allowed for further calls goes when that answer is void.
#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;

namespace {

using strings = std::vector<std::string>;

const std::string wants_three =
    model_calls(0, "act") + model_calls(1, "act", {{"n", 2}}) +
    model_calls(2, "act", {{"n", 3}}) + model_stops("tool_calls");

storage::proposal_record only_open(approval_scene& x) {
  const auto all = x.undecided();
  REQUIRE(all.size() == 1);
  return all[0].what;
}

void approve_open(approval_scene& x) {
  x.decide(only_open(x).id, proposal_outcome::approved);
  x.pass(1s);
}

/// Three calls; the first one runs, the others are approved ahead.
void approve_three(approval_scene& x,
                   always_scope always = always_scope::none) {
  x.act->from = "content 1";
  x.act->own_keys = true;
  x.run_blocking = false;
  x.play({wants_three});
  x.pass(1s);
  for (int i = 0; i < 3; ++i) {
    x.decide(only_open(x).id, proposal_outcome::approved, {},
             i == 0 ? always_scope::none : always);
    x.pass(1s);
  }
  REQUIRE(x.blocking->jobs.size() == 1);
  CHECK(x.undecided().empty());
}

}  // namespace

TEST_CASE("a no takes back what the doubted answer to that call had allowed") {
  approval_scene x;
  x.act->from = "content 1";
  x.act->own_keys = true;
  x.run_blocking = false;
  x.play({wants_three,
          model_calls(0, "act", {{"n", 2}}) + model_stops("tool_calls")});
  x.pass(1s);
  approve_open(x);
  const auto scope = GENERATE(always_scope::tool, always_scope::call);
  x.decide(only_open(x).id, proposal_outcome::approved, {}, scope);
  x.pass(1s);
  if (scope == always_scope::call) approve_open(x);
  REQUIRE(x.undecided().empty());
  x.act->throw_times = 1;
  x.run_blocking = true;
  x.pass(1s);
  CHECK(only_open(x).arguments == R"({"n":2})");
  x.decide(only_open(x).id, proposal_outcome::denied);
  x.pass(1s);
  CHECK(only_open(x).arguments == R"({"n":3})");
  CHECK(only_open(x).reason ==
        "asked again: a call before it did not end well");
  x.decide(only_open(x).id, proposal_outcome::denied);
  x.pass(1s);
  // The next turn.
  CHECK(only_open(x).arguments == R"({"n":2})");
  x.decide(only_open(x).id, proposal_outcome::denied);
  x.run_out();
  CHECK(x.act->acted.size() == 1);
  x.check();
}

TEST_CASE("what was always allowed goes on behind a call that failed") {
  approval_scene x;
  x.act->from = "content 1";
  x.act->own_keys = true;
  x.run_blocking = false;
  x.play({wants_three});
  x.pass(1s);
  x.decide(only_open(x).id, proposal_outcome::approved, {}, always_scope::tool);
  x.pass(1s);
  x.act->throw_times = 1;
  x.run_blocking = true;
  x.run_out();
  CHECK(x.act->arguments.size() == 3);
  CHECK(events_of(x.reader->lines, "approval_required").size() == 3);
  x.check();
}

TEST_CASE("what an answer allowed goes with it when it is asked again") {
  approval_scene x;
  approve_three(x, always_scope::call);
  const auto grants = [&] { return x.journal->grants({})->size(); };
  CHECK(grants() == 2);  // of the calls behind the first one
  x.act->throw_times = 1;
  x.run_blocking = true;
  x.pass(1s);
  const auto again = only_open(x);
  CHECK(again.arguments == R"({"n":2})");
  CHECK(again.reason ==
        "asked again: a call before it did not end well; what that answer "
        "allowed for further calls is taken back");
  CHECK(grants() == 1);
  x.decide(again.id, proposal_outcome::denied);
  x.pass(1s);
  CHECK(grants() == 0);  // the third answer is in doubt as well
  CHECK(only_open(x).arguments == R"({"n":3})");
  CHECK(x.act->acted.size() == 1);
}
