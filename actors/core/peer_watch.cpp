// SPDX-License-Identifier: MIT
#include "actors/core/peer_watch.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/retry_policy.hpp"

namespace riffle::core {

bool peer_watch::ping_due(time_point now) noexcept {
  if (now < next_ping_) return false;
  next_ping_ = now + limits_.heartbeat;
  return true;
}

namespace {

/// Of a peer that is silent the newest pings alone are of use.
constexpr std::size_t most_pings = 64;

}  // namespace

void peer_watch::on_ping(std::uint64_t number, time_point now) {
  asked_.emplace_back(number, now);
  if (asked_.size() > most_pings) asked_.pop_front();
}

void peer_watch::on_pong(std::uint64_t number, time_point now) {
  while (!asked_.empty() && asked_.front().first <= number) {
    if (asked_.front().first == number) {
      confirmed_ = asked_.front().second;
      round_trip_ = now - confirmed_;
    }
    asked_.pop_front();
  }
}

bool dial_plan::begin_if_due(time_point now) noexcept {
  if (at_ != phase::waiting || now < due_) return false;
  at_ = phase::dialling;
  return true;
}

void dial_plan::on_failed(time_point now, double random01,
                          duration at_least) noexcept {
  at_ = phase::waiting;
  ++failures_;
  due_ = now +
         std::max(at_least, backoff_delay(limits_.base, limits_.cap,
                                          std::min(failures_, 16U), random01));
}

void dial_plan::on_linked() noexcept { at_ = phase::linked; }

void dial_plan::on_joined() noexcept {
  before_join_ = std::exchange(failures_, 0);
}

void dial_plan::on_refused(time_point now, double random01) noexcept {
  // It may take the place of a twin that goes, which nobody tells it.
  constexpr auto longest = std::chrono::seconds{2};
  failures_ = std::max(failures_, before_join_);
  on_failed(now, random01);
  due_ = std::min<time_point>(due_, now + longest);
}

}  // namespace riffle::core
