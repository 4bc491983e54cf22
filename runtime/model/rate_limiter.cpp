// SPDX-License-Identifier: MIT
#include "runtime/model/rate_limiter.hpp"

#include <algorithm>
#include <utility>

namespace riffle::model {

namespace {

constexpr duration window = std::chrono::seconds{60};

/// The longest wait that a refusal may ask of all requests; a server that asks
/// for more has said it to the request that it refused.
constexpr duration longest_hold = std::chrono::minutes{10};

/// Of a server that does not say how long it refuses; each time twice as long
/// until it takes something.
constexpr duration first_guess = std::chrono::seconds{1};
constexpr duration longest_guess = std::chrono::seconds{32};
/// Starts that are remembered; what a server took longer ago teaches nothing.
constexpr std::size_t most_remembered = 4096;
/// The longest that what was learned to be too much is not tried again, in
/// rounds and in requests that were accepted.
constexpr std::uint32_t most_rounds = 32;
constexpr std::uint32_t enough_requests = 32;
/// A learned number is forgotten at twice its height, but not below.
constexpr std::uint32_t least_to_forget = 8;

/// What was sent later may arrive earlier by so much: a learned time is longer
/// than it was by a part and a little.
duration with_margin(duration x) {
  return x + x / 20 + std::chrono::milliseconds{2};
}

}  // namespace

bool rate_limiter::try_start(time_point now, bool again) {
  const bool overtakes = !again_.empty() || (!again && !queue_.empty());
  if (overtakes || !may_start(now)) return false;
  start(now);
  return true;
}

void rate_limiter::wait(ticket id, time_point until, bool again) {
  (again ? again_ : queue_).emplace(id, until);
  limits_of_waits_.emplace(until, id);
}

rate_limiter::moves rate_limiter::poll(time_point now) {
  moves out;
  while (!limits_of_waits_.empty() && limits_of_waits_.begin()->first <= now) {
    const auto id = limits_of_waits_.begin()->second;
    out.expired.push_back(id);
    withdraw(id);
  }
  while (waiting() > 0 && may_start(now)) {
    const auto id = (again_.empty() ? queue_ : again_).begin()->first;
    out.started.push_back(id);
    withdraw(id);
    start(now);
  }
  return out;
}

bool rate_limiter::withdraw(ticket id) {
  for (auto* line : {&queue_, &again_}) {
    const auto i = line->find(id);
    if (i == line->end()) continue;
    limits_of_waits_.erase({i->second, id});
    line->erase(i);
    return true;
  }
  return false;
}

void rate_limiter::on_end(bool accepted) {
  if (open_ > 0) --open_;
  if (accepted && answered_ > 0) --answered_;
}

void rate_limiter::pace(duration length, time_point now) {
  if (pace_ > duration{}) hold_.reset();
  pace_ = std::max(duration{}, length);
  if (pace_ > duration{}) hold_ = now + pace_;
}

/// Refusals of what began before the first of them was known belong to it.
void rate_limiter::refuse(time_point begun, std::optional<duration> retry_after,
                          time_point now) {
  const auto own = std::ranges::lower_bound(taken_, begun);
  if (own != taken_.end() && *own == begun) taken_.erase(own);
  const bool is_first = !refused_at_ || begun > *refused_at_;
  if (is_first) {
    const auto open = static_cast<double>(std::max<std::size_t>(1, open_));
    ceiling_ = std::max({1.0, open / 2, static_cast<double>(answered_)});
    forget_ceiling_ = std::max(4.0, open * 2);
    since_ = refused_until_.value_or(time_point::min());
    // What it had grown to was too much.
    const bool tried = std::exchange(grown_, false);
    former_ = tried ? proven_ : learned_;
    proven_ = tried ? proven_ : quota{};
    if (tried) hold_rounds_ = std::min(most_rounds, hold_rounds_ * 2);
    step_ = 1;
    accepted_ = 0;
    refused_at_ = now;
    const bool none = taken_.empty() || taken_.back() < since_;
    guess_ =
        none ? std::clamp(guess_ * 2, first_guess, longest_guess) : first_guess;
  }
  const auto wait =
      std::clamp(retry_after.value_or(guess_), duration{}, longest_hold);
  refused_until_ =
      std::max(refused_until_.value_or(time_point::min()), now + wait);
  learned_ = shown();
  if (proven_.starts > 0 && proven_.rate() < learned_.rate())
    learned_ = proven_;
  forget_quota_ = std::max(least_to_forget, learned_.starts * 2);
}

/// What the server has shown that it takes: the highest rate of starts up to
/// its refusal, for the time until it takes more. A rate that is too high costs
/// one more refusal, one that is too low would cost time without end.
rate_limiter::quota rate_limiter::shown() const {
  quota best;
  std::uint32_t count = 0;
  for (auto i = taken_.rbegin(); i != taken_.rend() && *i >= since_; ++i) {
    if (*i > *refused_at_) continue;
    ++count;
    auto length = *refused_until_ - *i;
    length = std::max(length, duration{std::chrono::milliseconds{1}});
    const quota one{count, length};
    if (one.rate() >= best.rate()) best = one;
  }
  return count > 0 ? best : former_;
}

void rate_limiter::accept(time_point begun) {
  ++answered_;
  if (ceiling_ <= 0 && learned_.starts == 0) return;
  if (begun <= *refused_at_) {
    if (ceiling_ > 0)
      ceiling_ = std::max(ceiling_, static_cast<double>(answered_));
    return;  // shows no more than is known
  }
  ++accepted_;
  const auto round =
      std::max({1u, learned_.starts, static_cast<std::uint32_t>(ceiling_)});
  const auto most = std::max(2 * round, enough_requests);
  if (accepted_ >= std::min(round * hold_rounds_, most)) grow();
}

/// Now the one, now the other: so the next refusal tells which was too much.
/// The longer nothing is refused, the faster.
void rate_limiter::grow() {
  grown_ = true;
  proven_ = learned_;
  accepted_ = 0;
  widens_ = ceiling_ > 0 && (!widens_ || learned_.starts == 0);
  if (widens_) {
    ceiling_ += step_;
    if (ceiling_ >= forget_ceiling_) ceiling_ = 0;
  } else if (learned_.starts > 0) {
    learned_.starts += step_;
    if (learned_.starts >= forget_quota_) learned_ = {};
    step_ *= 2;
  }
  if (learned_.starts == 0) step_ *= 2;
  if (ceiling_ <= 0 && learned_.starts == 0) hold_rounds_ = 1;
}

std::uint32_t rate_limiter::most_open() const noexcept {
  const auto most = limits_.max_concurrent;
  return std::min(
      most == 0 ? no_limit : most,
      ceiling_ > 0 ? static_cast<std::uint32_t>(ceiling_) : no_limit);
}

std::uint32_t rate_limiter::startable(time_point now) const {
  if (opens_at() > now) return 0;
  auto out = pace_ > duration{} ? 1 : no_limit;
  const auto left = [&out, now](const std::deque<time_point>& begun,
                                std::uint32_t most, duration length) {
    const auto inside =
        begun.end() - std::ranges::upper_bound(begun, now - length);
    const auto n = static_cast<std::uint32_t>(inside);
    out = std::min(out, n < most ? most - n : 0);
  };
  if (limits_.requests_per_minute > 0)
    left(starts_, limits_.requests_per_minute, window);
  if (learned_.starts > 0)
    left(taken_, learned_.starts, with_margin(learned_.length));
  return out;
}

std::uint32_t rate_limiter::capacity(time_point now) const {
  const auto more = startable(now);
  const auto most = most_open();
  if (more == no_limit) return most;
  const auto queued = static_cast<std::uint32_t>(waiting());
  return std::min(most,
                  static_cast<std::uint32_t>(open_) + std::max(queued, more));
}

time_point rate_limiter::opens_at() const {
  auto at = std::max(hold_.value_or(time_point::min()),
                     refused_until_.value_or(time_point::min()));
  const auto frees = [&at](const std::deque<time_point>& begun,
                           std::uint32_t most, duration length) {
    if (most > 0 && begun.size() >= most)
      at = std::max(at, begun[begun.size() - most] + length);
  };
  frees(starts_, limits_.requests_per_minute, window);
  frees(taken_, learned_.starts, with_margin(learned_.length));
  return at;
}

std::optional<time_point> rate_limiter::next() const {
  if (waiting() == 0) return {};
  const auto limit = limits_of_waits_.begin()->first;
  if (open_ >= most_open()) return limit;
  return std::min(limit, opens_at());
}

std::optional<time_point> rate_limiter::held_until(time_point now) const {
  if (const auto at = opens_at(); at > now) return at;
  const bool full = ceiling_ > 0 && open_ >= static_cast<std::size_t>(ceiling_);
  return full ? std::optional{time_point::max()} : std::nullopt;
}

std::optional<time_point> rate_limiter::more_at(time_point now) const {
  if (const auto at = opens_at(); at > now) return at;
  std::optional<time_point> out;
  const auto oldest = [&out, now](const std::deque<time_point>& begun,
                                  duration length) {
    const auto i = std::ranges::upper_bound(begun, now - length);
    if (i != begun.end())
      out = std::min(out.value_or(*i + length), *i + length);
  };
  if (limits_.requests_per_minute > 0) oldest(starts_, window);
  if (learned_.starts > 0) oldest(taken_, with_margin(learned_.length));
  return out;
}

bool rate_limiter::may_start(time_point now) const {
  return open_ < most_open() && opens_at() <= now;
}

void rate_limiter::start(time_point now) {
  ++open_;
  if (pace_ > duration{}) hold_ = now + pace_;
  if (limits_.requests_per_minute > 0) {
    while (!starts_.empty() && starts_.front() + window <= now)
      starts_.pop_front();
    starts_.push_back(now);
  }
  if (!limits_.paced) return;
  taken_.push_back(now);
  if (taken_.size() > most_remembered) taken_.pop_front();
}

}  // namespace riffle::model
