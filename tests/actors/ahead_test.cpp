// SPDX-License-Identifier: MIT
// The next question comes while what was approved still runs; what was shown is
// what runs all the same.
#include <algorithm>

#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;

namespace {

using strings = std::vector<std::string>;

const std::string wants_two = model_calls(0, "act") +
                              model_calls(1, "act", {{"n", 2}}) +
                              model_stops("tool_calls");

storage::proposal_record only_open(approval_scene& x) {
  const auto all = x.undecided();
  REQUIRE(all.size() == 1);
  return all[0].what;
}

void approve_open(approval_scene& x) {
  x.decide(only_open(x).id, proposal_outcome::approved);
  x.pass(1s);
}

/// The first of the two calls has what it needs and runs on, the second one is
/// asked about.
void lead_ahead(approval_scene& x) {
  x.act->from = "content 1";
  x.act->own_keys = true;
  x.run_blocking = false;
  x.play({wants_two});
  x.pass(1s);
  const auto first = only_open(x);
  approve_open(x);
  REQUIRE(x.blocking->jobs.size() == 1);
  REQUIRE(x.act->acted.empty());
  CHECK(only_open(x).call != first.call);
}

}  // namespace

TEST_CASE("the next question comes while what was approved runs") {
  approval_scene x;
  lead_ahead(x);
  approve_open(x);
  CHECK(x.undecided().empty());
  CHECK(x.blocking->jobs.size() == 1);  // one by one
  x.run_blocking = true;
  x.run_out();
  CHECK(x.act->arguments == strings{R"({"n":1})", R"({"n":2})"});
  CHECK(x.act->bases == strings{"content 1", "content 1"});
  CHECK(events_of(x.reader->lines, "approval_required").size() == 2);
  CHECK(x.outcomes() == strings{"ok", "ok"});
  x.check();
}

TEST_CASE("what may change anything is asked about behind what runs") {
  approval_scene x;
  x.run_blocking = false;
  x.play({wants_two});
  x.pass(1s);
  approve_open(x);
  CHECK(x.undecided().empty());
  x.run_blocking = true;
  x.pass(1s);
  approve_open(x);
  x.run_out();
  CHECK(x.outcomes() == strings{"ok", "ok"});
  x.check();
}

TEST_CASE("what the running call changed is shown, and asked for, again") {
  approval_scene x;
  lead_ahead(x);
  x.act->also = [&](tools::tool_context&) { x.act->from = "content 2"; };
  const auto early = only_open(x);
  SECTION("when it was approved before") { approve_open(x); }
  std::string runs = R"({"n":2})";
  SECTION("when it was approved before, with other arguments") {
    runs = R"({"n":3})";
    x.decide(early.id, proposal_outcome::approved, runs);
    x.pass(1s);
  }
  SECTION("when it is still open") {}
  x.run_blocking = true;
  x.pass(1s);
  CHECK(x.act->acted.size() == 1);
  const auto now = only_open(x);
  CHECK(now.replaces == early.id);
  CHECK(now.call == early.call);
  CHECK(now.basis == "content 2");
  CHECK(now.arguments == runs);
  CHECK(now.reason.starts_with("asked again: "));
  approve_open(x);
  x.run_out();
  CHECK(x.act->arguments == strings{R"({"n":1})", runs});
  CHECK(x.act->bases == strings{"content 1", "content 2"});
  x.check();
}

TEST_CASE("changed arguments are bound to what they act on") {
  const auto stored = std::make_shared<test_journal>();
  const bool known = GENERATE(true, false);
  const bool killed = GENERATE(true, false);
  CAPTURE(known, killed);
  approval_scene x{stored};
  lead_ahead(x);
  x.knows_tools = known;
  x.decide(only_open(x).id, proposal_outcome::approved, R"({"n":3})");
  x.pass(1s);
  if (!known) {  // nobody could say whether it has changed since
    CHECK(only_open(x).arguments == R"({"n":3})");
    approve_open(x);
  }
  CHECK(x.undecided().empty());
  if (!killed) {
    x.run_blocking = true;
    x.run_out();
    CHECK(x.act->arguments == strings{R"({"n":1})", R"({"n":3})"});
    CHECK(x.act->bases == strings{"content 1", "content 1"});
    x.check();
    return;
  }
  next_life y{stored->crash(1)};
  y.act->own_keys = true;
  y.act->from = "content 2";
  y.go_on();
  y.pass(1s);
  CHECK(y.act->acted.empty());
  CHECK(only_open(y).arguments == R"({"n":3})");
  CHECK(only_open(y).basis == "content 2");
  approve_open(y);
  y.run_out();
  CHECK(y.act->arguments == strings{R"({"n":3})"});
  CHECK(y.act->bases == strings{"content 2"});
  y.check();
}

TEST_CASE("what says nothing of its content is asked about in its turn") {
  approval_scene x;
  x.act->own_keys = true;
  SECTION("and shows nothing") { x.act->blind = true; }
  SECTION("but shows what it would call") { x.act->shows = "fmt f.txt"; }
  x.run_blocking = false;
  x.play({wants_two});
  x.pass(1s);
  approve_open(x);
  REQUIRE(x.blocking->jobs.size() == 1);
  CHECK(x.undecided().empty());  // the second one may change meanwhile
  x.run_blocking = true;
  x.pass(1s);
  approve_open(x);
  x.run_out();
  CHECK(x.act->arguments == strings{R"({"n":1})", R"({"n":2})"});
  x.check();
}

TEST_CASE("what was approved ahead is asked for again when a call fails") {
  approval_scene x;
  lead_ahead(x);
  const auto early = only_open(x);
  approve_open(x);
  x.act->throw_times = 1;
  x.run_blocking = true;
  x.pass(1s);
  CHECK(x.act->acted.size() == 1);
  const auto now = only_open(x);
  CHECK(now.replaces == early.id);
  CHECK(now.basis == early.basis);
  CHECK(now.reason == "asked again: a call before it did not end well");
  const auto told = events_of(x.reader->lines, "status").back();
  CHECK(told.at("data").at("text").get<std::string>().starts_with(
      "you are asked again about "));
  const bool still = GENERATE(true, false);
  x.decide(now.id,
           still ? proposal_outcome::approved : proposal_outcome::denied);
  x.run_out();
  CHECK(x.act->acted.size() == (still ? 2 : 1));
  CHECK(x.outcomes().back() == (still ? "ok" : "denied"));
  x.check();
}

TEST_CASE("what only an earlier call makes possible is asked about behind it") {
  approval_scene x;
  x.act->from = "content 1";
  x.act->own_keys = true;
  x.run_blocking = false;
  x.play({wants_two});
  x.pass(1s);
  x.act->also = [&](tools::tool_context&) { x.act->impossible.reset(); };
  const bool comes_true = GENERATE(true, false);
  const auto first = only_open(x);
  x.decide(first.id, proposal_outcome::approved);
  // The second look at the first call comes before the first at the second.
  x.run_looks = false;
  x.first_looks = 1;
  x.pass(1s);
  x.act->impossible = error{errc::invalid_arguments, "test", "no such file"};
  if (!comes_true) x.act->also = {};
  x.run_looks = true;
  x.pass(1s);
  CHECK(x.undecided().empty());
  x.run_blocking = true;
  x.pass(1s);
  if (comes_true) {
    approve_open(x);
    x.run_out();
    CHECK(x.outcomes() == strings{"ok", "ok"});
  } else {
    x.run_out();
    CHECK(x.outcomes() == strings{"ok", "failed"});
    CHECK(x.told(1).find("no such file") != std::string::npos);
  }
  x.check();
}

TEST_CASE("the run ends while one call runs and the next was approved") {
  approval_scene x;
  lead_ahead(x);
  if (GENERATE(true, false)) approve_open(x);
  x.cancel();
  x.settle();
  x.run_blocking = true;
  x.run_out();
  CHECK(x.act->acted.size() == 1);
  CHECK(x.undecided().empty());
  CHECK(x.outcomes().back() == "cancelled");
  x.check();
}

TEST_CASE("what was approved ahead of a crash is asked for when it begins") {
  const auto stored = std::make_shared<test_journal>();
  proposal_id early;
  {
    approval_scene x{stored};
    lead_ahead(x);
    early = only_open(x).id;
    approve_open(x);
  }
  next_life x{stored->crash(1)};
  x.act->own_keys = true;
  const bool changed = GENERATE(true, false);
  x.act->from = changed ? "content 2" : "content 1";
  x.go_on();
  x.pass(1s);
  // Nobody knows how far the first call came.
  CHECK(x.act->acted.empty());
  CHECK(only_open(x).replaces == early);
  CHECK(only_open(x).basis == x.act->from);
  approve_open(x);
  x.run_out();
  CHECK(x.act->arguments == strings{R"({"n":2})"});
  CHECK(x.outcomes() == strings{"interrupted", "ok"});
  x.check();
}

namespace {

const std::string wants_three =
    model_calls(0, "act") + model_calls(1, "act", {{"n", 2}}) +
    model_calls(2, "act", {{"n", 3}}) + model_stops("tool_calls");

/// Three calls; the first one runs, the others are approved ahead.
void approve_three(approval_scene& x) {
  x.act->from = "content 1";
  x.act->own_keys = true;
  x.run_blocking = false;
  x.play({wants_three});
  x.pass(1s);
  for (int i = 0; i < 3; ++i) approve_open(x);
  REQUIRE(x.blocking->jobs.size() == 1);
  CHECK(x.undecided().empty());
}

}  // namespace

TEST_CASE("a no to what is asked again is asked about what was behind it") {
  const auto stored = std::make_shared<test_journal>();
  const auto killed = GENERATE("never", "before the no", "behind the no");
  CAPTURE(killed);
  approval_scene x{stored};
  approve_three(x);
  x.act->also = [&](tools::tool_context&) { x.act->from = "content 2"; };
  x.run_blocking = true;
  x.pass(1s);
  CHECK(x.act->acted.size() == 1);
  const auto second = only_open(x);
  const auto go_on = [&](approval_scene& y, bool says_no) {
    y.act->from = "content 2";
    if (says_no) y.decide(only_open(y).id, proposal_outcome::denied);
    y.pass(1s);
    const auto third = only_open(y);
    CHECK(third.call != second.call);
    CHECK(third.arguments == R"({"n":3})");
    CHECK(third.reason == "asked again: a call before it did not end well");
    approve_open(y);
    y.run_out();
    CHECK(y.outcomes() == strings{"ok", "denied", "ok"});
    CHECK(y.act->arguments.back() == R"({"n":3})");
    y.check();
  };
  if (killed == std::string{"never"}) return go_on(x, true);
  const bool before = killed == std::string{"before the no"};
  if (!before) {
    x.decide(second.id, proposal_outcome::denied);
    x.pass(1s);
  }
  next_life y{stored->crash(100)};
  y.act->own_keys = true;
  y.act->from = "content 2";
  y.go_on();
  y.pass(1s);
  go_on(y, before);
}

TEST_CASE("a failure ahead of a crash counts behind it") {
  const auto stored = std::make_shared<test_journal>();
  {
    approval_scene x{stored};
    approve_three(x);
    x.act->throw_times = 1;
    x.run_blocking = true;
    x.pass(1s);
    CHECK(only_open(x).arguments == R"({"n":2})");
  }
  next_life x{stored->crash(100)};
  x.act->own_keys = true;
  x.act->from = "content 1";
  x.go_on();
  x.pass(1s);
  CHECK(only_open(x).arguments == R"({"n":2})");
  approve_open(x);
  x.pass(1s);
  CHECK(x.act->arguments == strings{R"({"n":2})"});
  CHECK(only_open(x).arguments == R"({"n":3})");
  CHECK(only_open(x).reason ==
        "asked again: a call before it did not end well");
  approve_open(x);
  x.run_out();
  CHECK(x.outcomes() == strings{"interrupted", "ok", "ok"});
  x.check();
}
