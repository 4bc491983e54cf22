// SPDX-License-Identifier: MIT
#include "actors/core/step_machine.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/step_detail.hpp"
#include "messages/enum_text.hpp"
#include "runtime/base/text.hpp"

namespace riffle::core {

using namespace step_detail;

step_machine::step_machine(step_limits limits, std::function<double()> random01)
    : limits_{std::move(limits)},
      random01_{std::move(random01)},
      work_phase_{limits_.termination.phase},
      loops_{limits_.loop_limit} {
  if (!limits_.ending)
    limits_.ending = make_termination_policy(limits_.termination);
}

std::string_view step_machine::phase_name() const noexcept {
  static constexpr text_table<8> names = {
      "idle",     "streaming", "settling", "stopping",
      "draining", "breaking",  "waiting",  "ended",
  };
  static_assert(covers(names, phase::ended));
  return text_of(names, phase_);
}

// -- what the outside says ----------------------------------------------------

step_effects step_machine::start(time_point now) {
  step_effects out;
  started_ = now - limits_.before_start;
  begin_step(out, now);
  return out;
}

step_effects step_machine::start_with(asked_call call, time_point now) {
  step_effects out;
  started_ = now - limits_.before_start;
  progress_.step = progress_.attempt = progress_.tool_calls = 1;
  progress_.turn_committed = progress_.turn_safe = true;
  expect({call});
  new_message message{true, {}, {}, {call.id}};
  asked_.push_back(std::move(call));
  phase_ = phase::settling;
  record(out, {events::step_start{1, limits_.max_steps}}, std::move(message));
  out.emplace_back(open_gate{true});
  return out;
}

step_effects step_machine::recover(run_progress progress,
                                   std::vector<asked_call> calls,
                                   const std::vector<settled_call>& settled,
                                   std::string text, wall_time started,
                                   wall_time wall_now, time_point now) {
  step_effects out;
  progress_ = progress;
  started_ = now - std::chrono::microseconds{
                       std::max<std::int64_t>(0, wall_now.us - started.us)};
  if (progress_.step == 0) {
    begin_step(out, now);
    return out;
  }
  // A process that ended in order was not brought down by this step.
  if (!std::exchange(progress_.left, false)) ++progress_.recoveries;
  recovering_ = true;
  if (!progress_.turn_committed || (progress_.calls_worked && given_up())) {
    phase_ = phase::breaking;
    break_error_ = error{errc::interrupted, op,
                         "the run was suspended during the step", true};
    out.emplace_back(drain_calls{drain_reason::interrupted});
    return out;
  }
  text_ = std::move(text);
  cut_off_ = !progress_.turn_safe;
  expect(calls);
  asked_ = std::move(calls);
  record(out, {});  // one more recovery is on record
  phase_ = phase::settling;
  out.emplace_back(open_gate{progress_.turn_safe});
  if (calls_.empty() && progress_.turn_paused)
    go_on(out, now);
  else if (calls_.empty())
    without_calls(out, now);
  for (const auto& c : settled) {
    if (phase_ != phase::settling) break;
    auto more = on_settled(c, now);
    std::ranges::move(more, std::back_inserter(out));
  }
  return out;
}

step_effects step_machine::on_asked_anew(const turn_summary& turn) {
  step_effects out;
  spend(turn, out);
  return out;
}

step_effects step_machine::on_turn_over(turn_summary turn, time_point now) {
  step_effects out;
  if (phase_ == phase::stopping_turn) {
    progress_.tool_calls += static_cast<std::uint32_t>(turn.calls.size());
    spend(turn, out);
    said_ = std::move(turn.text);
    phase_ = phase::draining;
    out.emplace_back(drain_calls{end_->cancelled ? drain_reason::cancelled
                                                 : drain_reason::timed_out});
  } else if (phase_ == phase::streaming) {
    if (turn.failure || !turn.finish)
      break_turn(std::move(turn), out);
    else
      commit_turn(std::move(turn), out, now);
  }
  return out;
}

step_effects step_machine::on_settled(settled_call call, time_point now) {
  step_effects out;
  const auto known = calls_.find(call.id);
  if (known != calls_.end() && !std::exchange(known->second, true))
    --unsettled_;
  else if (known == calls_.end())
    calls_.emplace(call.id, true);
  over_budget_ = over_budget_ || call.over_budget;
  seen_[call.id] = {call.tool, 0, call.result, call.polling};
  const bool ends = call.tool == "complete" && call.how == outcome::ok;
  if (ends || limits_.one_call) answer_ = std::move(call.answer);
  if (limits_.answer_problem && !call.problem.empty())
    refused_ = std::move(call.problem);
  if (phase_ == phase::settling && unsettled_ == 0) step_done(out, now);
  return out;
}

step_effects step_machine::on_drained(time_point now) {
  step_effects out;
  if (phase_ == phase::draining)
    end_as_requested(out, now);
  else if (phase_ == phase::breaking)
    after_break(out, now);
  return out;
}

step_effects step_machine::on_waited(time_point) {
  step_effects out;
  if (phase_ == phase::waiting) ask_again(out);
  return out;
}

step_effects step_machine::on_end_request(end_request request, time_point now) {
  step_effects out;
  if (end_ || phase_ == phase::ended) return out;
  end_ = std::move(request);
  switch (phase_) {
    case phase::streaming:
      phase_ = phase::stopping_turn;
      out.emplace_back(stop_turn{});
      break;
    case phase::settling:
      phase_ = phase::draining;
      out.emplace_back(drain_calls{end_->cancelled ? drain_reason::cancelled
                                                   : drain_reason::timed_out});
      break;
    case phase::breaking: phase_ = phase::draining; break;
    case phase::idle: started_ = now - limits_.before_start; [[fallthrough]];
    case phase::waiting: end_as_requested(out, now); break;
    default: break;
  }
  return out;
}

// -- steps and turns ----------------------------------------------------------

void step_machine::record(step_effects& out, std::vector<events::body> events,
                          std::optional<new_message> message, bool last) {
  out.emplace_back(
      record_step{std::move(events), std::move(message), last, progress_});
}

void step_machine::begin_step(step_effects& out, time_point now,
                              std::vector<events::body> events,
                              std::optional<new_message> message) {
  if (progress_.step >= limits_.max_steps) {
    if (!events.empty()) record(out, std::move(events), std::move(message));
    fail({errc::max_steps_exceeded, op,
          "the run used up its " + std::to_string(limits_.max_steps) +
              (limits_.max_steps == 1 ? " step" : " steps") +
              "; allow more with max_steps"},
         events::run_status::failed, out, now);
    return;
  }
  const bool goes_on = progress_.turn_paused;
  ++progress_.step;
  progress_.attempt = 1;
  progress_.turn_committed = progress_.turn_safe = false;
  progress_.turn_paused = false;
  progress_.recoveries = 0;
  failed_attempts_ = 0;
  calls_.clear();
  unsettled_ = 0;
  seen_.clear();
  asked_.clear();
  text_.clear();
  said_.clear();
  refused_.clear();
  over_budget_ = recovering_ = shown_ = false;
  phase_ = phase::streaming;
  events.emplace_back(events::step_start{progress_.step, limits_.max_steps});
  // Nothing may come between a turn that its provider paused and its rest.
  if (!goes_on) say_heard(events, message);
  record(out, std::move(events), std::move(message));
  out.emplace_back(open_turn{progress_.step, progress_.attempt});
}

std::optional<error> step_machine::hear(std::string text) {
  constexpr std::size_t most = 64;
  const auto refused = [](std::string why) {
    return error{errc::invalid_request, op, std::move(why)};
  };
  if (end_ || phase_ == phase::ended) return refused("the run is at its end");
  if (limits_.one_call) return refused("the run asks no model");
  if (std::ranges::find(heard_, text) != heard_.end()) return std::nullopt;
  if (heard_.size() >= most)
    return refused(std::to_string(most) + " texts wait for its next step");
  heard_.push_back(std::move(text));
  return std::nullopt;
}

/// Behind a reminder of the runtime, if there is one: a message of its own
/// would have to be committed with it.
void step_machine::say_heard(std::vector<events::body>& events,
                             std::optional<new_message>& message) {
  if (heard_.empty()) return;
  if (message)
    message->text += "\n\nMeanwhile the user said:";
  else
    message.emplace();
  for (auto& text : std::exchange(heard_, {})) {
    message->text += (message->text.empty() ? "" : "\n\n") + text;
    events.emplace_back(events::user_message{std::move(text), progress_.step});
  }
}

void step_machine::commit_turn(turn_summary turn, step_effects& out,
                               time_point now) {
  add(progress_.usage, turn.usage);
  progress_.turn_committed = true;
  progress_.turn_safe = is_safe(*turn.finish);
  progress_.turn_paused = turn.finish == finish_reason::paused;
  progress_.tool_calls += static_cast<std::uint32_t>(turn.calls.size());
  text_ = turn.text;
  cut_off_ = turn.finish == finish_reason::length ||
             turn.finish == finish_reason::content_filter;
  new_message message{true,
                      std::move(turn.text),
                      std::move(turn.reasoning),
                      {},
                      {{}, std::move(turn.state)}};
  expect(turn.calls);
  for (const auto& c : turn.calls) message.calls.push_back(c.id);
  asked_ = std::move(turn.calls);
  record(out, {events::usage{progress_.step, turn.usage}}, std::move(message));
  phase_ = phase::settling;
  out.emplace_back(open_gate{progress_.turn_safe});
  if (calls_.empty()) {
    if (progress_.turn_paused)
      go_on(out, now);
    else if (turn.finish == finish_reason::content_filter && text_.empty())
      fail({errc::model_error, op,
            "the provider's content filter stopped the answer"},
           events::run_status::failed, out, now);
    else
      without_calls(out, now);
  } else if (unsettled_ == 0) {
    step_done(out, now);
  }
}

/// One that is settled already stays so.
void step_machine::expect(const std::vector<asked_call>& calls) {
  for (const auto& x : calls)
    if (calls_.emplace(x.id, false).second) ++unsettled_;
}

void step_machine::break_turn(turn_summary turn, step_effects& out) {
  spend(turn, out);
  shown_ = shown_ || turn.shown || !turn.calls.empty();
  progress_.tool_calls += static_cast<std::uint32_t>(turn.calls.size());
  retry_after_ = turn.retry_after;
  break_error_ =
      turn.failure
          ? std::move(*turn.failure)
          : error{errc::stream_interrupted, op,
                  "the model's answer ended before it was complete", true};
  said_ = std::move(turn.text);
  phase_ = phase::breaking;
  out.emplace_back(drain_calls{drain_reason::interrupted});
}

/// What a turn that came to nothing cost.
void step_machine::spend(const turn_summary& turn, step_effects& out) {
  if (!turn.answered) return;
  add(progress_.usage, turn.usage);
  record(out, {events::usage{progress_.step, turn.usage}});
}

/// What worked when the process died may be why it died. A step that only
/// waited for its model is suspected less: it goes on when the other is given
/// up.
bool step_machine::given_up() const noexcept {
  constexpr std::uint32_t more_for_bystanders = 2;
  const auto more = progress_.calls_worked ? 0 : more_for_bystanders;
  return progress_.recoveries > limits_.recovery_attempts + more;
}

void step_machine::after_break(step_effects& out, time_point now) {
  calls_.clear();
  unsettled_ = 0;
  seen_.clear();
  answer_.reset();
  refused_.clear();
  said_.clear();  // withdrawn
  over_budget_ = false;
  if (recovering_) {
    if (given_up()) {
      fail({errc::internal, op,
            "the step was interrupted " + std::to_string(progress_.recoveries) +
                " times; the run is given up"},
           events::run_status::failed, out, now);
      return;
    }
    recovering_ = false;
    restart_step(out, break_error_->message);
    return;
  }
  ++failed_attempts_;
  const auto next =
      next_retry(limits_.model_retry, failed_attempts_, break_error_->retryable,
                 retry_after_, random01_ ? random01_() : 0.5);
  if (!next.again) {
    // Where a transport cuts what the server asks for.
    constexpr duration longest_told = std::chrono::hours{24};
    auto why = *break_error_;
    if (retry_after_ && *retry_after_ > retry_after_limit)
      why.message +=
          "; the server asks to wait " +
          std::string{*retry_after_ == longest_told ? "at least " : ""} +
          short_duration(to_ms(*retry_after_));
    fail(why, events::run_status::failed, out, now);
    return;
  }
  phase_ = phase::waiting;
  record(out, {events::retry{events::retry_what::model,
                             {},
                             failed_attempts_,
                             limits_.model_retry.max_attempts,
                             to_ms(next.delay),
                             break_error_->message}});
  out.emplace_back(wait_for{next.delay});
}

void step_machine::ask_again(step_effects& out) {
  if (shown_) {
    restart_step(out, break_error_->message);
  } else {
    phase_ = phase::streaming;
    const bool refused = break_error_->code == errc::model_rate_limited;
    out.emplace_back(open_turn{progress_.step, progress_.attempt, refused});
  }
}

void step_machine::restart_step(step_effects& out, std::string reason) {
  ++progress_.attempt;
  shown_ = false;
  phase_ = phase::streaming;
  record(out, {events::step_restarted{progress_.step, progress_.attempt,
                                      std::move(reason)}});
  out.emplace_back(open_turn{progress_.step, progress_.attempt});
}

}  // namespace riffle::core
