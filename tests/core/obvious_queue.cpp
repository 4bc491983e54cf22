// SPDX-License-Identifier: MIT
#include "tests/core/obvious_queue.hpp"

#include <algorithm>

#include "actors/core/dispatch_detail.hpp"
#include "actors/core/limit_errors.hpp"

namespace riffle::testing {

using namespace core;
using namespace core::dispatch_detail;

namespace {

outcome outcome_of(const error& rejection) {
  switch (rejection.code) {
    case errc::truncated:
    case errc::budget_exceeded: return outcome::skipped;
    case errc::approval_denied: return outcome::denied;
    default: return outcome::failed;
  }
}

}  // namespace

obvious_queue::obvious_queue(dispatch_limits limits) : limits_{limits} {}

dispatch_effects obvious_queue::on_call(tool_call call, time_point now) {
  dispatch_effects out;
  if (find(call.id) != nullptr) {
    ++late_;
    return out;
  }
  calls_.emplace_back().call = std::move(call);
  ++open_;
  auto& x = calls_.back();
  if (draining_) {
    settle(
        x,
        failed(outcome::interrupted,
               drain_error(drain_reason::interrupted, call_reach::unbegun), 0),
        out);
    finish_drain(out);
    return out;
  }
  if (x.call.rejection) {
    settle(x, failed(outcome_of(*x.call.rejection), *x.call.rejection, 0), out);
    return out;
  }
  if (!reuse(x, out)) start_what_can(out, now);
  if ((x.at == phase::waiting || x.at == phase::ready) && !x.noted) {
    x.noted = true;
    out.emplace_back(note_waiting{x.call});
  }
  return out;
}

dispatch_effects obvious_queue::on_gate(bool safe, time_point now) {
  dispatch_effects out;
  if (draining_) return out;
  if (safe) {
    gate_open_ = true;
  } else {
    for (auto& x : calls_) {
      const bool early = x.call.eff == effect::read_only && !x.call.control;
      if (x.at != phase::waiting || early) continue;
      settle(x,
             failed(outcome::skipped,
                    {errc::truncated, op,
                     "the model's turn did not end cleanly, so this call was "
                     "not executed; ask for it again if it is still needed"},
                    0),
             out);
    }
  }
  start_what_can(out, now);
  return out;
}

dispatch_effects obvious_queue::on_decision(const call_id& id, bool approved,
                                            std::string reason, time_point now,
                                            errc code) {
  dispatch_effects out;
  auto* x = find(id);
  if (x == nullptr ||
      (x->at != phase::approving && x->at != phase::withdrawing)) {
    ++late_;
    return out;
  }
  if (x->at == phase::withdrawing) {
    settle(*x, failed(x->stop_as, *x->stop_error, x->attempt), out);
  } else if (approved) {
    x->approved = true;
    x->at = phase::ready;
  } else {
    const bool began = x->attempt > 0;
    settle(*x,
           failed(began ? outcome::interrupted : outcome::denied,
                  {code, op, std::move(reason)}, x->attempt),
           out);
  }
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

dispatch_effects obvious_queue::on_postponed(const call_id& id,
                                             time_point now) {
  auto* x = find(id);
  if (x == nullptr || x->at != phase::approving || !x->ahead)
    return on_decision(id, false, {}, now);
  dispatch_effects out;
  x->at = phase::waiting;
  x->ahead = x->outdated = false;
  x->postponed = true;
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

dispatch_effects obvious_queue::on_edited(tool_call call, time_point now) {
  auto* x = find(call.id);
  if (x != nullptr && x->at == phase::approving) {
    call.provider_id = x->call.provider_id;
    call.step = x->call.step;
    call.index = x->call.index;
    x->call = std::move(call);
    x->edited = true;
    return on_decision(x->call.id, true, {}, now);
  }
  return on_decision(call.id, true, {}, now);
}

dispatch_effects obvious_queue::on_intent_committed(const call_id& id,
                                                    std::uint32_t attempt,
                                                    time_point now) {
  dispatch_effects out;
  auto* x = find(id);
  if (x == nullptr || x->attempt != attempt || x->at != phase::committing) {
    ++late_;
    return out;
  }
  hand_over(*x, out, now);
  return out;
}

dispatch_effects obvious_queue::on_started(const call_id& id,
                                           std::uint32_t attempt,
                                           time_point now) {
  auto* x = find(id);
  if (x == nullptr || x->attempt != attempt || x->at == phase::settled) {
    ++late_;
    return {};
  }
  if (x->at == phase::stopping) x->last_sign = now;
  if (x->at != phase::queued) return {};
  x->at = phase::running;
  x->started_at = x->last_sign = now;
  return {};
}

void obvious_queue::on_progress(const call_id& id, std::uint32_t attempt,
                                time_point now) {
  auto* x = find(id);
  if (x != nullptr && x->attempt == attempt && x->at == phase::running)
    x->last_sign = now;
}

dispatch_effects obvious_queue::on_result(
    const call_id& id, std::uint32_t attempt, call_result result,
    std::optional<std::uint64_t> last_progress, time_point now) {
  dispatch_effects out;
  auto* x = current(id, attempt);
  if (x == nullptr) {
    start_what_can(out, now);  // the end of abandoned work frees its keys
    return out;
  }
  x->working = false;
  --in_flight_;
  if (x->at == phase::stopping) {
    const bool ok = result.how == outcome::ok || last_progress != 0;
    if (!ok && x->last_sign < x->queued_at && x->unbegun_error)
      x->stop_error = x->unbegun_error;
    auto stopped = failed(x->stop_as, *x->stop_error, attempt);
    stopped.output = std::move(result.output);
    stopped.metadata = std::move(result.metadata);
    stopped.took = now - x->started_at;
    settle(*x, std::move(stopped), out, last_progress);
  } else {
    if (x->at == phase::running) result.took = now - x->started_at;
    result.attempts = attempt;
    settle(*x, std::move(result), out, last_progress);
  }
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

dispatch_effects obvious_queue::on_worker_lost(const call_id& id,
                                               std::uint32_t attempt,
                                               std::string reason,
                                               time_point now) {
  dispatch_effects out;
  auto* x = current(id, attempt);
  if (x == nullptr) {
    start_what_can(out, now);
    return out;
  }
  x->working = false;
  --in_flight_;
  if (x->at == phase::stopping) {
    auto stopped = failed(x->stop_as, *x->stop_error, attempt);
    stopped.took = now - x->started_at;
    settle(*x, std::move(stopped), out);
  } else if (may_repeat(x->call) && attempt < x->call.limits.attempts) {
    const auto shift = std::min<std::uint32_t>(attempt - 1, 10);
    const auto delay = limits_.retry_base * (1u << shift);
    x->at = phase::backoff;
    x->retry_at = now + delay;
    out.emplace_back(retry_call{x->call, attempt, x->call.limits.attempts,
                                delay, std::move(reason)});
  } else {
    const std::string tail =
        may_repeat(x->call)
            ? "; it was tried " + std::to_string(attempt) + " times"
            : "; its outcome is unknown, check before you repeat it";
    auto lost = failed(
        outcome::interrupted,
        {errc::interrupted, op, "the tool's worker was lost: " + reason + tail},
        attempt);
    lost.took = now - x->started_at;
    settle(*x, std::move(lost), out);
  }
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

dispatch_effects obvious_queue::on_malformed(const call_id& id, error why,
                                             time_point now) {
  dispatch_effects out;
  auto* x = find(id);
  if (x == nullptr || ending(*x)) return out;
  x->call.rejection = why;
  stop(*x, outcome::failed, std::move(why), out, now);
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

dispatch_effects obvious_queue::on_cancel(const call_id& id, time_point now) {
  dispatch_effects out;
  auto* x = find(id);
  if (x == nullptr || ending(*x)) return out;
  stop_for(*x, drain_reason::call_cancelled, out, now);
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

dispatch_effects obvious_queue::on_drain(drain_reason why, time_point now) {
  dispatch_effects out;
  draining_ = true;
  for (auto& x : calls_)
    if (!ending(x)) stop_for(x, why, out, now);
  finish_drain(out);
  return out;
}

void obvious_queue::restore(std::vector<restored_call> open,
                            std::vector<finished_read> finished) {
  finished_ = std::move(finished);
  for (auto& r : open) {
    auto& x = calls_.emplace_back();
    x.call = std::move(r.call);
    x.attempt = r.attempt;
    x.announced = r.announced;
    x.noted = true;
    x.approved = r.approved.value_or(false);
    if (!r.approved.value_or(true))
      x.denied = error{r.decision_code, op, std::move(r.decision_reason)};
    if (x.call.rejection) x.denied = *x.call.rejection;
    x.asked = r.asked;
    x.again = r.again;
    x.edited = !x.call.edited_from.empty();
    x.ahead = r.begun ? x.call.needs_approval : limits_.ask_ahead && x.approved;
    x.doubted = x.ahead && r.doubted && !r.begun;
    // The begun mutating one settles at the gate or drain: see `advance`.
    if (r.begun) {
      x.at = phase::ready;
      x.approved = x.approved || x.call.needs_approval;
      x.call.limits.attempts = std::max(x.call.limits.attempts, r.attempt + 1);
    }
    ++open_;
  }
}

void obvious_queue::on_next_step() {
  std::erase_if(calls_, [](const entry& x) {
    return x.at == phase::settled && !x.working;
  });
  finished_.clear();
  gate_open_ = false;
  draining_ = false;
}

dispatch_effects obvious_queue::tick(time_point now) {
  dispatch_effects out;
  for (auto& x : calls_) check_limits(x, out, now);
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

void obvious_queue::check_limits(entry& x, dispatch_effects& out,
                                 time_point now) {
  const auto when = due(x);
  if (!when || now < *when) return;
  const auto& limits = x.call.limits;
  switch (x.at) {
    case phase::backoff: x.at = phase::ready; break;
    case phase::waiting:
    case phase::ready:
      stop(x, outcome::timed_out, not_started_in_time(x.call), out, now);
      break;
    case phase::queued:
      stop(x, outcome::timed_out, no_worker_in_time(x.call), out, now);
      break;
    case phase::running: {
      const bool idle = limits.idle_timeout > duration{} &&
                        now >= x.last_sign + limits.idle_timeout;
      stop(x, outcome::timed_out,
           idle ? silent_too_long(x.call) : not_ended_in_time(x.call), out,
           now);
      break;
    }
    case phase::withdrawing:
      settle(x, failed(x.stop_as, *x.stop_error, x.attempt), out);
      break;
    case phase::stopping: {
      auto why = *x.stop_error;
      why.message +=
          x.last_sign < x.queued_at
              ? "; nobody has said that it began, nor answered the request to "
                "stop"
              : "; it ignored the request to stop and may still be running";
      auto result = failed(x.stop_as, std::move(why), x.attempt);
      result.took = now - x.started_at;
      settle(x, std::move(result), out);
      break;
    }
    default: break;
  }
}

std::optional<time_point> obvious_queue::due(const entry& x) const {
  const auto& limits = x.call.limits;
  switch (x.at) {
    case phase::backoff: return x.retry_at;
    case phase::waiting:
    case phase::ready:
      if (x.blocked_since && limits.queue_timeout > duration{})
        return *x.blocked_since + limits.queue_timeout;
      return {};
    case phase::queued:
      if (limits.queue_timeout > duration{})
        return x.queued_at + limits.queue_timeout;
      return {};
    case phase::running: {
      std::optional<time_point> first;
      if (limits.timeout > duration{}) first = x.started_at + limits.timeout;
      if (limits.idle_timeout > duration{}) {
        const auto idle = x.last_sign + limits.idle_timeout;
        first = first ? std::min(*first, idle) : idle;
      }
      return first;
    }
    case phase::stopping:
      return x.stopping_since +
             (x.at_node ? limits_.abandon_at_node : limits_.abandon_after);
    case phase::withdrawing: return x.stopping_since + limits_.abandon_after;
    default: return {};
  }
}

std::optional<time_point> obvious_queue::due() const {
  std::optional<time_point> first;
  for (const auto& x : calls_)
    if (auto when = due(x); when && (!first || *when < *first)) first = when;
  return first;
}

std::size_t obvious_queue::abandoned() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      calls_,
      [](const entry& x) { return x.at == phase::settled && x.working; }));
}

}  // namespace riffle::testing
