// SPDX-License-Identifier: MIT
// Single stories of the dispatch queue; the whole of it is walked through in
// dispatch_queue_exhaustive.cpp and dispatch_queue_schedules.cpp.
#include "actors/core/dispatch_queue.hpp"

#include <string>

#include "tests/core/dispatch_watch.hpp"
#include "tests/core/t0.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using riffle::testing::t0;
using namespace riffle::core;
using namespace std::chrono_literals;
using riffle::testing::letters;

namespace {

const call_id a{"call_a"};
const call_id b{"call_b"};
tool_call read(const call_id& id) {
  tool_call x;
  x.id = id;
  x.tool = "read";
  x.arguments = R"({"path":"f"})";
  x.eff = effect::read_only;
  x.keys = {"f"};
  x.limits.queue_timeout = 60s;
  return x;
}

tool_call write(const call_id& id) {
  auto x = read(id);
  x.tool = "write";
  x.eff = effect::mutating;
  return x;
}

tool_call complete(const call_id& id) {
  tool_call x;
  x.id = id;
  x.tool = "complete";
  x.control = true;
  return x;
}

/// A call whose worker ignored its stop: settled, and its work goes on.
void abandon(dispatch_queue& x, const call_id& id) {
  x.on_cancel(id, t0);
  REQUIRE(letters(x.tick(*x.due())) == "C");
  REQUIRE(x.abandoned() == 1);
}

}  // namespace

TEST_CASE("a late start is no end of abandoned work") {
  dispatch_queue x;
  x.on_call(read(a), t0);
  abandon(x, a);
  x.on_started(a, 1, t0 + 10s);
  CHECK(x.abandoned() == 1);
  x.on_result(a, 1, {}, 0, t0 + 11s);
  CHECK(x.abandoned() == 0);
}

TEST_CASE("a call at a node is given up when it cannot act any more") {
  dispatch_limits limits;
  limits.abandon_at_node = 20s;
  dispatch_queue x{limits};
  x.on_call(read(a), t0);
  x.on_call(read(b), t0);
  x.on_placed(a, true);
  x.on_cancel(a, t0);
  x.on_cancel(b, t0);
  CHECK(letters(x.tick(t0 + 8s)) == "C");  // b, which is here
  CHECK(x.open() == 1);
  CHECK(x.due() == t0 + 20s);
  CHECK(letters(x.tick(t0 + 20s)) == "C");
  SECTION("and it is told how long that took") {
    dispatch_queue lost;
    auto call = write(a);
    lost.on_call(call, t0);
    lost.on_gate(true, t0);
    lost.on_intent_committed(a, 1, t0);
    const auto out = lost.on_worker_lost(a, 1, "gone", t0 + 5s);
    REQUIRE(letters(out) == "I");
    CHECK(std::get<settle_call>(out.at(0)).result.took == 5s);
  }
}

TEST_CASE("a call that never began is not said to have taken effect") {
  dispatch_queue x;
  x.on_call(write(a), t0);
  x.on_gate(true, t0);
  x.on_intent_committed(a, 1, t0);
  x.on_cancel(a, t0);
  // Its worker may say that it began when it was asked to stop already.
  const bool began = GENERATE(true, false);
  if (began) x.on_started(a, 1, t0);
  call_result stopped;
  stopped.how = outcome::cancelled;
  const auto out = x.on_result(a, 1, stopped, 0, t0 + 1s);
  REQUIRE(letters(out) == "C");
  const auto& why = std::get<settle_call>(out.at(0)).result.err->message;
  CHECK((why.find("may have taken effect") != std::string::npos) == began);
  CHECK((why.find("it was not begun") != std::string::npos) != began);
}

TEST_CASE("what a stop keeps from its beginning is told as not begun") {
  const auto why = [](const dispatch_effects& out) {
    REQUIRE_FALSE(out.empty());
    return std::get<settle_call>(out.at(0)).result.err->message;
  };
  const std::string not_begun = "the run was cancelled; it was not begun";
  dispatch_queue x;
  SECTION("behind another call") {
    x.on_call(write(a), t0);
    CHECK(why(x.on_drain(drain_reason::cancelled, t0)) == not_begun);
  }
  SECTION("before its intent is on record") {
    x.on_call(write(a), t0);
    x.on_gate(true, t0);
    CHECK(why(x.on_drain(drain_reason::cancelled, t0)) == not_begun);
  }
  SECTION("while somebody is asked") {
    auto call = write(a);
    call.needs_approval = true;
    x.on_call(call, t0);
    x.on_gate(true, t0);
    x.on_drain(drain_reason::cancelled, t0);
    CHECK(why(x.on_decision(a, false, "withdrawn", t0)) == not_begun);
  }
  SECTION("a read that waits at its worker, which may have begun it") {
    x.on_call(read(a), t0);
    const bool began = GENERATE(true, false);
    if (began) x.on_started(a, 1, t0);
    x.on_drain(drain_reason::cancelled, t0);
    call_result stopped;
    stopped.how = outcome::cancelled;
    CHECK(why(x.on_result(a, 1, stopped, 0, t0 + 1s)) ==
          (began ? "the run was cancelled; it did not run to its end"
                 : not_begun));
  }
  SECTION("one that came back from where it was to run") {
    x.on_call(write(a), t0);
    x.on_gate(true, t0);
    x.on_intent_committed(a, 1, t0);
    x.on_cancel(a, t0);
    const auto out = x.on_moved(a, 1, t0, {errc::cancelled, "test", "moved"});
    CHECK(why(out) == "this call was cancelled; it was not begun");
  }
}

TEST_CASE("what ends a call keeps its words where they end like doubt") {
  dispatch_queue x;
  x.on_call(write(a), t0);
  x.on_gate(true, t0);
  x.on_intent_committed(a, 1, t0);
  const std::string words =
      "not its arguments; it may have taken effect, check before you repeat it";
  x.on_malformed(a, {errc::invalid_arguments, "test", words}, t0);
  call_result stopped;
  stopped.how = outcome::cancelled;
  const auto out = x.on_result(a, 1, stopped, 0, t0 + 1s);
  REQUIRE(out.size() == 1);
  CHECK(std::get<settle_call>(out.at(0)).result.err->message == words);
}

TEST_CASE("complete does not wait for abandoned work") {
  dispatch_queue x;
  x.on_call(read(a), t0);
  x.on_call(complete(b), t0);
  x.on_gate(true, t0);
  x.on_cancel(a, t0);
  CHECK(letters(x.tick(*x.due())) == "Cbk");
}

TEST_CASE("a call that settles frees an earlier control tool") {
  dispatch_queue x;
  x.restore({{complete(a), 0, false, false, {}, {}},
             {write(b), 1, true, true, {}, {}}},
            {});
  CHECK(letters(x.on_gate(true, t0)) == "Ibk");
}

TEST_CASE("what could not run does not run after a recovery either") {
  dispatch_queue x;
  auto call = write(a);
  call.needs_approval = true;
  call.rejection = error{errc::approval_denied, "tools", "a rule denies it"};
  x.restore({{call, 0, false, false, {}, {}}}, {});
  const auto out = x.on_gate(true, t0);
  CHECK(letters(out) == "0");  // settled; nobody is asked, nothing acts
  CHECK_FALSE(x.due());
}

TEST_CASE("a call behind a pending approval waits as long as that takes") {
  dispatch_queue x;
  auto first = write(a);
  first.needs_approval = true;
  x.on_call(first, t0);
  x.on_call(read(b), t0);
  CHECK(letters(x.on_gate(true, t0)) == "a");
  CHECK_FALSE(x.due());
  CHECK(letters(x.tick(t0 + 24h)).empty());
  CHECK(letters(x.on_decision(a, false, "no", t0 + 25h)) == "0bw");
}

TEST_CASE("a call behind abandoned work gives up in time") {
  dispatch_queue x;
  x.on_call(read(a), t0);
  x.on_call(write(b), t0);
  x.on_gate(true, t0);
  abandon(x, a);
  const auto due = x.due();
  REQUIRE(due);
  CHECK(letters(x.tick(*due)) == "T");
}

TEST_CASE("a call without a slot is on record before the turn is") {
  dispatch_limits limits;
  limits.max_in_flight = 1;
  dispatch_queue x{limits};
  CHECK(letters(x.on_call(read(a), t0)) == "bw");
  CHECK(letters(x.on_call(read(b), t0)) == "n");
}

TEST_CASE("a cancelled call settles behind its decision, not before it") {
  dispatch_queue x;
  auto call = write(a);
  call.needs_approval = true;
  x.on_call(call, t0);
  x.on_gate(true, t0);
  CHECK(letters(x.on_drain(drain_reason::cancelled, t0)) == "v");
  SECTION("whatever it is") {
    CHECK(letters(x.on_decision(a, true, "", t0)) == "CD");
  }
  SECTION("or without it, if it never comes") {
    CHECK(letters(x.tick(*x.due())) == "CD");
  }
}

TEST_CASE("a finished read is reused when the step starts again") {
  dispatch_queue x;
  x.on_call(read(a), t0);
  call_result result;
  result.output = "text";
  x.on_result(a, 1, result, 0, t0);
  CHECK(letters(x.on_drain(drain_reason::interrupted, t0)) == "D");
  SECTION("by the same tool with the same arguments") {
    const auto out = x.on_call(read(b), t0);
    REQUIRE(letters(out) == "b+");
    const auto& settled = std::get<settle_call>(out.back());
    CHECK(settled.result.output == "text");
    CHECK(settled.result.metadata == R"({"reused_from":"call_a"})");
  }
  SECTION("but not behind a call that changes what it read") {
    x.on_call(write(call_id{"call_w"}), t0);
    CHECK(letters(x.on_call(read(b), t0)) == "n");
  }
  SECTION("but not if it needs an approval of its own") {
    auto call = read(b);
    call.needs_approval = true;
    CHECK(letters(x.on_call(call, t0)) == "a");
  }
}

TEST_CASE("who is asked sees what earlier calls have made") {
  dispatch_queue x;
  const call_id c{"call_c"};
  const auto ask = [](tool_call y) {
    y.needs_approval = true;
    return y;
  };
  auto other = ask(read(c));  // of something else
  other.keys = {"g"};
  x.on_call(ask(write(a)), t0);
  x.on_call(ask(write(b)), t0);
  const auto asked = [](const dispatch_effects& all) {
    std::vector<call_id> out;
    for (const auto& y : all)
      if (const auto* z = std::get_if<request_approval>(&y))
        out.push_back(z->call.id);
    return out;
  };
  CHECK(asked(x.on_gate(true, t0)) == std::vector{a});
  CHECK(asked(x.on_call(other, t0)) == std::vector{c});
  SECTION("done") {
    CHECK(asked(x.on_decision(a, true, {}, t0)).empty());
    CHECK(asked(x.on_intent_committed(a, 1, t0)).empty());
    CHECK(asked(x.on_result(a, 1, {}, 0, t0)) == std::vector{b});
  }
  SECTION("denied") {
    CHECK(asked(x.on_decision(a, false, {}, t0)) == std::vector{b});
  }
}

TEST_CASE("a question is not kept waiting by calls that read") {
  dispatch_queue x;
  auto second = write(b);
  second.needs_approval = true;
  x.on_call(read(a), t0);
  x.on_call(second, t0);
  CHECK(std::holds_alternative<request_approval>(x.on_gate(true, t0).back()));
  CHECK(x.open() == 2);
}

TEST_CASE("a denial says why it was denied") {
  dispatch_queue x;
  auto call = write(a);
  call.needs_approval = true;
  x.on_call(call, t0);
  x.on_gate(true, t0);
  const auto end =
      x.on_decision(a, false, "too late", t0, errc::approval_expired);
  REQUIRE(letters(end) == "0");
  const auto& settled = std::get<settle_call>(end[0]);
  CHECK(settled.result.err ==
        error{errc::approval_expired, "dispatcher", "too late"});
}

TEST_CASE("an edited call conflicts with what it touches now") {
  dispatch_queue x;
  auto first = write(a);
  first.needs_approval = true;
  first.keys = {"elsewhere"};
  x.on_call(first, t0);
  x.on_call(read(b), t0);  // begins: it touches something else
  CHECK(letters(x.on_gate(true, t0)) == "a");
  auto edited = write(a);
  edited.arguments = R"({"path":"f","more":1})";
  edited.index = 7;  // its place in the order is kept
  SECTION("and waits for later calls that began") {
    CHECK(letters(x.on_edited(edited, t0)).empty());
    const auto out = x.on_result(b, 1, {}, {}, t0);
    REQUIRE(letters(out) == "+c");
    const auto& begun = std::get<begin_call>(out[1]);
    CHECK(begun.call.arguments == edited.arguments);
    CHECK(begun.call.index == 0);
  }
  SECTION("or not, if those have ended") {
    x.on_result(b, 1, {}, {}, t0);
    CHECK(letters(x.on_edited(edited, t0)) == "c");
  }
  SECTION("or not, if it is not edited") {
    CHECK(letters(x.on_decision(a, true, "", t0)) == "c");
  }
}

TEST_CASE("what was asked for before a crash is withdrawn, not just settled") {
  dispatch_queue x;
  auto call = write(a);
  call.needs_approval = true;
  restored_call open{call, 0, false, false, {}, {}};
  open.asked = true;
  x.restore({open}, {});
  CHECK(letters(x.on_drain(drain_reason::cancelled, t0)) == "v");
  CHECK(letters(x.on_decision(a, true, "", t0)) == "CD");
}

TEST_CASE("a call that nobody began is not said to have ignored a stop") {
  dispatch_queue x;
  auto call = read(a);
  call.limits.queue_timeout = 10s;
  x.on_call(call, t0);
  const bool begun = GENERATE(false, true);
  if (begun) {
    x.on_started(a, 1, t0 + 1s);
    x.on_cancel(a, t0 + 2s);
  } else {
    x.tick(t0 + 10s);
  }
  const auto end = x.tick(*x.due());
  REQUIRE_FALSE(end.empty());
  const auto& told = std::get<settle_call>(end[0]).result.err->message;
  CHECK((told.find("nobody has said that it began") != std::string::npos) ==
        !begun);
  CHECK((told.find("it ignored the request to stop") != std::string::npos) ==
        begun);
}
