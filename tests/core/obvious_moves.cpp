// SPDX-License-Identifier: MIT
// How calls move: the other half of the obvious queue.
#include <algorithm>
#include <utility>

#include "actors/core/conflict.hpp"
#include "actors/core/dispatch_detail.hpp"
#include "tests/core/obvious_queue.hpp"

namespace riffle::testing {

using namespace core;
using namespace core::dispatch_detail;

namespace {

/// Larger outputs are not kept for reuse.
constexpr std::size_t reuse_limit = 256u << 10;

outcome outcome_of(drain_reason why) {
  switch (why) {
    case drain_reason::cancelled:
    case drain_reason::call_cancelled: return outcome::cancelled;
    case drain_reason::timed_out:
    case drain_reason::step_timed_out: return outcome::cancelled;
    case drain_reason::interrupted: return outcome::interrupted;
  }
  return outcome::interrupted;
}

}  // namespace

obvious_queue::entry* obvious_queue::find(const call_id& id) {
  const auto i = std::ranges::find_if(
      calls_, [&](const entry& x) { return x.call.id == id; });
  return i == calls_.end() ? nullptr : &*i;
}

obvious_queue::entry* obvious_queue::current(const call_id& id,
                                             std::uint32_t attempt) {
  auto* x = find(id);
  const bool live = x != nullptr && x->attempt == attempt && x->working;
  if (live && x->at != phase::settled) return x;
  ++late_;
  if (live) {  // abandoned work ended at last
    x->working = false;
    --in_flight_;
  }
  return nullptr;
}

obvious_queue::hold obvious_queue::held_back(std::size_t position) const {
  const auto& x = calls_[position];
  auto result = hold::none;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const auto& other = calls_[i];
    if (i == position) continue;
    const bool open = other.at != phase::settled;
    if (x.call.control || other.call.control) {
      // `complete` and its kind take effect once all others have settled;
      // among themselves they keep the model's order.
      const bool waits =
          x.call.control && (!other.call.control || i < position);
      if (open && waits) return hold::open_call;
      continue;
    }
    // Later calls began beside what an edited call was before.
    const bool beside = i > position && x.edited && other.working;
    if ((i > position && !beside) || (!open && !other.working)) continue;
    if (!conflict(other.call, x.call)) continue;
    if (open) return hold::open_call;
    result = hold::ended_call;
  }
  return result;
}

bool obvious_queue::may_start(const entry& x) const {
  const bool early = x.call.eff == effect::read_only && !x.call.control;
  return early || gate_open_;
}

void obvious_queue::start_what_can(dispatch_effects& out, time_point now) {
  if (draining_) return;
  // A call that settles here may free an earlier one: a control tool.
  for (auto before = open_ + 1; open_ != before;) {
    before = open_;
    for (std::size_t i = 0; i < calls_.size(); ++i) consider(i, out, now);
  }
}

void obvious_queue::consider(std::size_t position, dispatch_effects& out,
                             time_point now) {
  auto& x = calls_[position];
  if (x.at == phase::approving && std::exchange(x.outdated, false))
    out.emplace_back(request_approval{x.call, ask_reason::anew});
  if (x.at != phase::waiting && x.at != phase::ready) return;
  if (!may_start(x)) return;
  if (x.denied) {
    settle(x, failed(dispatch_detail::outcome_of(*x.denied), *x.denied, 0),
           out);
    return;
  }
  if (x.at == phase::waiting && x.call.needs_approval && !x.approved)
    return ask(position, out);
  const auto held = held_back(position);
  if (held == hold::none) advance(x, out, now);
  // An open call has limits of its own (a pending approval may take a day);
  // the queue's limit is for a slot, and for work that ignored its stop.
  const bool blocked = (x.at == phase::waiting || x.at == phase::ready) &&
                       held != hold::open_call;
  if (!blocked)
    x.blocked_since.reset();
  else if (!x.blocked_since)
    x.blocked_since = now;
}

/// Not before earlier calls have changed what it would do, or one at a time.
void obvious_queue::ask(std::size_t position, dispatch_effects& out) {
  auto& x = calls_[position];
  bool open = false;
  for (std::size_t i = 0; i < position && !x.call.control; ++i) {
    const auto& before = calls_[i];
    open = open || (before.at != phase::settled && !before.call.control &&
                    before.call.eff == effect::mutating &&
                    conflict(before.call, x.call));
  }
  if (open && !x.asked && !may_ask_ahead(position)) return;
  x.at = phase::approving;
  x.ahead = open && limits_.ask_ahead;
  out.emplace_back(
      request_approval{x.call, x.ahead ? ask_reason::ahead : ask_reason::now});
}

bool obvious_queue::may_ask_ahead(std::size_t position) const {
  const auto& x = calls_[position];
  if (!limits_.ask_ahead || x.postponed || x.call.keys.empty()) return false;
  for (std::size_t i = 0; i < position; ++i) {
    const auto& before = calls_[i];
    if (before.at == phase::settled) continue;
    if (before.call.needs_approval && !before.approved) return false;
    if (before.call.control || before.call.eff != effect::mutating) continue;
    for (const auto& a : before.call.keys)
      for (const auto& b : x.call.keys)
        if (keys_overlap(a, b)) return false;
  }
  return true;
}

/// Recovery: a mutating call that may have run is not run again.
bool obvious_queue::settle_if_cut(entry& x, dispatch_effects& out) {
  if (x.attempt == 0 || x.working || x.at != phase::ready ||
      may_repeat(x.call) || x.call.control)
    return false;
  settle(x,
         failed(outcome::interrupted,
                {errc::interrupted, op,
                 "the runtime stopped while this call was under way; its "
                 "outcome is unknown, check before you repeat it"},
                x.attempt),
         out);
  return true;
}

void obvious_queue::advance(entry& x, dispatch_effects& out, time_point now) {
  if (settle_if_cut(x, out)) return;
  if (std::exchange(x.ahead, false) && x.call.needs_approval) {
    x.at = phase::approving;
    x.approved = x.outdated = false;
    x.again = true;
    const bool doubted = std::exchange(x.doubted, false);
    out.emplace_back(request_approval{x.call, x.attempt > 0
                                                  ? ask_reason::resumed
                                              : doubted ? ask_reason::doubted
                                                        : ask_reason::again});
    return;
  }
  if (!x.call.control && in_flight_ >= limits_.max_in_flight) {
    x.at = phase::ready;
    return;
  }
  begin(x, out, now);
}

void obvious_queue::begin(entry& x, dispatch_effects& out, time_point now) {
  ++x.attempt;
  const bool mutates = x.call.eff == effect::mutating && !x.call.control;
  out.emplace_back(begin_call{x.call, x.attempt, !x.announced, mutates});
  x.announced = true;
  if (!x.call.control) ++in_flight_;
  x.working = true;
  if (mutates)
    x.at = phase::committing;
  else
    hand_over(x, out, now);
}

void obvious_queue::hand_over(entry& x, dispatch_effects& out, time_point now) {
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
  x.last_sign = {};  // none of this attempt
  out.emplace_back(start_work{x.call, x.attempt});
}

void obvious_queue::settle(entry& x, call_result result, dispatch_effects& out,
                           std::optional<std::uint64_t> last_progress) {
  if (result.how == outcome::ok && x.call.eff == effect::read_only &&
      !x.call.control && result.output.size() <= reuse_limit)
    finished_.push_back(
        {x.call.id, x.call.tool, x.call.arguments, result.output});
  x.at = phase::settled;
  --open_;
  // Whoever is asked about a later call saw what was before this one.
  const bool acted =
      x.call.eff == effect::mutating && !x.call.control && x.attempt > 0;
  const bool doubts = x.call.eff == effect::mutating && !x.call.control &&
                      (x.attempt > 0 || x.again) && result.how != outcome::ok;
  bool later = false;
  for (auto& other : calls_) {
    if (later && acted && other.at == phase::approving && other.ahead)
      other.outdated = true;
    if (later && doubts && other.ahead && other.approved &&
        other.attempt == 0 && other.at != phase::settled)
      other.doubted = true;
    later = later || &other == &x;
  }
  out.emplace_back(settle_call{x.call, std::move(result), x.announced,
                               x.attempt, last_progress});
  x.announced = true;
}

void obvious_queue::stop_for(entry& x, drain_reason why, dispatch_effects& out,
                             time_point now) {
  if (settle_if_cut(x, out)) return;
  auto given = x.attempt;
  if (x.at == phase::committing) --given;
  const bool at_worker = x.at == phase::queued || x.at == phase::running;
  if (at_worker && given == 1)
    x.unbegun_error = drain_error(why, call_reach::unbegun);
  auto far = call_reach::cut_short;
  if (x.call.eff == effect::mutating) far = call_reach::in_doubt;
  if (given == 0) far = call_reach::unbegun;
  stop(x, outcome_of(why), drain_error(why, far), out, now);
}

void obvious_queue::stop(entry& x, outcome how, error why,
                         dispatch_effects& out, time_point now) {
  const bool at_worker = x.at == phase::queued || x.at == phase::running;
  if (at_worker && !x.call.control) {
    x.at = phase::stopping;
    x.stop_as = how;
    x.stop_error = std::move(why);
    x.stopping_since = now;
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
    out.emplace_back(cancel_approval{x.call.id});
    return;
  }
  if (x.working) {  // its intent is on the way, or a control tool has it
    x.working = false;
    --in_flight_;
  }
  settle(x, failed(how, std::move(why), x.attempt), out);
}

bool obvious_queue::reuse(entry& x, dispatch_effects& out) {
  if (x.call.eff != effect::read_only || x.call.control) return false;
  if (x.call.needs_approval) return false;  // was given to another call
  const auto i = std::ranges::find_if(finished_, [&](const auto& f) {
    return f.tool == x.call.tool && f.arguments == x.call.arguments;
  });
  if (i == finished_.end() || i->call == x.call.id) return false;
  const bool earlier_attempt = find(i->call) == nullptr;
  if (!earlier_attempt) return false;
  // Behind a call that changes what it reads, the old answer is wrong.
  for (const auto& other : calls_)
    if (&other != &x && conflict(other.call, x.call)) return false;
  call_result result;
  result.output = i->output;
  result.metadata = R"({"reused_from":")" + i->call.value + R"("})";
  out.emplace_back(begin_call{x.call, 0, true, false});
  x.announced = true;
  settle(x, std::move(result), out);
  return true;
}

void obvious_queue::finish_drain(dispatch_effects& out) {
  if (!draining_ || open_ != 0) return;
  draining_ = false;
  gate_open_ = false;
  std::erase_if(calls_, [](const entry& x) {
    return x.at == phase::settled && !x.working;
  });
  out.emplace_back(calls_drained{});
}

}  // namespace riffle::testing
