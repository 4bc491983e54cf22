// SPDX-License-Identifier: MIT
// How calls move: a part of the dispatch queue.
#include "actors/core/dispatch_detail.hpp"
#include "actors/core/dispatch_queue.hpp"

namespace riffle::core {

using namespace dispatch_detail;

namespace {

/// Larger outputs are not kept for reuse.
constexpr std::size_t reuse_limit = 256u << 10;

outcome outcome_of(drain_reason why) {
  switch (why) {
    case drain_reason::cancelled:
    case drain_reason::call_cancelled:
    case drain_reason::timed_out:
    case drain_reason::step_timed_out: return outcome::cancelled;
    case drain_reason::interrupted: return outcome::interrupted;
  }
  return outcome::interrupted;
}

}  // namespace

void dispatch_queue::start_what_can(dispatch_effects& out, time_point now) {
  if (draining_) return;
  // In the model's order. A call that settles here may free an earlier one, a
  // control tool: then from the start again.
  for (call_place from = 0;;) {
    auto next = next_candidate(from);
    if (!next && from > 0) next = next_candidate(0);
    if (!next) return;
    from = *next + 1;
    fresh_.erase(*next);
    // Abandoned work may have held a call of a step that is over.
    const auto x = calls_.find(*next);
    if (x == calls_.end()) continue;
    set_ready(x->second, false);
    consider(x->second, out, now);
  }
}

void dispatch_queue::consider(entry& x, dispatch_effects& out, time_point now) {
  if (x.at == phase::approving) return look_anew(x, out);
  if (x.at != phase::waiting && x.at != phase::ready) return;
  if (!may_start(x)) {
    gated_.insert(x.place);
    return;
  }
  if (x.denied) {
    settle(x, failed(outcome_of(*x.denied), *x.denied, 0), out);
    return;
  }
  if (x.at == phase::waiting && x.call.needs_approval && !x.approved)
    return ask(x, out);
  const auto held = held_back(x);
  if (held == hold::none) advance(x, out, now);
  x.cleared = false;  // what the rules said was for this moment
  // An open call has limits of its own (a pending approval may take a day);
  // the queue's limit is for a slot, and for work that ignored its stop.
  const bool blocked = (x.at == phase::waiting || x.at == phase::ready) &&
                       held != hold::open_call;
  if (!blocked)
    x.blocked_since.reset();
  else if (!x.blocked_since)
    x.blocked_since = now;
  set_alarm(x);
}

/// Recovery: a mutating call that may have run, and is not run again.
bool dispatch_queue::was_cut(const entry& x) const {
  return x.attempt > 0 && x.moves == 0 && !x.working && x.at == phase::ready &&
         !may_repeat(x.call) && !x.call.control;
}

/// What it came to may be known: only the record of that was lost.
call_result dispatch_queue::cut_result(const entry& x) {
  if (x.known) return *x.known;
  return failed(outcome::interrupted,
                {errc::interrupted, op,
                 "the runtime stopped while this call was under way; its "
                 "outcome is unknown, check before you repeat it"},
                x.attempt);
}

void dispatch_queue::advance(entry& x, dispatch_effects& out, time_point now) {
  // Recovery: nothing begins beside an attempt that goes on.
  if (x.orphaned) {
    settle(x, still_at_work(x, "the runtime restarted the run"), out);
    return;
  }
  if (was_cut(x)) return settle(x, cut_result(x), out);
  if (ask_again(x, out)) return;
  if (!x.call.control && !has_slot()) {
    x.at = phase::ready;
    set_ready(x, true);
    return;
  }
  if (x.call.judged && !x.cleared) return ask_rules(x, out, now);
  begin(x, out, now);
}

void dispatch_queue::begin(entry& x, dispatch_effects& out, time_point now) {
  ++x.attempt;
  const bool mutates = x.call.eff == effect::mutating && !x.call.control;
  out.emplace_back(begin_call{x.call, x.attempt, !x.announced, mutates});
  x.announced = true;
  if (!x.call.control) {
    ++in_flight_;
    working_.insert(x.place);
  }
  x.working = true;
  if (mutates)
    x.at = phase::committing;
  else
    hand_over(x, out, now);
}

void dispatch_queue::hand_over(entry& x, dispatch_effects& out,
                               time_point now) {
  if (x.call.control) {
    ++in_flight_;  // balanced by `on_result`
    x.at = phase::running;
    x.started_at = x.last_sign = now;
    x.call.limits = {};
    out.emplace_back(start_control{x.call, x.attempt});
    return;
  }
  x.at = phase::queued;
  x.queued_at = x.started_at = now;
  x.told_queued = false;
  x.last_sign = {};  // none of this attempt
  set_alarm(x);
  out.emplace_back(start_work{x.call, x.attempt});
}

/// It lets go of its slot and of its keys, if it is settled too.
void dispatch_queue::end_work(entry& x) {
  x.working = x.orphaned = false;
  --in_flight_;
  working_.erase(x.place);
  ended_.erase(x.place);
  look_again(x.held);
}

void dispatch_queue::settle(entry& x, call_result result, dispatch_effects& out,
                            std::optional<std::uint64_t> last_progress) {
  if (result.how == outcome::ok && x.call.eff == effect::read_only &&
      !x.call.control && result.output.size() <= reuse_limit &&
      result.files.empty())
    keep_for_reuse(x.call, result.output);
  leave_judging(x);
  x.at = phase::settled;
  --open_;
  decided(x);
  outdate(x);
  doubt(x, result.how);
  if (x.call.control) {
    open_controls_.erase(x.place);
  } else {
    open_calls_.remove(x.call, x.place);
    if (x.working) ended_.insert(x.place);
  }
  set_ready(x, false);
  look_again(x.held);
  if (open_ == open_controls_.size() && open_ > 0)
    fresh_.insert(*open_controls_.begin());
  set_alarm(x);
  out.emplace_back(settle_call{x.call, std::move(result), x.announced,
                               x.attempt, last_progress});
  x.announced = true;
}

void dispatch_queue::stop_for(entry& x, drain_reason why, dispatch_effects& out,
                              time_point now, const std::string& by) {
  // Whoever ends the run ends none of this, nor knows what came of it.
  if (x.orphaned)
    return settle(x, still_at_work(x, "the runtime restarted the run"), out);
  if (was_cut(x)) return settle(x, cut_result(x), out);
  // Of those that were handed over; what was moved came back as it was.
  const auto given = x.attempt - (x.at == phase::committing ? 1 : 0) - x.moves;
  const bool at_worker = x.at == phase::queued || x.at == phase::running;
  if (given == 1 && at_worker)
    x.unbegun_error = drain_error(why, call_reach::unbegun, by);
  const auto far = given == 0                       ? call_reach::unbegun
                   : x.call.eff == effect::mutating ? call_reach::in_doubt
                                                    : call_reach::cut_short;
  stop(x, outcome_of(why), drain_error(why, far, by), out, now);
}

error dispatch_queue::stop_error(const entry& x, bool began) {
  return began || !x.unbegun_error ? *x.stop_error : *x.unbegun_error;
}

void dispatch_queue::stop(entry& x, outcome how, error why,
                          dispatch_effects& out, time_point now) {
  const bool at_worker = x.at == phase::queued || x.at == phase::running;
  if (at_worker && !x.call.control) {
    x.at = phase::stopping;
    x.stop_as = how;
    x.stop_error = std::move(why);
    x.stopping_since = now;
    set_alarm(x);
    out.emplace_back(stop_work{x.call.id, x.call.tool, x.attempt});
    return;
  }
  const bool asked = x.at == phase::waiting && x.asked;
  if (x.at == phase::approving || asked) {
    // Settles when the decision, whatever it is, is on record: else its
    // events could come behind the result.
    x.at = phase::withdrawing;
    x.stop_as = how;
    x.stop_error = std::move(why);
    x.stopping_since = now;
    set_ready(x, false);
    set_alarm(x);
    out.emplace_back(cancel_approval{x.call.id});
    return;
  }
  // Its intent is on the way, or it is control.
  if (x.working && !x.orphaned) end_work(x);
  settle(x, failed(how, std::move(why), x.attempt), out);
}

bool dispatch_queue::reuse(entry& x, dispatch_effects& out) {
  if (x.call.eff != effect::read_only || x.call.control) return false;
  if (x.call.needs_approval) return false;  // was given to another call
  if (x.call.judged) return false;          // where it leads may have changed
  if (finished_.empty()) return false;
  const auto i = finished_.find(reuse_key(x.call.tool, x.call.arguments));
  if (i == finished_.end() || i->second.call == x.call.id) return false;
  const auto& read = i->second;
  const bool earlier_attempt = find(read.call) == nullptr;
  if (!earlier_attempt) return false;
  // Behind a call that changes what it reads, the old answer is wrong.
  if (changes_.last_before(x.call, next_place_)) return false;
  call_result result;
  result.output = read.output;
  result.metadata = R"({"reused_from":")" + read.call.value + R"("})";
  out.emplace_back(begin_call{x.call, 0, true, false});
  x.announced = true;
  settle(x, std::move(result), out);
  return true;
}

void dispatch_queue::finish_drain(dispatch_effects& out) {
  if (!draining_ || open_ != 0) return;
  draining_ = false;
  gate_open_ = false;
  forget_settled();
  out.emplace_back(calls_drained{});
}

}  // namespace riffle::core
