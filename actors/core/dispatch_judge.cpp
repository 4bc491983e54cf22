// SPDX-License-Identifier: MIT
// Calls that are judged when they begin: a part of the dispatch queue.
#include "actors/core/dispatch_detail.hpp"
#include "actors/core/dispatch_queue.hpp"

namespace riffle::core {

using namespace dispatch_detail;

dispatch_effects dispatch_queue::on_judged(const call_id& id, judged_call how,
                                           time_point now) {
  dispatch_effects out;
  auto* x = find(id);
  if (x == nullptr || x->at != phase::judging) {
    ++late_;
    return out;
  }
  obey(*x, std::move(how), out);
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

error dispatch_queue::place_changed() {
  return {errc::tool_execution_error, op,
          "where it leads changed while it began"};
}

dispatch_effects dispatch_queue::on_moved(const call_id& id,
                                          std::uint32_t attempt, time_point now,
                                          const error& why) {
  dispatch_effects out;
  auto* x = current(id, attempt);
  if (x == nullptr) {
    start_what_can(out, now);
    return out;
  }
  end_work(*x);
  if (x->at == phase::stopping) {
    settle(*x, failed(x->stop_as, stop_error(*x, false), attempt), out);
  } else if (++x->moves > limits_.most_moves) {
    settle(*x,
           failed(outcome::failed,
                  {why.code, op,
                   why.message + ", " + std::to_string(x->moves) +
                       " times in all, so nothing was done" +
                       (why == place_changed()
                            ? "; something changes links on its way"
                            : "")},
                  attempt),
           out);
  } else {
    x->at = phase::ready;
    fresh_.insert(x->place);
    set_alarm(*x);
    const auto most = attempt + limits_.most_moves + 1 - x->moves;
    out.emplace_back(retry_call{x->call, attempt, most, {}, why.message});
  }
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

void dispatch_queue::ask_rules(entry& x, dispatch_effects& out,
                               time_point now) {
  x.at = phase::judging;
  ++judging_;
  x.queued_at = now;
  set_alarm(x);
  out.emplace_back(judge_start{x.call});
}

void dispatch_queue::leave_judging(const entry& x) {
  if (x.at == phase::judging) --judging_;
}

/// Of those that are judged each may begin: were none kept for them, all that
/// wait would be judged anew for each slot that gets free.
bool dispatch_queue::has_slot() const {
  return in_flight_ + judging_ < limits_.max_in_flight;
}

namespace {

/// Of a call that may have acted before a crash.
error not_repeated(const std::string& why) {
  return {errc::interrupted, op,
          "the runtime stopped while this call was under way, and by the "
          "rules of now " +
              why +
              ": it was not repeated; its outcome is unknown, check before "
              "you ask for it again"};
}

/// Too late for a question: its event is in the log.
error nobody_agreed(bool may_have_acted) {
  if (may_have_acted)
    return not_repeated("somebody has to agree to it, which nobody did");
  return {errc::approval_denied, op,
          "where it leads changed while it began, and nobody agreed to the "
          "new place; nothing was done, ask for it again"};
}

}  // namespace

void dispatch_queue::obey(entry& x, judged_call how, dispatch_effects& out) {
  const bool agreed = x.approved && *x.call.judged == how.place.value_or("");
  leave_judging(x);
  x.at = phase::ready;
  set_alarm(x);
  const bool may_have_acted = x.resumed && x.call.eff == effect::mutating;
  if (how.denied && may_have_acted)
    how.denied = not_repeated("it may not run (" + how.denied->message + ")");
  if (how.denied) {
    const auto as =
        may_have_acted ? outcome::interrupted : outcome_of(*how.denied);
    settle(x, failed(as, std::move(*how.denied), x.attempt), out);
    return;
  }
  if (how.ask && !agreed && x.announced) {
    auto why = nobody_agreed(may_have_acted);
    const auto as =
        why.code == errc::interrupted ? outcome::interrupted : outcome::denied;
    settle(x, failed(as, std::move(why), x.attempt), out);
    return;
  }
  x.call.judged = std::move(how.place);
  if (how.keys != x.call.keys) {
    auto call = x.call;
    call.keys = std::move(how.keys);
    change(x, std::move(call));
  }
  if (how.ask && !agreed) {
    x.approved = false;
    x.call.needs_approval = true;
    undecided_.insert(x.place);
    x.at = phase::approving;
    out.emplace_back(request_approval{x.call});
    return;
  }
  x.cleared = true;
  fresh_.insert(x.place);
}

}  // namespace riffle::core
