// SPDX-License-Identifier: MIT
#include "runtime/model/rate_limiter.hpp"

#include <algorithm>

namespace riffle::model {

namespace {

constexpr duration window = std::chrono::seconds{60};

/// The longest wait that a refusal may ask of all requests; a server that asks
/// for more has said it to the request that it refused.
constexpr duration longest_hold = std::chrono::minutes{10};

/// Of the learned distance, after each request that was accepted.
constexpr double closer = 0.99;
/// Of the distance that a refusal has taught: room to find the limit again.
constexpr double wider = 1.25;
/// The longest distance that is learned where no wait was asked for.
constexpr duration longest_guess = std::chrono::seconds{1};
/// Starts that are further apart belong to no common rate.
constexpr duration lull = std::chrono::seconds{5};
/// A distance that is no limit any more.
constexpr duration no_distance = std::chrono::milliseconds{1};

duration part(duration x, double share) {
  return std::chrono::duration_cast<duration>(
      std::chrono::duration<double, duration::period>{
          static_cast<double>(x.count()) * share});
}

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
  const bool was_paced = pace_ > duration{};
  pace_ = std::max(duration{}, length);
  if (was_paced && distance_ == duration{}) hold_.reset();
  if (pace_ > duration{}) hold_ = now + pace_;
}

/// Refusals that come while all wait belong to the one that made them wait.
void rate_limiter::refuse(std::optional<duration> retry_after, time_point now) {
  const auto wait =
      std::clamp(retry_after.value_or(duration{}), duration{}, longest_hold);
  const bool is_first = !refused_until_ || *refused_until_ <= now;
  if (is_first) {
    const auto open = static_cast<double>(std::max<std::size_t>(1, open_));
    ceiling_ = std::max(1.0, open / 2);
    forget_at_ = std::max(4.0, open * 2);
    if (since_ && accepted_ > 0)
      distance_ = std::min(part(now - *since_ + wait, wider / accepted_),
                           std::max(wait, longest_guess));
    accepted_ = 0;
  }
  refused_until_ =
      std::max(refused_until_.value_or(time_point::min()), now + wait);
  since_ = refused_until_;
}

void rate_limiter::accept() {
  ++accepted_;
  distance_ = part(distance_, closer);
  if (distance_ < no_distance) distance_ = {};
  if (ceiling_ <= 0) return;
  ceiling_ += 1 / ceiling_;
  if (ceiling_ >= forget_at_) ceiling_ = 0;
}

std::uint32_t rate_limiter::capacity() const noexcept {
  const auto learned = static_cast<std::uint32_t>(ceiling_);
  const auto most = limits_.max_concurrent;
  return learned == 0 || (most > 0 && most < learned) ? most : learned;
}

std::optional<time_point> rate_limiter::next() const {
  if (queue_.empty()) return {};
  const auto limit = limits_of_waits_.begin()->first;
  if (is_full()) return limit;
  const auto most = limits_.requests_per_minute;
  auto at = std::max(hold_.value_or(time_point::min()),
                     refused_until_.value_or(time_point::min()));
  if (most != 0 && starts_.size() >= most)
    at = std::max(at, starts_.front() + window);
  return std::min(limit, at);
}

bool rate_limiter::may_start(time_point now) {
  while (!starts_.empty() && starts_.front() + window <= now)
    starts_.pop_front();
  const auto most = limits_.requests_per_minute;
  if (hold_ && now < *hold_) return false;
  if (refused_until_ && now < *refused_until_) return false;
  return !is_full() && (most == 0 || starts_.size() < most);
}

void rate_limiter::start(time_point now) {
  ++open_;
  if (!since_ || now > last_start_ + lull) {
    since_ = now;
    accepted_ = 0;
  }
  last_start_ = now;
  const auto gap = std::max(pace_, distance_);
  if (gap > duration{}) hold_ = now + gap;
  if (limits_.requests_per_minute > 0) starts_.push_back(now);
}

}  // namespace riffle::model
