// SPDX-License-Identifier: MIT
// How a step ends and what follows: the other half of the step machine.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "actors/core/inline_proposals.hpp"
#include "actors/core/step_detail.hpp"
#include "actors/core/step_machine.hpp"
#include "messages/runtime_note.hpp"
#include "runtime/base/secrets.hpp"

namespace riffle::core {

using namespace step_detail;

// -- the end of a step --------------------------------------------------------

void step_machine::without_calls(step_effects& out, time_point now) {
  // `complete` may be the way to give a form: said at once will do.
  if (limits_.form_by_tool && !fits_form(text_))
    return refuse_answer(problem_of(text_), out, now);
  auto next = limits_.ending->on_turn_without_calls(turn_ended());
  if (next.step != termination_step::finish && fits_form(text_))
    next = {termination_step::finish, text_, false};
  switch (next.step) {
    case termination_step::finish: {
      const bool own = !next.fallback;
      complete(answer_of(std::move(next)), own, out, now);
      break;
    }
    case termination_step::fail:
      fail({errc::not_terminated, op, std::move(next.text)},
           events::run_status::failed, out, now);
      break;
    case termination_step::remind:
      remind(std::move(next.text), "the agent must call `complete`", out, now);
      break;
  }
}

void step_machine::remind(std::string text, std::string reason,
                          step_effects& out, time_point now) {
  ++progress_.reminders;
  out.emplace_back(forget_calls{});
  std::optional<new_message> message;
  if (!text.empty()) message = new_message{false, std::move(text)};
  begin_step(out, now,
             {events::retry{events::retry_what::termination,
                            {},
                            progress_.reminders,
                            limits_.termination.max_attempts,
                            0,
                            std::move(reason)}},
             std::move(message));
}

/// The provider paused its turn.
void step_machine::go_on(step_effects& out, time_point now) {
  out.emplace_back(forget_calls{});
  begin_step(out, now);
}

void step_machine::step_done(step_effects& out, time_point now) {
  if (answer_) {
    complete(answer_of(limits_.ending->on_complete(*answer_, turn_ended())),
             false, out, now);
    return;
  }
  if (over_budget_) {
    fail(calls_used_up(limits_.budget.tool_calls), events::run_status::failed,
         out, now);
    return;
  }
  // The result of the call says what is wrong.
  if (!refused_.empty()) return ask_for_form(refused_, {}, out, now);
  const auto loop = observe();
  if (loop.what == loop_finding::loop) {
    fail({errc::loop_detected, op,
          "the model made " + loop.calls + " " + std::to_string(loop.times) +
              " times in a row with the same results, and a hint did not "
              "help; a tool that has to be asked again and again needs "
              "polling = true, or raise loop_limit"},
         events::run_status::failed, out, now);
    return;
  }
  out.emplace_back(forget_calls{});
  if (loop.what == loop_finding::none) return begin_step(out, now);
  begin_step(out, now, {events::status{"the model repeats itself"}},
             new_message{false, loop_hint(loop)});
}

step_effects step_machine::refuse_turn(error why, time_point now) {
  step_effects out;
  if (phase_ == phase::streaming)
    fail(std::move(why), events::run_status::failed, out, now);
  return out;
}

turn_end step_machine::turn_ended() const {
  return {text_, work_phase_, progress_.reminders, progress_.tool_calls};
}

std::string step_machine::answer_of(termination x) const {
  if (x.fallback && !proposals_.empty()) return proposals_as_answer(proposals_);
  return std::move(x.text);
}

/// All calls of the step have settled.
loop_report step_machine::observe() {
  std::vector<observed_call> calls;
  for (const auto& x : asked_) {
    auto& seen = calls.emplace_back(std::move(seen_[x.id]));
    seen.asked = digest_of(x.signature);
  }
  return loops_.on_step(calls);
}

/// Why the text, as it stands, is no answer of the form that is asked for.
std::string step_machine::problem_of(const std::string& text) const {
  auto inside = text;
  auto problem = limits_.answer_problem(inside);
  if (problem.empty() && inside != text)
    problem = "something stands around the JSON";
  return problem;
}

bool step_machine::fits_form(const std::string& text) const {
  return limits_.answer_problem && problem_of(text).empty();
}

bool step_machine::must_complete() const noexcept {
  return limits_.form_by_tool &&
         (limits_.only_completes || progress_.reminders > 0 ||
          progress_.step >= limits_.max_steps);
}

/// The model may say it again, as often as it may be reminded to end.
void step_machine::ask_for_form(const std::string& problem, std::string text,
                                step_effects& out, time_point now) {
  constexpr auto what = "the answer does not fit response_schema";
  const auto most = limits_.termination.max_attempts;
  answer_.reset();
  if (progress_.reminders >= most)
    return fail(
        {errc::not_terminated, op,
         std::string{what} + ", after " + std::to_string(progress_.reminders) +
             " reminders: " + problem},
        events::run_status::failed, out, now);
  if (!text.empty())
    text += " (Reminder " + std::to_string(progress_.reminders + 1) + " of " +
            std::to_string(most) + ".)";
  remind(std::move(text), what, out, now);
}

void step_machine::refuse_answer(const std::string& problem, step_effects& out,
                                 time_point now) {
  auto text =
      std::string{runtime_note} +
      "Your answer does not have the form that is asked for: " + problem + ". ";
  text += limits_.form_by_tool
              ? "To give it, call `complete` now, and nothing else. The answer "
                "is valid for this JSON Schema: "
              : "Give it again: one JSON object and nothing else, valid for "
                "this JSON Schema: ";
  ask_for_form(problem, text + limits_.answer_form, out, now);
}

void step_machine::complete(std::string answer, bool own, step_effects& out,
                            time_point now) {
  if (limits_.answer_problem) {
    // What the model said is in the log already and stays as it is.
    const auto problem =
        own ? problem_of(answer) : limits_.answer_problem(answer);
    if (!problem.empty()) return refuse_answer(problem, out, now);
  }
  phase_ = phase::ended;
  record(
      out,
      {events::final_answer{std::move(answer), progress_.step, progress_.usage,
                            progress_.tool_calls, !answer_ && cut_off_},
       finished(events::run_status::completed, {}, now)},
      {}, true);
}

void step_machine::fail(error why, events::run_status status, step_effects& out,
                        time_point now, std::optional<new_message> said) {
  why = redact(std::move(why));  // it may hold what a model calls a tool
  phase_ = phase::ended;
  std::optional<std::uint32_t> step;
  if (progress_.step > 0) step = progress_.step;
  record(out, {events::failure{why, step}, finished(status, why, now)},
         std::move(said), true);
}

step_effects step_machine::end_recovered(step_effects recovered,
                                         end_request request, time_point now) {
  auto more = on_end_request(std::move(request), now);
  std::erase_if(recovered, [](const step_effect& x) {
    return std::holds_alternative<open_gate>(x);
  });
  std::ranges::move(more, std::back_inserter(recovered));
  return recovered;
}

/// What a turn had said is not lost with it: whoever read it may speak of it.
/// Its calls are, which have no results to go with them.
void step_machine::end_as_requested(step_effects& out, time_point now) {
  std::optional<new_message> said;
  said_.erase(said_.find_last_not_of(" \t\r\n") + 1);
  if (!said_.empty()) said = new_message{true, std::exchange(said_, {})};
  fail(end_->why,
       end_->cancelled ? events::run_status::cancelled
                       : events::run_status::failed,
       out, now, std::move(said));
}

events::run_finished step_machine::finished(events::run_status status,
                                            std::optional<error> why,
                                            time_point now) const {
  return {status,          to_ms(now - started_),
          progress_.step,  progress_.tool_calls,
          progress_.usage, std::move(why)};
}

}  // namespace riffle::core
