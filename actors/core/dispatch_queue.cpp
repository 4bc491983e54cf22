// SPDX-License-Identifier: MIT
#include "actors/core/dispatch_queue.hpp"

#include <algorithm>

#include "actors/core/dispatch_detail.hpp"

namespace riffle::core {

using namespace dispatch_detail;

namespace {

std::string told_reach(call_reach x) {
  switch (x) {
    case call_reach::unbegun: return std::string{was_not_begun};
    case call_reach::cut_short: return "; it did not run to its end";
    case call_reach::in_doubt: break;
  }
  return "; it may have taken effect, check before you repeat it";
}

}  // namespace

error drain_error(drain_reason why, call_reach how_far, const std::string& by) {
  const auto tail = told_reach(how_far);
  switch (why) {
    case drain_reason::cancelled:
      return {errc::cancelled, op, "the run was cancelled" + tail};
    case drain_reason::timed_out:
      return {errc::timeout, op,
              "the run's time limit (--timeout) was reached" + tail};
    case drain_reason::step_timed_out:
      return {errc::timeout, op,
              "the time limit of the plan's step (timeout) was reached" + tail};
    case drain_reason::call_cancelled:
      return {errc::cancelled, op,
              "this call was cancelled" + (by.empty() ? by : " " + by) + tail};
    case drain_reason::interrupted: break;
  }
  return {errc::interrupted, op, "the step was interrupted" + tail};
}

dispatch_queue::dispatch_queue(dispatch_limits limits) : limits_{limits} {}

dispatch_queue::entry* dispatch_queue::find(const call_id& id) {
  const auto i = places_.find(id);
  return i == places_.end() ? nullptr : i->second;
}

dispatch_queue::entry* dispatch_queue::current(const call_id& id,
                                               std::uint32_t attempt) {
  auto* x = find(id);
  const bool live = x != nullptr && x->attempt == attempt && x->working;
  if (live && x->at != phase::settled) return x;
  ++late_;
  if (live) end_work(*x);  // abandoned work ended at last
  return nullptr;
}

// -- what the outside says ----------------------------------------------------

dispatch_effects dispatch_queue::on_call(tool_call call, time_point now) {
  dispatch_effects out;
  if (find(call.id) != nullptr) {
    ++late_;
    return out;
  }
  auto& x = add(std::move(call));
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
  const bool waits =
      x.at == phase::waiting || x.at == phase::ready || x.at == phase::judging;
  if (waits && !x.noted) {
    x.noted = true;
    out.emplace_back(note_waiting{x.call});
  }
  return out;
}

dispatch_effects dispatch_queue::on_gate(bool safe, time_point now) {
  dispatch_effects out;
  if (draining_) return out;
  if (safe) {
    gate_open_ = true;
    fresh_.merge(std::exchange(gated_, {}));
  } else {
    for (auto& [place, x] : calls_) {
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

dispatch_effects dispatch_queue::on_decision(const call_id& id, bool approved,
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
    decided(*x);
    fresh_.insert(x->place);
  } else {
    error why{code, op, std::move(reason)};
    const auto how = x->attempt > 0 ? outcome::interrupted : outcome_of(why);
    settle(*x, failed(how, std::move(why), x->attempt), out);
  }
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

dispatch_effects dispatch_queue::on_edited(tool_call call, time_point now) {
  auto* x = find(call.id);
  if (x != nullptr && x->at == phase::approving) {
    call.provider_id = x->call.provider_id;
    call.step = x->call.step;
    call.index = x->call.index;
    change(*x, std::move(call));
    return on_decision(x->call.id, true, {}, now);
  }
  return on_decision(call.id, true, {}, now);
}

dispatch_effects dispatch_queue::on_intent_committed(const call_id& id,
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

void dispatch_queue::on_placed(const call_id& id, bool at_node) {
  if (auto* x = find(id)) x->at_node = at_node;
}

dispatch_effects dispatch_queue::on_started(const call_id& id,
                                            std::uint32_t attempt,
                                            time_point now) {
  // Not `current`: a late start is no end of abandoned work.
  auto* x = find(id);
  if (x == nullptr || x->attempt != attempt || x->at == phase::settled) {
    ++late_;
    return {};
  }
  if (x->at == phase::stopping) x->last_sign = now;
  if (x->at != phase::queued) return {};
  dispatch_effects out;
  if (x->told_queued)
    out.emplace_back(tell_queued{x->call, now - x->queued_at});
  x->at = phase::running;
  x->started_at = x->last_sign = now;
  set_alarm(*x);
  return out;
}

void dispatch_queue::on_progress(const call_id& id, std::uint32_t attempt,
                                 time_point now) {
  auto* x = find(id);
  if (x == nullptr || x->attempt != attempt || x->at != phase::running) return;
  x->last_sign = now;
  set_alarm(*x);
}

dispatch_effects dispatch_queue::on_result(
    const call_id& id, std::uint32_t attempt, call_result result,
    std::optional<std::uint64_t> last_progress, time_point now) {
  dispatch_effects out;
  out.reserve(4);  // they are large; mostly: it settles, and another begins
  auto* x = current(id, attempt);
  if (x == nullptr) {
    start_what_can(out, now);  // the end of abandoned work frees its keys
    return out;
  }
  end_work(*x);
  if (x->at == phase::stopping) {
    // Whoever had it says when it begins, before anything else.
    const bool began = x->last_sign >= x->queued_at ||
                       result.how == outcome::ok || last_progress != 0;
    auto stopped = failed(x->stop_as, stop_error(*x, began), attempt);
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

dispatch_effects dispatch_queue::on_worker_lost(const call_id& id,
                                                std::uint32_t attempt,
                                                std::string reason,
                                                time_point now) {
  dispatch_effects out;
  auto* x = current(id, attempt);
  if (x == nullptr) {
    start_what_can(out, now);
    return out;
  }
  end_work(*x);
  if (x->at == phase::stopping) {
    auto stopped = failed(x->stop_as, *x->stop_error, attempt);
    stopped.took = now - x->started_at;
    settle(*x, std::move(stopped), out);
  } else if (may_repeat(x->call) && attempt < x->call.limits.attempts) {
    const auto shift = std::min<std::uint32_t>(attempt - 1, 10);
    const auto delay = limits_.retry_base * (1u << shift);
    x->at = phase::backoff;
    x->retry_at = now + delay;
    set_alarm(*x);
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

dispatch_effects dispatch_queue::on_malformed(const call_id& id, error why,
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

dispatch_effects dispatch_queue::on_cancel(const call_id& id, time_point now,
                                           const std::string& by) {
  dispatch_effects out;
  auto* x = find(id);
  if (x == nullptr || ending(*x)) return out;
  stop_for(*x, drain_reason::call_cancelled, out, now, by);
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

dispatch_effects dispatch_queue::on_drain(drain_reason why, time_point now) {
  dispatch_effects out;
  draining_ = true;
  for (auto& [place, x] : calls_)
    if (!ending(x)) stop_for(x, why, out, now);
  finish_drain(out);
  return out;
}

void dispatch_queue::restore(std::vector<restored_call> open,
                             std::vector<finished_read> finished) {
  for (auto& x : finished) keep_for_reuse(std::move(x));
  for (auto& r : open) {
    auto& x = add(std::move(r.call));
    x.attempt = r.attempt;
    x.announced = r.announced;
    x.noted = true;
    x.approved = r.approved.value_or(false);
    if (!r.approved.value_or(true))
      x.denied = error{r.decision_code, op, std::move(r.decision_reason)};
    // What could not run then runs after no recovery, whoever approves it.
    if (x.call.rejection) x.denied = *x.call.rejection;
    x.asked = r.asked;
    x.again = r.again;
    x.edited = !x.call.edited_from.empty();
    // Whether an earlier call was open then is not on record.
    x.ahead = r.begun ? x.call.needs_approval : limits_.ask_ahead && x.approved;
    x.doubted = x.ahead && r.doubted && !r.begun;
    if (x.approved || r.begun) decided(x);
    if (x.doubted || r.begun) agreed_.erase(x.place);
    if (r.acting > 0) {
      x.attempt = std::max(x.attempt, r.acting);
      x.working = x.orphaned = true;
      ++in_flight_;
      working_.insert(x.place);
    }
    // The begun mutating one settles at the gate or drain: see `advance`.
    if (r.begun) {
      x.at = phase::ready;
      x.resumed = true;
      x.known = std::move(r.known);
      x.approved = x.approved || x.call.needs_approval;
      x.call.limits.attempts = std::max(x.call.limits.attempts, r.attempt + 1);
    }
  }
}

void dispatch_queue::on_next_step() {
  forget_settled();
  finished_.clear();
  finished_bytes_ = 0;
  gate_open_ = false;
  draining_ = false;
}

}  // namespace riffle::core
