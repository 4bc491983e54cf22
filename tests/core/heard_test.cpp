// SPDX-License-Identifier: MIT
// When a run's model hears what a person said meanwhile, and when it is too
// late.
#include <string>
#include <variant>
#include <vector>

#include "actors/core/step_machine.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;

namespace {

step_machine begun(step_limits limits = {}) {
  step_machine out{std::move(limits), [] { return 0.0; }};
  out.start({});
  return out;
}

step_effects ends_turn(step_machine& x, finish_reason how,
                       std::vector<asked_call> calls = {}) {
  turn_summary turn;
  turn.finish = how;
  turn.text = "so far";
  turn.calls = std::move(calls);
  return x.on_turn_over(std::move(turn), {});
}

/// A turn with one call, which settles.
step_effects one_step(step_machine& x, const std::string& id) {
  ends_turn(x, finish_reason::tool_calls, {{call_id{id}, "look {}"}});
  return x.on_settled({call_id{id}, "look"}, {});
}

/// What was said, by the record that begins the next step.
std::vector<std::string> said(const step_effects& all) {
  std::vector<std::string> out;
  for (const auto& x : all)
    if (const auto* record = std::get_if<record_step>(&x))
      for (const auto& e : record->events)
        if (const auto* one = std::get_if<events::user_message>(&e)) {
          CHECK(one->step == record->progress.step);
          REQUIRE(record->message);
          CHECK_FALSE(record->message->from_model);
          CHECK(record->message->text.find(one->text) != std::string::npos);
          out.push_back(one->text);
        }
  return out;
}

}  // namespace

TEST_CASE("what is heard goes out with the next step, once") {
  auto x = begun();
  CHECK_FALSE(x.hear("one"));
  CHECK_FALSE(x.hear("two"));
  CHECK(said(one_step(x, "a")) == std::vector<std::string>{"one", "two"});
  CHECK(said(one_step(x, "b")).empty());
}

TEST_CASE("what waits already is not heard twice") {
  auto x = begun();
  CHECK_FALSE(x.hear("one"));
  CHECK_FALSE(x.hear("one"));
  CHECK(said(one_step(x, "a")) == std::vector<std::string>{"one"});
  CHECK_FALSE(x.hear("one"));
  CHECK(said(one_step(x, "b")) == std::vector<std::string>{"one"});
}

TEST_CASE("nothing is said between a paused turn and what goes on with it") {
  auto x = begun();
  CHECK_FALSE(x.hear("meanwhile"));
  CHECK(said(ends_turn(x, finish_reason::paused)).empty());
  CHECK(said(one_step(x, "a")) == std::vector<std::string>{"meanwhile"});
}

TEST_CASE("a run that ends hears nothing, and so does one that asks no model") {
  auto done = begun();
  ends_turn(done, finish_reason::stop);
  CHECK(done.ended());
  CHECK(done.hear("too late"));
  auto stopped = begun();
  stopped.on_end_request({{errc::cancelled, "run", "stopped"}}, {});
  CHECK(stopped.hear("too late"));
  step_limits one;
  one.one_call = true;
  CHECK(begun(one).hear("to nobody"));
}

TEST_CASE("the last step is no reason to say anything") {
  step_limits limits;
  limits.max_steps = 1;
  auto x = begun(limits);
  CHECK_FALSE(x.hear("more"));
  CHECK(said(one_step(x, "a")).empty());
  CHECK(x.ended());
}

TEST_CASE("a run keeps 64 texts for its model, and takes no more") {
  auto x = begun();
  for (int i = 0; i < 64; ++i) CHECK_FALSE(x.hear(std::to_string(i)));
  CHECK(x.hear("64"));
  CHECK(said(one_step(x, "a")).size() == 64);
  CHECK_FALSE(x.hear("65"));
}
