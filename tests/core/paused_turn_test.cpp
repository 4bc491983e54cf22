// SPDX-License-Identifier: MIT
// A turn that its provider paused is gone on with, whatever lies between.
#include <algorithm>
#include <variant>

#include "actors/core/step_machine.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;

namespace {

template <class T>
const T* find(const step_effects& all) {
  for (const auto& x : all)
    if (const auto* found = std::get_if<T>(&x)) return found;
  return nullptr;
}

bool ends(const step_effects& all) {
  return std::ranges::any_of(all, [](const auto& x) {
    const auto* record = std::get_if<record_step>(&x);
    return record != nullptr && record->last;
  });
}

step_effects resume(bool paused) {
  step_machine machine{{}, [] { return 0.0; }};
  run_progress at;
  at.step = 1;
  at.attempt = 1;
  at.turn_committed = true;
  at.turn_paused = paused;
  return machine.recover(at, {}, {}, "so far", {}, {}, {});
}

}  // namespace

TEST_CASE("a paused turn opens the next step, and its record says so") {
  step_machine machine{{}, [] { return 0.0; }};
  machine.start({});
  turn_summary turn;
  turn.finish = finish_reason::paused;
  turn.text = "so far";
  const auto effects = machine.on_turn_over(turn, {});
  const auto* record = find<record_step>(effects);
  REQUIRE(record != nullptr);
  CHECK(record->message->from_model);
  CHECK(record->progress.turn_paused);
  REQUIRE(find<open_turn>(effects) != nullptr);
  CHECK(find<open_turn>(effects)->step == 2);
  CHECK_FALSE(machine.progress().turn_paused);
}

TEST_CASE("after a crash behind it, too; any other text is the answer") {
  const auto paused = resume(true);
  CHECK_FALSE(ends(paused));
  REQUIRE(find<open_turn>(paused) != nullptr);
  CHECK(find<open_turn>(paused)->step == 2);
  const auto other = resume(false);
  CHECK(ends(other));
  CHECK(find<open_turn>(other) == nullptr);
}
