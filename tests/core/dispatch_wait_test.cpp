// SPDX-License-Identifier: MIT
// What is told of a call that waits for a worker.
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

tool_call read() {
  tool_call x;
  x.id = a;
  x.tool = "read";
  x.eff = effect::read_only;
  x.limits.queue_timeout = 60s;
  return x;
}

}  // namespace

TEST_CASE("a call that waits for a worker is told to, and when it has one") {
  dispatch_limits limits;
  limits.tell_after = 1s;
  dispatch_queue x{limits};
  x.on_call(read(), t0);
  CHECK(x.due() == t0 + 1s);
  const auto told = [](const dispatch_effects& out) {
    REQUIRE(letters(out) == "t");
    return std::get<tell_queued>(out[0]);
  };
  SECTION("once") {
    const auto waits = told(x.tick(t0 + 1s));
    CHECK(waits.call.id == a);
    CHECK_FALSE(waits.waited);
    CHECK(x.due() == t0 + 60s);  // its time in the queue
    CHECK(told(x.on_started(a, 1, t0 + 3s)).waited == 3s);
    CHECK_FALSE(x.due());
  }
  SECTION("not if it has one by then") {
    CHECK(x.on_started(a, 1, t0 + 900ms).empty());
    CHECK_FALSE(x.due());
  }
  SECTION("and still has no more than its time in the queue") {
    told(x.tick(t0 + 1s));
    CHECK(letters(x.tick(t0 + 60s)) == "x");
  }
  SECTION("again in another attempt") {
    told(x.tick(t0 + 1s));
    x.on_started(a, 1, t0 + 2s);
    x.on_moved(a, 1, t0 + 3s);
    CHECK(x.due() == t0 + 4s);
    told(x.tick(t0 + 4s));
  }
}
