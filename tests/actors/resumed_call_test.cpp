// SPDX-License-Identifier: MIT
// A call that may begin again after a crash is what was approved, or it does
// not begin.
#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;

namespace {

using strings = std::vector<std::string>;

const std::string wants_redo =
    model_calls(0, "redo", {{"n", 1}}) + model_stops("tool_calls");

storage::proposal_record only_open(approval_scene& x) {
  const auto all = x.undecided();
  REQUIRE(all.size() == 1);
  return all[0].what;
}

/// The call is approved (with these arguments), and the process ends while it
/// is at work.
std::shared_ptr<test_journal> killed_at_work(approve how = approve::ask,
                                             const std::string& arguments = {},
                                             bool has_preview = true) {
  const auto stored = std::make_shared<test_journal>();
  approval_scene x{stored};
  x.approval = how;
  x.redo->from = x.act->from = "content 1";  // whichever is looked at
  x.redo->blind = x.act->blind = !has_preview;
  x.knows_tools = true;
  x.run_blocking = false;
  x.play({wants_redo});
  x.pass(1s);
  if (how == approve::ask) {
    x.decide(only_open(x).id, proposal_outcome::approved, arguments);
    x.pass(1s);
  }
  REQUIRE(x.blocking->jobs.size() == 1);
  return stored->crash(100);
}

}  // namespace

TEST_CASE("what begins again after a crash is what was approved") {
  const std::string changed = GENERATE("", R"({"n":3})");
  const bool has_preview = GENERATE(true, false);
  CAPTURE(changed, has_preview);
  next_life x{killed_at_work(approve::ask, changed, has_preview)};
  x.redo->from = "content 1";
  x.redo->blind = !has_preview;
  x.go_on();
  x.run_out();
  CHECK(x.undecided().empty());
  CHECK(x.outcomes() == strings{"ok"});
  CHECK(x.redo->arguments == strings{changed.empty() ? R"({"n":1})" : changed});
  CHECK(x.redo->bases == strings{has_preview ? "content 1" : ""});
  x.check();
}

TEST_CASE("what has changed since does not begin again after a crash") {
  const std::string changed = GENERATE("", R"({"n":3})");
  const std::string what = GENERATE("what it works on", "its tool", "no look");
  CAPTURE(changed, what);
  next_life x{killed_at_work(approve::ask, changed)};
  x.redo->from = what == "what it works on" ? "content 2" : "content 1";
  if (what == "its tool") x.redo->is = " another";
  if (what == "no look") x.redo->fails_in = "definition";
  x.go_on();
  x.run_out();
  CHECK(x.redo->acted.empty());
  CHECK(x.undecided().empty());  // too late for a question
  CHECK(x.outcomes() == strings{"interrupted"});
  CHECK(x.error_code(0) == "interrupted");
  CHECK(x.told(0).find("its outcome is unknown") != std::string::npos);
  CHECK(x.told(0).find(what == "no look" ? "cannot be compared"
                                         : "no longer what was approved") !=
        std::string::npos);
  CHECK(events_of(x.reader->lines, "approval_required").size() == 1);
  x.check();
}

TEST_CASE("a crash while it is compared compares it once more") {
  auto stored = killed_at_work();
  {
    next_life x{stored};
    x.redo->from = "content 2";
    x.go_on();
  }
  next_life x{stored->crash(7), 2};
  x.redo->from = "content 2";
  x.go_on();
  x.run_out();
  CHECK(x.redo->acted.empty());
  CHECK(x.outcomes() == strings{"interrupted"});
  x.check();
}

TEST_CASE("what nobody was shown begins again as it is now") {
  next_life x{killed_at_work(approve::all)};
  x.approval = approve::all;
  x.redo->from = "content 2";
  x.go_on();
  x.run_out();
  CHECK(x.outcomes() == strings{"ok"});
  CHECK(x.redo->acted.size() == 1);
  x.check();
}

namespace {

/// The rules allow both calls: one is at work when the process ends, the other
/// waits behind it.
std::shared_ptr<test_journal> killed_while_allowed() {
  const auto stored = std::make_shared<test_journal>();
  approval_scene x{stored};
  x.settings.defaults.approval = "allow";
  x.run_blocking = false;
  x.play({model_calls(0, "redo", {{"n", 1}}) +
          model_calls(1, "act", {{"n", 2}}) + model_stops("tool_calls")});
  x.pass(1s);
  REQUIRE(x.blocking->jobs.size() == 1);
  return stored->crash(100);
}

}  // namespace

TEST_CASE("what was allowed before a crash obeys the rules of now") {
  next_life x{killed_while_allowed()};
  SECTION("still allowed: the one again, the other at last") {
    x.settings.defaults.approval = "allow";
    x.go_on();
    x.run_out();
    CHECK(x.outcomes() == strings{"ok", "ok"});
    CHECK(x.redo->acted.size() == 1);
  }
  SECTION("denied by now") {
    x.settings.defaults.approval = "deny";
    x.go_on();
    x.run_out();
    CHECK(x.outcomes() == strings{"interrupted", "denied"});
    CHECK(x.told(0).find("its outcome is unknown") != std::string::npos);
    CHECK(x.redo->acted.empty());
    CHECK(x.act->acted.empty());
  }
  SECTION("to be asked by now: too late for the one, not for the other") {
    x.settings.defaults.approval = "ask";
    x.go_on();
    x.pass(1s);
    CHECK(x.redo->acted.empty());
    CHECK(x.act->acted.empty());
    x.decide(only_open(x).id, proposal_outcome::approved, {});
    x.run_out();
    CHECK(x.outcomes() == strings{"interrupted", "ok"});
    CHECK(x.told(0).find("somebody has to agree") != std::string::npos);
  }
  x.check();
}

TEST_CASE("a tool that was taken from the agent begins nothing any more") {
  SECTION("what was at work") {
    next_life x{killed_while_allowed()};
    x.settings.defaults.approval = "allow";
    x.taken_out = {"redo"};
    x.go_on();
    x.run_out();
    CHECK(x.redo->acted.empty());
    CHECK(x.outcomes() == strings{"interrupted", "ok"});
    CHECK(x.told(0).find("its outcome is unknown") != std::string::npos);
    CHECK(x.told(0).find("`redo` is not among the agent's tools any more") !=
          std::string::npos);
    x.check();
  }
  SECTION("what a person had approved") {
    next_life x{killed_at_work()};
    x.redo->from = "content 1";
    x.taken_out = {"redo"};
    x.go_on();
    x.run_out();
    CHECK(x.redo->acted.empty());
    CHECK(x.outcomes() == strings{"interrupted"});
    CHECK(x.told(0).find("its outcome is unknown") != std::string::npos);
    CHECK(x.told(0).find("`redo` is not among the agent's tools any more") !=
          std::string::npos);
    x.check();
  }
  SECTION("what waited behind it") {
    next_life x{killed_while_allowed()};
    x.settings.defaults.approval = "allow";
    x.taken_out = {"act"};
    x.go_on();
    x.run_out();
    CHECK(x.act->acted.empty());
    CHECK(x.outcomes() == strings{"ok", "failed"});
    CHECK(x.error_code(1) == "tool_not_found");
    x.check();
  }
}

TEST_CASE("a reader that was taken from the agent is not begun again") {
  const auto stored = std::make_shared<test_journal>();
  {
    approval_scene x{stored};
    x.run_blocking = false;
    x.play({model_calls(0, "look", {{"n", 1}}) + model_stops("tool_calls")});
    x.pass(1s);
    REQUIRE(x.blocking->jobs.size() == 1);
  }
  next_life x{stored->crash(100)};
  x.taken_out = {"look"};
  x.go_on();
  x.run_out();
  CHECK(x.look->acted.empty());
  CHECK(x.outcomes() == strings{"failed"});
  CHECK(x.error_code(0) == "tool_not_found");
  x.check();
}
