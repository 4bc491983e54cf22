// SPDX-License-Identifier: MIT
// The time limits of calls: a part of the dispatch queue.
#include <algorithm>

#include "actors/core/dispatch_detail.hpp"
#include "actors/core/dispatch_queue.hpp"
#include "actors/core/limit_errors.hpp"

namespace riffle::core {

using namespace dispatch_detail;

dispatch_effects dispatch_queue::tick(time_point now) {
  dispatch_effects out;
  std::vector<call_place> over;
  for (const auto& [when, place] : alarms_) {
    if (when > now) break;
    over.push_back(place);
  }
  std::ranges::sort(over);
  for (const auto place : over) check_limits(calls_.at(place), out, now);
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

void dispatch_queue::check_limits(entry& x, dispatch_effects& out,
                                  time_point now) {
  const auto when = due(x);
  if (!when || now < *when) return;
  const auto& limits = x.call.limits;
  switch (x.at) {
    case phase::backoff:
      x.at = phase::ready;
      fresh_.insert(x.place);
      set_alarm(x);
      break;
    case phase::waiting:
    case phase::ready:
      stop(x, outcome::timed_out, not_started_in_time(x.call), out, now);
      break;
    case phase::judging:
      stop(x, outcome::timed_out,
           {errc::timeout, op,
            "no thread was free, within the queue's time limit, to look where "
            "it leads"},
           out, now);
      break;
    case phase::queued: check_queue(x, out, now); break;
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

void dispatch_queue::check_queue(entry& x, dispatch_effects& out,
                                 time_point now) {
  const auto most = x.call.limits.queue_timeout;
  if (most > duration{} && now >= x.queued_at + most)
    return stop(x, outcome::timed_out, no_worker_in_time(x.call), out, now);
  x.told_queued = true;
  set_alarm(x);
  out.emplace_back(tell_queued{x.call, {}});
}

std::optional<time_point> dispatch_queue::due(const entry& x) const {
  const auto& limits = x.call.limits;
  switch (x.at) {
    case phase::backoff: return x.retry_at;
    case phase::waiting:
    case phase::ready:
      if (x.blocked_since && limits.queue_timeout > duration{})
        return *x.blocked_since + limits.queue_timeout;
      return {};
    case phase::judging:
      if (limits.queue_timeout > duration{})
        return x.queued_at + limits.queue_timeout;
      return {};
    case phase::queued: {
      auto first = limits.queue_timeout;
      if (const auto told = limits_.tell_after;
          !x.told_queued && told > duration{})
        first = first > duration{} ? std::min(first, told) : told;
      if (first > duration{}) return x.queued_at + first;
      return {};
    }
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

std::optional<time_point> dispatch_queue::due() const {
  if (alarms_.empty()) return {};
  return alarms_.begin()->first;
}

void dispatch_queue::set_alarm(entry& x) {
  const auto when = due(x);
  if (when == x.alarm) return;
  if (x.alarm) alarms_.erase({*x.alarm, x.place});
  if (when) alarms_.emplace(*when, x.place);
  x.alarm = when;
}

}  // namespace riffle::core
