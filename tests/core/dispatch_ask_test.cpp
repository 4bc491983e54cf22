// SPDX-License-Identifier: MIT
// People are asked about a call while an earlier one still runs.
#include <algorithm>
#include <string>
#include <vector>

#include "actors/core/dispatch_queue.hpp"
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
const call_id c{"call_c"};
/// It changes what it names: something of its own, if nothing is said.
tool_call asked(const call_id& id, std::vector<std::string> keys = {}) {
  tool_call x;
  x.id = id;
  x.tool = "tool";
  x.arguments = "{}";
  x.eff = effect::mutating;
  x.needs_approval = true;
  x.keys = keys.empty() ? std::vector{id.value} : std::move(keys);
  return x;
}

/// Who is asked about, and why, in order.
std::vector<std::pair<call_id, ask_reason>> requests(
    const dispatch_effects& effects) {
  std::vector<std::pair<call_id, ask_reason>> out;
  for (const auto& x : effects)
    if (const auto* request = std::get_if<request_approval>(&x))
      out.emplace_back(request->call.id, request->why);
  return out;
}

using asks = std::vector<std::pair<call_id, ask_reason>>;

dispatch_limits ahead() {
  dispatch_limits x;
  x.ask_ahead = true;
  return x;
}

/// Three calls that somebody has to agree to; the first one is asked about.
struct scene {
  explicit scene(std::vector<tool_call> calls, dispatch_limits limits = ahead())
      : queue{limits} {
    for (auto& x : calls) queue.on_call(std::move(x), t0);
    CHECK(requests(queue.on_gate(true, t0)) == asks{{a, ask_reason::now}});
  }
  dispatch_effects yes(const call_id& id) {
    return queue.on_decision(id, true, {}, t0);
  }
  dispatch_effects done(const call_id& id) {
    queue.on_intent_committed(id, 1, t0);
    return queue.on_result(id, 1, {}, 0, t0);
  }
  dispatch_queue queue;
};

}  // namespace

TEST_CASE("the next question comes when the last one is answered") {
  scene x{{asked(a), asked(b), asked(c)}};
  const auto first = x.yes(a);
  CHECK(letters(first, a) == "c");
  CHECK(requests(first) == asks{{b, ask_reason::ahead}});
  // Approved, but it has to wait; the third one is asked about meanwhile.
  const auto second = x.yes(b);
  CHECK(letters(second, b).empty());
  CHECK(requests(second) == asks{{c, ask_reason::ahead}});
}

TEST_CASE("what may change anything is asked about behind earlier calls") {
  auto anything = asked(b);
  anything.keys.clear();
  scene x{{asked(a), anything, asked(c)}};
  CHECK(requests(x.yes(a)).empty());  // nor is c, which comes behind it
  CHECK(requests(x.done(a)) == asks{{b, ask_reason::now}});
  CHECK(requests(x.yes(b)) == asks{{c, ask_reason::ahead}});
}

TEST_CASE("without asking ahead it comes when the call has ended") {
  scene x{{asked(a), asked(b)}, {}};
  CHECK(requests(x.yes(a)).empty());
  CHECK(requests(x.done(a)) == asks{{b, ask_reason::now}});
}

TEST_CASE("what was approved ahead is looked at again when it begins") {
  scene x{{asked(a), asked(b)}};
  x.yes(a);
  x.yes(b);
  const auto over = x.done(a);
  CHECK(letters(over, b) == "a");
  CHECK(requests(over) == asks{{b, ask_reason::again}});
  SECTION("it is still so") { CHECK(letters(x.yes(b)) == "c"); }
  SECTION("it is denied now") {
    CHECK(letters(x.queue.on_decision(b, false, "no", t0)) == "0");
  }
  SECTION("the run ends meanwhile") {
    CHECK(letters(x.queue.on_drain(drain_reason::cancelled, t0), b) == "v");
    CHECK(letters(x.yes(b)) == "CD");
  }
}

TEST_CASE("what was approved ahead is asked about again when a call fails") {
  scene x{{asked(a), asked(b), asked(c)}};
  x.yes(a);
  x.yes(b);
  x.queue.on_intent_committed(a, 1, t0);
  const auto how = GENERATE(outcome::failed, outcome::ok);
  call_result end;
  end.how = how;
  const auto over = x.queue.on_result(a, 1, end, 0, t0);
  // Of the open question about c the person sees what came of a.
  CHECK(requests(over) ==
        asks{{b, how == outcome::ok ? ask_reason::again : ask_reason::doubted},
             {c, ask_reason::anew}});
  CHECK(letters(x.yes(b), b) == "c");
}

TEST_CASE("a no to what was approved ahead is asked about what is behind it") {
  scene x{{asked(a), asked(b), asked(c)}};
  x.yes(a);
  x.yes(b);
  x.yes(c);
  CHECK(requests(x.done(a)) == asks{{b, ask_reason::again}});
  CHECK(requests(x.queue.on_decision(b, false, "no", t0)) ==
        asks{{c, ask_reason::doubted}});
}

TEST_CASE("whoever ends while it waits is asked about no more") {
  scene x{{asked(a), asked(b)}};
  x.yes(a);
  x.yes(b);
  x.queue.on_cancel(b, t0);
  x.queue.on_intent_committed(a, 1, t0);
  call_result end;
  end.how = outcome::failed;
  CHECK(requests(x.queue.on_result(a, 1, end, 0, t0)).empty());
}

TEST_CASE("an open question is looked at anew when an earlier call has acted") {
  scene x{{asked(a), asked(b), asked(c)}};
  x.yes(a);
  CHECK(requests(x.done(a)) == asks{{b, ask_reason::anew}});
  // The answer counts for what is shown then, and is looked at once more.
  CHECK(requests(x.yes(b)) == asks{{b, ask_reason::again}});
  const auto begun = x.yes(b);
  CHECK(letters(begun, b) == "c");
  CHECK(requests(begun) == asks{{c, ask_reason::ahead}});
}

TEST_CASE("what an earlier call names itself is shown when that has ended") {
  scene x{{asked(a, {"f"}), asked(b, {"f"}), asked(c)}};
  CHECK(requests(x.yes(a)).empty());  // nor is c asked about before b
  CHECK(requests(x.done(a)) == asks{{b, ask_reason::now}});
  const auto more = x.yes(b);
  CHECK(letters(more, b) == "c");  // and it is not asked about again
  CHECK(requests(more) == asks{{c, ask_reason::ahead}});
}

TEST_CASE("a question that comes too early comes later, and in its order") {
  scene x{{asked(a), asked(b, {"f"}), asked(c)}};
  CHECK(requests(x.yes(a)) == asks{{b, ask_reason::ahead}});
  CHECK(x.queue.on_postponed(b, t0).empty());
  CHECK(requests(x.done(a)) == asks{{b, ask_reason::now}});
  CHECK(requests(x.yes(b)) == asks{{c, ask_reason::ahead}});
}

TEST_CASE("one that is withdrawn meanwhile is not postponed") {
  scene x{{asked(a), asked(b)}};
  x.yes(a);
  CHECK(letters(x.queue.on_cancel(b, t0)) == "v");
  CHECK(letters(x.queue.on_postponed(b, t0)) == "C");
  CHECK(x.queue.on_postponed(b, t0).empty());
  CHECK(x.queue.late() == 1);
}

TEST_CASE("a call that only reads is not asked about before an earlier one") {
  dispatch_queue queue{ahead()};
  auto anything = asked(a);
  anything.keys.clear();
  queue.on_call(anything, t0);
  auto reads = asked(b, {"f"});
  reads.eff = effect::read_only;
  // It could begin early, but the other one is asked about at the gate.
  CHECK(requests(queue.on_call(reads, t0)).empty());
  CHECK(requests(queue.on_gate(true, t0)) == asks{{a, ask_reason::now}});
  CHECK(requests(queue.on_decision(a, true, {}, t0)) ==
        asks{{b, ask_reason::ahead}});
}

TEST_CASE("what was approved before a crash is looked at again") {
  dispatch_queue queue{ahead()};
  restored_call open;
  open.call = asked(a);
  open.approved = true;
  queue.restore({open}, {});
  CHECK(requests(queue.on_gate(true, t0)) == asks{{a, ask_reason::again}});
  CHECK(letters(queue.on_decision(a, true, {}, t0)) == "c");
}

TEST_CASE("what was at work before a crash is looked at when it begins again") {
  const bool asks_ahead = GENERATE(true, false);
  dispatch_queue queue{asks_ahead ? ahead() : dispatch_limits{}};
  restored_call open;
  open.call = asked(a);
  open.call.idempotent = true;
  open.attempt = 2;
  open.announced = open.begun = true;
  open.approved = true;
  open.doubted = true;  // it was approved, and had begun, all the same
  queue.restore({open}, {});
  CHECK(requests(queue.on_gate(true, t0)) == asks{{a, ask_reason::resumed}});
  SECTION("it is as it was") {
    const auto effects = queue.on_decision(a, true, {}, t0);
    REQUIRE(effects.size() == 1);
    CHECK(std::get<begin_call>(effects[0]).attempt == 3);
    CHECK_FALSE(std::get<begin_call>(effects[0]).announce);
  }
  SECTION("it is not, or the run ends meanwhile") {
    const bool ends = GENERATE(true, false);
    if (ends) queue.on_drain(drain_reason::cancelled, t0);
    const auto effects =
        queue.on_decision(a, false, "changed", t0, errc::interrupted);
    const auto& end = std::get<settle_call>(effects.at(0));
    CHECK(end.result.how == (ends ? outcome::cancelled : outcome::interrupted));
    CHECK(end.result.attempts == 2);
    CHECK(end.result.err->message.find(ends ? "it may have taken effect"
                                            : "changed") != std::string::npos);
  }
}

TEST_CASE("what was doubted before a crash is doubted behind it") {
  const auto behind_no = GENERATE(true, false);
  dispatch_queue queue{ahead()};
  std::vector<restored_call> open;
  for (const auto& id : {a, b}) open.emplace_back().call = asked(id);
  open[0].asked = open[0].again = behind_no;
  if (!behind_no) open[0].approved = open[0].doubted = true;
  open[1].approved = true;
  open[1].doubted = !behind_no;
  queue.restore(open, {});
  const auto first = requests(queue.on_gate(true, t0));
  if (behind_no) {
    CHECK(first == asks{{a, ask_reason::now}});
    CHECK(requests(queue.on_decision(a, false, "no", t0)) ==
          asks{{b, ask_reason::doubted}});
  } else {
    CHECK(first == asks{{a, ask_reason::doubted}});
    queue.on_decision(a, true, {}, t0);
    queue.on_intent_committed(a, 1, t0);
    CHECK(requests(queue.on_result(a, 1, {}, 0, t0)) ==
          asks{{b, ask_reason::doubted}});
  }
}
