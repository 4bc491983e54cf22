// SPDX-License-Identifier: MIT
// A call whose place was judged is judged again when it begins.
#include <string>

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
tool_call judged(const call_id& id, effect eff = effect::mutating) {
  tool_call x;
  x.id = id;
  x.tool = "write";
  x.arguments = "{}";
  x.eff = eff;
  x.keys = {"/ws/f"};
  x.judged = "f";
  x.limits.queue_timeout = 60s;
  return x;
}

judged_call allows(const std::string& place = "f") {
  return {.place = place, .keys = {"/ws/" + place}};
}

judged_call asks(const std::string& place = "f") {
  auto x = allows(place);
  x.ask = true;
  return x;
}

judged_call denies() {
  return {.denied = error{errc::approval_denied, "test", "no"}, .place = "f"};
}

/// The queue in which `a` was begun and has its worker.
dispatch_queue begun() {
  dispatch_queue x;
  x.on_call(judged(a), t0);
  x.on_gate(true, t0);
  REQUIRE(letters(x.on_judged(a, allows(), t0)) == "c");
  REQUIRE(letters(x.on_intent_committed(a, 1, t0)) == "w");
  return x;
}

}  // namespace

TEST_CASE("a judged call begins after it was judged, and not before") {
  dispatch_queue x;
  CHECK(letters(x.on_call(judged(a), t0)) == "n");
  CHECK(letters(x.on_gate(true, t0)) == "j");
  CHECK(letters(x.tick(t0)).empty());
  CHECK(letters(x.on_judged(a, allows(), t0)) == "c");
  CHECK(letters(x.on_judged(a, allows(), t0)).empty());
  CHECK(x.late() == 1);
  CHECK(letters(x.on_intent_committed(a, 1, t0)) == "w");
}

TEST_CASE("a call that only reads is judged before its early start") {
  dispatch_queue x;
  CHECK(letters(x.on_call(judged(a, effect::read_only), t0)) == "jn");
  CHECK(letters(x.on_judged(a, allows("g"), t0)) == "bw");
}

TEST_CASE("a call is judged once nothing holds it back") {
  dispatch_queue x;
  auto first = judged(a);
  first.judged.reset();
  x.on_call(first, t0);
  x.on_call(judged(b), t0);
  CHECK(letters(x.on_gate(true, t0)) == "c");
  x.on_intent_committed(a, 1, t0);
  CHECK(letters(x.on_result(a, 1, {}, 0, t0)) == "+j");
  CHECK(letters(x.on_judged(b, denies(), t0)) == "0");
  CHECK(x.open() == 0);
}

TEST_CASE("what waits behind a call that is judged goes on if it is denied") {
  dispatch_queue x;
  x.on_call(judged(a), t0);
  auto second = judged(b);
  second.judged.reset();
  x.on_call(second, t0);
  CHECK(letters(x.on_gate(true, t0)) == "j");
  CHECK(letters(x.on_judged(a, denies(), t0)) == "0c");
}

TEST_CASE("consent holds for the place that was shown") {
  dispatch_queue x;
  auto call = judged(a);
  call.needs_approval = true;
  x.on_call(call, t0);
  CHECK(letters(x.on_gate(true, t0)) == "a");
  CHECK(letters(x.on_decision(a, true, {}, t0)) == "j");
  SECTION("the same place: it begins") {
    CHECK(letters(x.on_judged(a, asks(), t0)) == "c");
  }
  SECTION("another one: it is asked for anew") {
    const auto out = x.on_judged(a, asks("g"), t0);
    REQUIRE(letters(out) == "a");
    CHECK(std::get<request_approval>(out[0]).call.judged == "g");
    CHECK(letters(x.on_decision(a, true, {}, t0)) == "j");
    CHECK(letters(x.on_judged(a, asks("g"), t0)) == "c");
  }
  SECTION("another one, and no consent") {
    x.on_judged(a, asks("g"), t0);
    CHECK(letters(x.on_decision(a, false, "no", t0)) == "0");
  }
  SECTION("a place that is not known is a place, too") {
    CHECK(letters(x.on_judged(a, asks(""), t0)) == "a");
  }
  SECTION("another one that needs no consent: it begins") {
    CHECK(letters(x.on_judged(a, allows("g"), t0)) == "c");
  }
  SECTION("denied by now") {
    CHECK(letters(x.on_judged(a, denies(), t0)) == "0");
  }
}

TEST_CASE("what was allowed may have to be asked for when it begins") {
  dispatch_queue x;
  x.on_call(judged(a), t0);
  x.on_gate(true, t0);
  const auto out = x.on_judged(a, asks(), t0);
  CHECK(letters(out) == "a");
  CHECK(std::get<request_approval>(out[0]).call.needs_approval);
  CHECK(letters(x.on_decision(a, true, {}, t0)) == "j");
  CHECK(letters(x.on_judged(a, asks(), t0)) == "c");
}

TEST_CASE("a call that found another place is judged again, so often") {
  auto x = begun();
  SECTION("it begins again, as another attempt") {
    CHECK(letters(x.on_moved(a, 1, t0)) == "rj");
    CHECK(letters(x.on_judged(a, allows("g"), t0)) == "c");
    CHECK(letters(x.on_intent_committed(a, 2, t0)) == "w");
    CHECK(letters(x.on_result(a, 2, {}, 0, t0)) == "+");
  }
  SECTION("it is denied there") {
    x.on_moved(a, 1, t0);
    CHECK(letters(x.on_judged(a, denies(), t0)) == "0");
  }
  SECTION("nobody is asked about a call that was announced") {
    x.on_moved(a, 1, t0);
    CHECK(letters(x.on_judged(a, asks("g"), t0)) == "0");
  }
  SECTION("it fails in the end") {
    for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
      CHECK(letters(x.on_moved(a, attempt, t0)) == "rj");
      CHECK(letters(x.on_judged(a, allows(), t0)) == "c");
      CHECK(letters(x.on_intent_committed(a, attempt + 1, t0)) == "w");
    }
    CHECK(letters(x.on_moved(a, 4, t0)) == "!");
    CHECK(letters(x.on_moved(a, 4, t0)).empty());
    CHECK(x.late() == 1);
  }
  SECTION("it was told to stop meanwhile") {
    CHECK(letters(x.on_cancel(a, t0)) == "x");
    CHECK(letters(x.on_moved(a, 1, t0)) == "C");
  }
  CHECK(x.abandoned() == 0);
}

TEST_CASE("a call that is being judged can be ended") {
  dispatch_queue x;
  x.on_call(judged(a), t0);
  x.on_gate(true, t0);
  SECTION("by a cancel") { CHECK(letters(x.on_cancel(a, t0)) == "C"); }
  SECTION("by the end of its step") {
    CHECK(letters(x.on_drain(drain_reason::cancelled, t0)) == "CD");
  }
  SECTION("by the limit of the queue") {
    REQUIRE(x.due() == t0 + 60s);
    CHECK(letters(x.tick(t0 + 60s)) == "T");
  }
  CHECK(letters(x.on_judged(a, allows(), t0)).empty());
  CHECK(x.late() == 1);
}

TEST_CASE("a slot is kept for a call that is being judged") {
  dispatch_queue x{{.max_in_flight = 1}};
  x.on_call(judged(a, effect::read_only), t0);
  auto other = judged(b, effect::read_only);
  other.judged.reset();
  CHECK(letters(x.on_call(other, t0)) == "n");
  SECTION("it begins, then the other") {
    CHECK(letters(x.on_judged(a, allows(), t0)) == "bw");
    CHECK(letters(x.on_result(a, 1, {}, 0, t0)) == "+bw");
  }
  SECTION("it is denied") {
    judged_call no;
    no.denied = error{errc::approval_denied, "rules", "no"};
    CHECK(letters(x.on_judged(a, no, t0)).ends_with("bw"));
  }
  SECTION("it is cancelled") {
    CHECK(letters(x.on_cancel(a, t0)).ends_with("bw"));
  }
}

TEST_CASE("a call that reads where an earlier one writes by now waits") {
  dispatch_queue x;
  x.on_call(judged(a), t0);
  auto reads = judged(b, effect::read_only);
  reads.keys = {"/ws/g"};
  reads.judged.reset();
  CHECK(letters(x.on_call(reads, t0)) == "bw");
  CHECK(letters(x.on_gate(true, t0)) == "j");
  // It leads to what the later one is reading: it waits for its end.
  CHECK(letters(x.on_judged(a, allows("g"), t0)).empty());
  CHECK(letters(x.on_result(b, 1, {}, 0, t0)) == "+j");
  CHECK(letters(x.on_judged(a, allows("g"), t0)) == "c");
}

TEST_CASE("what was read of a judged place is not given to another call") {
  dispatch_queue x;
  x.restore({}, {{a, "write", "{}", "old"}});
  CHECK(letters(x.on_call(judged(b, effect::read_only), t0)) == "jn");
}

TEST_CASE("what an earlier runtime allowed is judged by the rules of now") {
  auto call = judged(a, effect::mutating);
  call.idempotent = true;
  const bool was_place = GENERATE(true, false);
  if (!was_place) call.judged = "";  // no rule looked at it
  dispatch_queue x;

  SECTION("it had not begun: who is asked may agree") {
    x.restore({{.call = call}}, {});
    CHECK(letters(x.on_gate(true, t0)) == "j");
    CHECK(letters(x.on_judged(a, asks(), t0)) == "a");
    CHECK(letters(x.on_decision(a, true, {}, t0)) == "j");
    CHECK(letters(x.on_judged(a, asks(), t0)) == "c");
  }
  SECTION("it had not begun, and is denied by now") {
    x.restore({{.call = call}}, {});
    x.on_gate(true, t0);
    CHECK(letters(x.on_judged(a, denies(), t0)) == "0");
  }
  SECTION("it had begun, and nobody had agreed: it is not repeated") {
    x.restore({{.call = call, .attempt = 1, .announced = true, .begun = true}},
              {});
    CHECK(letters(x.on_gate(true, t0)) == "j");
    const auto out = x.on_judged(a, asks(), t0);
    REQUIRE(letters(out) == "I");
    const auto& end = std::get<settle_call>(out[0]).result;
    CHECK(end.how == outcome::interrupted);
    REQUIRE(end.err);
    CHECK(end.err->message.find("its outcome is unknown") != std::string::npos);
  }
  SECTION("it had begun, and is denied by now") {
    x.restore({{.call = call, .attempt = 1, .announced = true, .begun = true}},
              {});
    x.on_gate(true, t0);
    const auto out = x.on_judged(a, denies(), t0);
    REQUIRE(letters(out) == "I");
    const auto& said = std::get<settle_call>(out[0]).result.err->message;
    CHECK(said.find("its outcome is unknown") != std::string::npos);
  }
  SECTION("a call that only reads leaves nothing to check") {
    call.eff = effect::read_only;
    x.restore({{.call = call, .attempt = 1, .announced = true, .begun = true}},
              {});
    x.on_gate(true, t0);
    const auto out = x.on_judged(a, denies(), t0);
    CHECK(std::get<settle_call>(out[0]).result.how == outcome::denied);
  }
  SECTION("it had begun, and is allowed still") {
    x.restore({{.call = call, .attempt = 1, .announced = true, .begun = true}},
              {});
    x.on_gate(true, t0);
    CHECK(letters(x.on_judged(a, allows(), t0)) == "c");
  }
}

TEST_CASE("consent to a call without a place outlives the runtime") {
  auto call = judged(a);
  call.judged = "";
  call.needs_approval = true;
  dispatch_queue x;
  x.restore({{.call = call, .approved = true}}, {});
  CHECK(letters(x.on_gate(true, t0)) == "j");
  const auto out =
      x.on_judged(a, {.ask = true, .place = {}, .keys = call.keys}, t0);
  REQUIRE(letters(out) == "c");
  CHECK_FALSE(std::get<begin_call>(out[0]).call.judged);
}
