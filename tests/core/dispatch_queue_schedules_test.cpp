// SPDX-License-Identifier: MIT
// Random schedules of many calls: conflicts, approvals, worker deaths, late
// and repeated answers, cancels, time limits, broken turns, crashes. The world
// fails the test at the first promise that is broken, and if a run never ends.
#include "tests/core/dispatch_world.hpp"
#include "tests/support/catch.hpp"

using riffle::testing::dispatch_world;

TEST_CASE("every schedule of calls keeps the promises and comes to its end") {
  int crashes = 0;
  int reused = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    dispatch_world world{seed, false};
    world.play();
    crashes += world.crashes();
    reused += world.reused();
  }
  // Else the schedules would not test what they are for.
  CHECK(crashes > 250);
  CHECK(reused > 50);
}

TEST_CASE("workers that never answer cost time, but no run its end") {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    dispatch_world world{seed, true};
    world.play();
  }
}
