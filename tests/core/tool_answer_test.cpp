// SPDX-License-Identifier: MIT
// An answer of a form where the model's server makes none: `complete` gives it,
// the model is made to call it, and what does not fit is asked for again.
#include <algorithm>
#include <variant>

#include "actors/core/control_tools.hpp"
#include "actors/core/step_machine.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;
using Catch::Matchers::Contains;

namespace {

template <class T>
const T* find(const step_effects& all) {
  for (const auto& x : all)
    if (const auto* found = std::get_if<T>(&x)) return found;
  return nullptr;
}

/// An event of this kind, in any record.
template <class T>
const T* find_event(const step_effects& all) {
  for (const auto& x : all)
    if (const auto* record = std::get_if<record_step>(&x))
      for (const auto& event : record->events)
        if (const auto* found = std::get_if<T>(&event)) return found;
  return nullptr;
}

/// The message of a person's side that a record has.
std::string told(const step_effects& all) {
  for (const auto& x : all)
    if (const auto* record = std::get_if<record_step>(&x))
      if (record->message && !record->message->from_model)
        return record->message->text;
  return {};
}

/// "{}" is the only answer.
std::string only_braces(std::string& text) {
  return text == "{}" ? "" : "it is not {}";
}

step_machine machine_with(std::uint32_t reminders, bool only = false,
                          std::uint32_t max_steps = 30) {
  step_limits x;
  x.max_steps = max_steps;
  x.answer_problem = only_braces;
  x.answer_form = "the-schema";
  x.form_by_tool = true;
  x.only_completes = only;
  x.termination.max_attempts = reminders;
  return step_machine{x, [] { return 0.0; }};
}

turn_summary says(std::string text) {
  turn_summary x;
  x.finish = finish_reason::stop;
  x.text = std::move(text);
  return x;
}

turn_summary calls(const std::string& tool) {
  turn_summary x;
  x.finish = finish_reason::tool_calls;
  x.calls = {{call_id{"c"}, tool + " {}"}};
  return x;
}

settled_call refused(const std::string& why) {
  settled_call x{call_id{"c"}, "complete", outcome::failed};
  x.problem = why;
  return x;
}

settled_call completed(const std::string& answer) {
  return {call_id{"c"}, "complete", outcome::ok, answer};
}

}  // namespace

TEST_CASE("who ends without the form is made to complete, and is told so") {
  auto machine = machine_with(2);
  machine.start({});
  CHECK_FALSE(machine.must_complete());
  const auto effects = machine.on_turn_over(says("Three."), {});
  REQUIRE(find<open_turn>(effects) != nullptr);
  CHECK(machine.must_complete());
  CHECK(find_event<events::retry>(effects)->what ==
        events::retry_what::termination);
  CHECK_THAT(told(effects),
             Contains("it is not {}") && Contains("call `complete`") &&
                 Contains("the-schema") && Contains("Reminder 1 of 2"));
  machine.on_turn_over(calls("complete"), {});
  const auto end = machine.on_settled(completed("{}"), {});
  REQUIRE(find_event<events::final_answer>(end) != nullptr);
  CHECK(find_event<events::final_answer>(end)->content == "{}");
}

TEST_CASE("a text that is the answer needs no call") {
  auto machine = machine_with(2);
  machine.start({});
  const auto effects = machine.on_turn_over(says("{}"), {});
  REQUIRE(find_event<events::final_answer>(effects) != nullptr);
  CHECK(find_event<events::final_answer>(effects)->content == "{}");
}

TEST_CASE("of a call that gives no answer its result says what is wrong") {
  auto machine = machine_with(1);
  machine.start({});
  machine.on_turn_over(calls("complete"), {});
  const auto again = machine.on_settled(refused("/n: must be there"), {});
  REQUIRE(find<open_turn>(again) != nullptr);
  CHECK(find_event<events::retry>(again) != nullptr);
  CHECK(told(again).empty());
  CHECK(machine.must_complete());
  CHECK(machine.progress().reminders == 1);
  machine.on_turn_over(calls("complete"), {});
  const auto end = machine.on_settled(refused("/n: must be there"), {});
  CHECK(find<open_turn>(end) == nullptr);
  REQUIRE(find_event<events::failure>(end) != nullptr);
  const auto& why = find_event<events::failure>(end)->err;
  CHECK(why.code == errc::not_terminated);
  CHECK_THAT(why.message,
             Contains("after 1 reminder") && Contains("/n: must be there"));
}

TEST_CASE("of two calls in one step the one that answers counts") {
  auto machine = machine_with(1);
  machine.start({});
  auto turn = calls("complete");
  turn.calls.push_back({call_id{"d"}, "complete {}"});
  machine.on_turn_over(turn, {});
  machine.on_settled(refused("no"), {});
  auto good = completed("{}");
  good.id = call_id{"d"};
  CHECK(find_event<events::final_answer>(machine.on_settled(good, {})) !=
        nullptr);
}

TEST_CASE("the last step, and one without other tools, is for `complete`") {
  auto machine = machine_with(2, false, 2);
  machine.start({});
  CHECK_FALSE(machine.must_complete());
  machine.on_turn_over(calls("read"), {});
  machine.on_settled({call_id{"c"}, "read"}, {});
  CHECK(machine.progress().step == 2);
  CHECK(machine.must_complete());
  auto alone = machine_with(2, true);
  alone.start({});
  CHECK(alone.must_complete());
}

TEST_CASE("a run that went on after a crash is still made to complete") {
  run_progress at;
  at.step = 2;
  at.attempt = 1;
  at.reminders = 1;
  auto machine = machine_with(2);
  machine.recover(at, {}, {}, {}, {}, {}, {});
  CHECK(machine.must_complete());
  // A call that was refused before the crash is refused after it.
  at.turn_committed = at.turn_safe = true;
  auto other = machine_with(2);
  const auto again = other.recover(at, {{call_id{"c"}, "complete {}"}},
                                   {refused("no")}, {}, {}, {}, {});
  CHECK(find<open_turn>(again) != nullptr);
  CHECK(other.progress().reminders == 2);
}

TEST_CASE("without a form nobody is made to complete, until a server refuses") {
  step_limits x;
  x.answer_problem = only_braces;
  x.max_steps = 1;
  step_machine machine{x, [] { return 0.0; }};
  machine.start({});
  CHECK_FALSE(machine.must_complete());
  machine.end_by_tool();
  CHECK(machine.must_complete());
}

TEST_CASE("`complete` gives its arguments as the answer, if they fit") {
  tool_call call;
  call.tool = "complete";
  call.arguments = "{}";
  answer_rule rule{true, only_braces};
  CHECK(run_control(call, {}, {}, rule).answer == "{}");
  CHECK(answer_in(call, rule) == "{}");
  call.arguments = R"({"answer":"{}"})";
  CHECK(run_control(call, {}, {}).answer == "{}");
  CHECK(answer_in(call, {}) == "{}");
  const auto wrong = run_control(call, {}, {}, rule);
  CHECK_FALSE(wrong.answer);
  CHECK(wrong.result.how == outcome::failed);
  CHECK(wrong.result.err->code == errc::invalid_arguments);
  CHECK_THAT(wrong.result.output,
             Contains("it is not {}") && Contains("call `complete` again"));
  rule.is_arguments = false;
  CHECK(run_control(call, {}, {}, rule).answer == "{}");
}
