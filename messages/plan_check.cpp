// SPDX-License-Identifier: MIT
// The promises of a plan's own log: the other half of the run checker.
#include <algorithm>

#include "messages/run_check.hpp"

namespace riffle {

namespace {

run_checker::finding broken(int promise, std::string text) {
  return broken_promise{promise, std::move(text)};
}

/// What stands in the log of a plan, and what in that of a run.
enum class place : std::uint8_t { of_run, of_plan, of_both };

template <class T>
constexpr place place_of = place::of_run;
template <>
constexpr place place_of<events::plan_started> = place::of_plan;
template <>
constexpr place place_of<events::plan_step_started> = place::of_plan;
template <>
constexpr place place_of<events::plan_step_finished> = place::of_plan;
template <>
constexpr place place_of<events::plan_finished> = place::of_plan;
template <>
constexpr place place_of<events::tool_call> = place::of_both;
template <>
constexpr place place_of<events::tool_progress> = place::of_both;
template <>
constexpr place place_of<events::tool_result> = place::of_both;
template <>
constexpr place place_of<events::approval_required> = place::of_both;
template <>
constexpr place place_of<events::approval_resolved> = place::of_both;
template <>
constexpr place place_of<events::proposal> = place::of_both;
template <>
constexpr place place_of<events::retry> = place::of_both;
template <>
constexpr place place_of<events::status> = place::of_both;

std::string of_step(std::uint32_t step) {
  return "step " + std::to_string(step);
}

}  // namespace

run_checker::finding run_checker::check_kind(const event& x) const {
  const auto where =
      std::visit([]<class T>(const T&) { return place_of<T>; }, x.body);
  const auto wrong = is_plan_ ? place::of_run : place::of_plan;
  if (where != wrong) return {};
  return broken(4, std::string{events::type_name(x.body.index())} +
                       (is_plan_ ? " in the log of a plan"
                                 : " in a log that is no plan's"));
}

run_checker::finding run_checker::on(const events::plan_started& x) {
  plan_steps_ = x.steps;
  if (x.plan != run_)
    return broken(1, "plan_started names plan " + x.plan.value +
                         " in the log of " + run_.value);
  return {};
}

/// Another try of the step that is open; or of a model or tool.
run_checker::finding run_checker::on_retried_step(const events::retry& x) {
  if (x.what != events::retry_what::step) return {};
  step_again_ = true;
  if (!is_plan_ || !step_open_)
    return broken(3, "a retry of a step while none is open");
  return check_open_calls("a retry of the step");
}

run_checker::finding run_checker::on(const events::plan_step_started& x) {
  const bool again = step_open_ && std::exchange(step_again_, false);
  const auto due = again ? step_ : step_ + 1;
  const bool was_open = std::exchange(step_open_, true);
  const auto attempt = again ? attempt_ + 1 : 1;
  step_ = x.step;
  attempt_ = x.attempt;
  step_id_ = x.id;
  if (!again) ++steps_;
  if (was_open && !again)
    return broken(3, of_step(x.step) +
                         " starts while the one before has no "
                         "plan_step_finished");
  if (x.step != due)
    return broken(3, of_step(x.step) + " starts where " + std::to_string(due) +
                         " was due");
  if (x.step > plan_steps_)
    return broken(3, of_step(x.step) + " of a plan that has " +
                         std::to_string(plan_steps_));
  if (x.attempt != attempt)
    return broken(3, "attempt " + std::to_string(x.attempt) + " where " +
                         std::to_string(attempt) + " was due");
  return check_open_calls("plan_step_started");
}

run_checker::finding run_checker::on(const events::plan_step_finished& x) {
  const bool was_open = std::exchange(step_open_, false);
  step_again_ = false;
  last_step_ = x.status;
  if (!was_open || x.step != step_ || x.id != step_id_)
    return broken(
        3, "plan_step_finished of " + of_step(x.step) + ", which is not open");
  if (x.err.has_value() == (x.status == events::run_status::completed))
    return broken(4, of_step(x.step) + " " + std::string{to_string(x.status)} +
                         (x.err ? " with" : " without") + " an error");
  return check_open_calls("plan_step_finished");
}

run_checker::finding run_checker::on(const events::plan_finished& x) {
  finished_ = true;
  const std::string plan = "the plan " + std::string{to_string(x.status)};
  if (!open_.empty())
    return broken(2, "call " + *open_.begin() + " has no tool_result");
  if (step_open_)
    return broken(3, of_step(step_) + " has no plan_step_finished");
  const bool completed = x.status == events::run_status::completed;
  if (x.answer.has_value() != completed)
    return broken(4,
                  plan + (x.answer ? " with" : " without") + " a final_answer");
  if (x.err.has_value() == completed)
    return broken(4, plan + (x.err ? " with" : " without") + " an error");
  if (completed && steps_ != plan_steps_)
    return broken(4, plan + " after " + std::to_string(steps_) + " of its " +
                         std::to_string(plan_steps_) + " steps");
  return {};
}

}  // namespace riffle
