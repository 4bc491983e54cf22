// SPDX-License-Identifier: MIT
// A run that brings the process down again and again is given up, one beside it
// is not.
#include <algorithm>
#include <variant>

#include "actors/core/step_machine.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;

namespace {

/// The recovery so many had come before it; whether the run ends, and how.
std::optional<errc> end_of(std::uint32_t before, bool committed, bool worked,
                           std::uint32_t allowed = 3, bool left = false) {
  step_limits limits;
  limits.recovery_attempts = allowed;
  step_machine machine{limits, [] { return 0.0; }};
  run_progress at;
  at.step = 1;
  at.attempt = 1;
  at.turn_committed = committed;
  at.turn_safe = true;
  at.recoveries = before;
  at.calls_worked = worked;
  at.left = left;
  std::vector<asked_call> calls;
  if (committed) calls.push_back({call_id{"call_1"}, "read a"});
  auto effects = machine.recover(at, calls, {}, "", {}, {}, {});
  const auto drains = std::ranges::any_of(effects, [](const auto& x) {
    return std::holds_alternative<drain_calls>(x);
  });
  CHECK(drains ==
        (!committed || (worked && before + (left ? 0 : 1) > allowed)));
  if (drains) effects = machine.on_drained({});
  for (const auto& x : effects)
    if (const auto* record = std::get_if<record_step>(&x))
      for (const auto& event : record->events)
        if (const auto* failure = std::get_if<events::failure>(&event))
          return failure->err.code;
  return {};
}

}  // namespace

TEST_CASE("a step whose calls worked at each crash is given up at the limit") {
  for (const bool committed : {false, true}) {
    CAPTURE(committed);
    CHECK_FALSE(end_of(2, committed, true));
    CHECK(end_of(3, committed, true) == errc::internal);
    CHECK(end_of(0, committed, true, 0) == errc::internal);
  }
}

TEST_CASE("a step that only waited for its model outlives the one beside it") {
  CHECK_FALSE(end_of(3, false, false));
  CHECK_FALSE(end_of(4, false, false));
  CHECK(end_of(5, false, false) == errc::internal);
}

TEST_CASE("a call that waits for a person is never given up") {
  CHECK_FALSE(end_of(1000, true, false));
}

TEST_CASE("a stop in order is no crash of the step, however often it comes") {
  for (const bool committed : {false, true}) {
    CAPTURE(committed);
    CHECK_FALSE(end_of(3, committed, true, 3, true));
    // What crashed before counts as it did.
    CHECK(end_of(4, committed, true, 3, true) == errc::internal);
  }
}
