// SPDX-License-Identifier: MIT
#include "actors/core/plan_cursor.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/step_detail.hpp"
#include "messages/duration_text.hpp"

namespace riffle::core {

using events::run_status;
using step_detail::to_ms;

namespace {

constexpr const char* plan_op = "plan";

error interrupted_plan(const error& why) {
  return {errc::stream_interrupted, plan_op, why.message};
}

}  // namespace

plan_cursor::plan_cursor(const plan_document& plan, run_id id,
                         plan_limits limits, std::function<double()> random01)
    : plan_{&plan},
      id_{std::move(id)},
      limits_{limits},
      random01_{std::move(random01)} {}

// -- what the outside says ----------------------------------------------------

plan_effects plan_cursor::start(time_point now) {
  plan_effects out;
  started_ = now;
  bodies events{events::plan_started{
      id_, static_cast<std::uint32_t>(plan_->steps.size())}};
  if (request_)
    end_as_requested(std::move(events), out, now);
  else
    go_on(std::move(events), out, now);
  return out;
}

plan_effects plan_cursor::recover(plan_progress progress,
                                  std::vector<run_status> ended,
                                  wall_time started, wall_time wall_now,
                                  time_point now) {
  progress_ = progress;
  ended_ = std::move(ended);
  if (progress_.step == 0) return start(now);
  plan_effects out;
  started_ = now - std::chrono::microseconds{
                       std::max<std::int64_t>(0, wall_now.us - started.us)};
  step_started_ = now;
  if (request_) {
    recover_to_end(out, now);
  } else if (progress_.step_over) {
    go_on({}, out, now);
  } else if (progress_.attempt_over) {
    bodies events;
    announce(place(), progress_.attempt + 1, events, now);
    perform(std::move(events), out);
  } else {
    perform({}, out, true);
  }
  return out;
}

/// Nothing begins any more; what had begun settles.
void plan_cursor::recover_to_end(plan_effects& out, time_point now) {
  if (progress_.step_over) return end_as_requested({}, out, now);
  stop_ = request_;
  if (progress_.attempt_over) {
    phase_ = phase::working;
    out = on_step_ended({run_status::failed, request_->why}, now);
    return;
  }
  perform({}, out, true);
  out.emplace_back(stop_step{*stop_});
}

plan_effects plan_cursor::on_step_ended(step_end end, time_point now) {
  plan_effects out;
  if (phase_ != phase::working) return out;
  const auto stopped = std::exchange(stop_, {});
  // Whatever it was told, it ended by that.
  if (stopped && end.status != run_status::completed) {
    end.status =
        stopped->cancelled ? run_status::cancelled : run_status::failed;
    end.why = stopped->why;
    end.why->op = plan_op;
    if (stopped->cancelled) end.why->code = errc::cancelled;
  }
  bodies events;
  if (request_) {
    finish_step(end, events, now);
    end_as_requested(std::move(events), out, now);
  } else if (end.status == run_status::completed) {
    finish_step(end, events, now);
    go_on(std::move(events), out, now);
  } else if (after_failure(end, events, out, now)) {
    go_on(std::move(events), out, now);
  }
  return out;
}

plan_effects plan_cursor::on_step_due(std::size_t at, std::uint32_t attempt,
                                      time_point) {
  plan_effects out;
  if (phase_ != phase::working || at != place() ||
      attempt != progress_.attempt || stop_)
    return out;
  stop_ = end_request{{errc::timeout, plan_op,
                       "the step did not end within its time limit of " +
                           duration_text(current().timeout)},
                      false};
  out.emplace_back(stop_step{*stop_, true});
  return out;
}

plan_effects plan_cursor::on_waited(time_point now) {
  plan_effects out;
  if (phase_ != phase::waiting) return out;
  bodies events;
  announce(place(), progress_.attempt + 1, events, now);
  perform(std::move(events), out);
  return out;
}

plan_effects plan_cursor::on_answer(tl::expected<std::string, error> text,
                                    time_point now) {
  plan_effects out;
  if (phase_ != phase::answering) return out;
  if (text)
    finish(run_status::completed, {}, std::move(*text), {}, out, now);
  else
    finish(run_status::failed, plan_error(text.error()), {}, {}, out, now);
  return out;
}

plan_effects plan_cursor::on_end_request(end_request request, time_point now) {
  plan_effects out;
  if (request_ || phase_ == phase::ended || phase_ == phase::answering)
    return out;
  request_ = std::move(request);
  if (phase_ == phase::idle) return out;  // `start` or `recover` obeys it
  if (phase_ == phase::working) {
    if (stop_) return out;  // it ends already
    stop_ = request_;
    out.emplace_back(stop_step{*stop_});
    return out;
  }
  bodies events;
  if (phase_ == phase::waiting) {
    stop_ = request_;
    phase_ = phase::working;
    return on_step_ended({run_status::failed, request_->why}, now);
  }
  end_as_requested(std::move(events), out, now);
  return out;
}

// -- steps --------------------------------------------------------------------

/// Which step keeps this one from beginning, if one does.
std::optional<std::string> plan_cursor::missing(std::size_t at) const {
  for (const auto other : plan_->steps[at].depends_on)
    if (ended_[other] != run_status::completed) return plan_->steps[other].id;
  return std::nullopt;
}

/// To the next step that can begin. `events`: what led here.
void plan_cursor::go_on(bodies events, plan_effects& out, time_point now) {
  while (progress_.step < plan_->steps.size()) {
    announce(progress_.step, 1, events, now);
    const auto needed = missing(place());
    if (!needed) return perform(std::move(events), out);
    const step_end end{run_status::failed,
                       error{errc::step_execution_error, plan_op,
                             "it depends on step \"" + *needed +
                                 "\", which did not complete"}};
    finish_step(end, events, now);
    if (current().on_error != step_policy::go_on)
      return finish(run_status::failed, plan_error(*end.why), {},
                    std::move(events), out, now);
  }
  phase_ = phase::answering;
  if (!events.empty())
    out.emplace_back(record_plan{std::move(events), progress_});
  const auto last =
      std::find(ended_.rbegin(), ended_.rend(), run_status::completed);
  fetch_answer what;
  if (last != ended_.rend())
    what.place = static_cast<std::size_t>(ended_.rend() - last) - 1;
  out.emplace_back(what);
}

void plan_cursor::announce(std::size_t at, std::uint32_t attempt,
                           bodies& events, time_point now) {
  progress_ = {static_cast<std::uint32_t>(at + 1), attempt};
  if (attempt == 1) step_started_ = now;
  const auto& step = plan_->steps[at];
  events.emplace_back(events::plan_step_started{
      progress_.step, step.id, step.instruction, step.tool, {}, attempt});
}

void plan_cursor::perform(bodies events, plan_effects& out, bool resumed) {
  phase_ = phase::working;
  if (!events.empty())
    out.emplace_back(record_plan{std::move(events), progress_});
  out.emplace_back(perform_step{place(), progress_.attempt, resumed});
}

void plan_cursor::finish_step(const step_end& end, bodies& events,
                              time_point now) {
  progress_.step_over = true;
  progress_.attempt_over = false;
  ended_.push_back(end.status);
  events.emplace_back(events::plan_step_finished{progress_.step,
                                                 current().id,
                                                 end.status,
                                                 end.output,
                                                 end.truncated,
                                                 end.why,
                                                 {},
                                                 to_ms(now - step_started_)});
}

/// True: the plan goes on with the next step.
bool plan_cursor::after_failure(const step_end& end, bodies& events,
                                plan_effects& out, time_point now) {
  const auto policy = current().on_error;
  const bool cancelled = end.status == run_status::cancelled;
  // Who said no is not asked again.
  const bool denied = end.why && end.why->code == errc::approval_denied;
  const bool again = policy == step_policy::retry && !cancelled && !denied &&
                     progress_.attempt < limits_.retry.max_attempts;
  if (again) {
    retry(end, std::move(events), out);
    return false;
  }
  finish_step(end, events, now);
  if (policy == step_policy::go_on) return true;
  if (cancelled)
    finish(run_status::cancelled, interrupted_plan(plan_error(*end.why)), {},
           std::move(events), out, now);
  else
    finish(run_status::failed, plan_error(*end.why), {}, std::move(events), out,
           now);
  return false;
}

void plan_cursor::retry(const step_end& end, bodies events, plan_effects& out) {
  const auto delay =
      backoff_delay(limits_.retry.base, limits_.retry.cap, progress_.attempt,
                    random01_ ? random01_() : 0.5);
  phase_ = phase::waiting;
  progress_.attempt_over = true;
  events.emplace_back(events::retry{events::retry_what::step,
                                    {},
                                    progress_.attempt,
                                    limits_.retry.max_attempts,
                                    to_ms(delay),
                                    end.why->message});
  out.emplace_back(record_plan{std::move(events), progress_});
  out.emplace_back(wait_to_retry{delay});
}

// -- the end ------------------------------------------------------------------

/// What of a step's error is the plan's: one of the codes of plans.
error plan_cursor::plan_error(const error& why) const {
  const auto& step = current();
  auto code = step.tool.empty() ? errc::step_execution_error
                                : errc::tool_execution_error;
  if (why.code == errc::timeout || why.code == errc::step_execution_error)
    code = why.code;
  return {code, plan_op, "step \"" + step.id + "\": " + why.message};
}

void plan_cursor::end_as_requested(bodies events, plan_effects& out,
                                   time_point now) {
  if (request_->cancelled)
    finish(run_status::cancelled, interrupted_plan(request_->why), {},
           std::move(events), out, now);
  else
    finish(run_status::failed, request_->why, {}, std::move(events), out, now);
}

void plan_cursor::finish(run_status status, std::optional<error> why,
                         std::optional<std::string> answer, bodies events,
                         plan_effects& out, time_point now) {
  phase_ = phase::ended;
  events.emplace_back(events::plan_finished{
      status, std::move(answer), std::move(why), to_ms(now - started_)});
  out.emplace_back(record_plan{std::move(events), progress_, true});
}

}  // namespace riffle::core
