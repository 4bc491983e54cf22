// SPDX-License-Identifier: MIT
#include "runtime/model/rate_limiter.hpp"

#include <algorithm>

namespace riffle::model {

namespace {

constexpr duration window = std::chrono::seconds{60};

}  // namespace

bool rate_limiter::try_start(time_point now) {
  if (!queue_.empty() || !may_start(now)) return false;
  start(now);
  return true;
}

void rate_limiter::wait(ticket id, time_point until) {
  queue_.emplace(id, until);
  limits_of_waits_.emplace(until, id);
}

rate_limiter::moves rate_limiter::poll(time_point now) {
  moves out;
  while (!limits_of_waits_.empty() && limits_of_waits_.begin()->first <= now) {
    const auto id = limits_of_waits_.begin()->second;
    out.expired.push_back(id);
    withdraw(id);
  }
  while (!queue_.empty() && may_start(now)) {
    const auto id = queue_.begin()->first;
    out.started.push_back(id);
    withdraw(id);
    start(now);
  }
  return out;
}

bool rate_limiter::withdraw(ticket id) {
  const auto i = queue_.find(id);
  if (i == queue_.end()) return false;
  limits_of_waits_.erase({i->second, id});
  queue_.erase(i);
  return true;
}

void rate_limiter::on_end() {
  if (open_ > 0) --open_;
}

void rate_limiter::pace(duration length, time_point now) {
  pace_ = std::max(duration{}, length);
  hold_.reset();
  if (pace_ > duration{}) hold_ = now + pace_;
}

std::optional<time_point> rate_limiter::next() const {
  if (queue_.empty()) return {};
  const auto limit = limits_of_waits_.begin()->first;
  if (limits_.max_concurrent > 0 && open_ >= limits_.max_concurrent)
    return limit;
  const auto most = limits_.requests_per_minute;
  auto at = hold_.value_or(time_point::min());
  if (most != 0 && starts_.size() >= most)
    at = std::max(at, starts_.front() + window);
  return std::min(limit, at);
}

bool rate_limiter::may_start(time_point now) {
  while (!starts_.empty() && starts_.front() + window <= now)
    starts_.pop_front();
  const auto most = limits_.requests_per_minute;
  if (hold_ && now < *hold_) return false;
  return (limits_.max_concurrent == 0 || open_ < limits_.max_concurrent) &&
         (most == 0 || starts_.size() < most);
}

void rate_limiter::start(time_point now) {
  ++open_;
  if (pace_ > duration{}) hold_ = now + pace_;
  if (limits_.requests_per_minute > 0) starts_.push_back(now);
}

}  // namespace riffle::model
