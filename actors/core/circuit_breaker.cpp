// SPDX-License-Identifier: MIT
#include "actors/core/circuit_breaker.hpp"

#include <algorithm>
#include <utility>

namespace riffle::core {

namespace {

std::string seconds(duration x) {
  const auto s = std::chrono::ceil<std::chrono::seconds>(x);
  return std::to_string(s.count()) + " s";
}

}  // namespace

circuit_breaker::circuit_breaker(std::string tool, limits x)
    : tool_{std::move(tool)},
      limits_{x},
      restarts_{x.intensity, x.period, x.backoff} {
  limits_.abandoned = std::max(1u, limits_.abandoned);
}

circuit_breaker::admission circuit_breaker::admit(time_point now) {
  switch (at_) {
    case phase::closed: return admission::run;
    case phase::half_open: return admission::wait;
    case phase::open: break;
  }
  if (refuses(now)) return admission::refuse;
  at_ = phase::half_open;
  return admission::run;
}

/// While threads are still lost to it, there is no room for a trial either.
bool circuit_breaker::refuses(time_point now) const noexcept {
  return at_ == phase::open &&
         (now < trial_at_ || abandoned_ > limits_.abandoned);
}

std::optional<duration> circuit_breaker::on_crash(time_point now,
                                                  double random01) {
  if (at_ == phase::half_open) {
    trip(now, "it crashed again when it was tried");
  } else if (at_ == phase::closed && !restarts_.allow(now)) {
    trip(now, "it crashed more than " + std::to_string(limits_.intensity) +
                  " times within " + seconds(limits_.period));
  }
  if (at_ == phase::open) return {};
  return restarts_.delay(random01);
}

void circuit_breaker::on_success() {
  if (at_ != phase::half_open) return;
  at_ = phase::closed;
  restarts_.reset();
}

void circuit_breaker::on_undecided(time_point now) {
  if (at_ != phase::half_open) return;
  at_ = phase::open;
  trial_at_ = now;
}

bool circuit_breaker::on_abandoned(time_point now) {
  ++abandoned_;
  const bool was_trial = at_ == phase::half_open;
  if (at_ == phase::open || (!was_trial && abandoned_ <= limits_.abandoned))
    return false;
  trip(now,
       std::to_string(abandoned_) + " of its calls were stopped and still run");
  return true;
}

void circuit_breaker::on_returned() {
  if (abandoned_ > 0) --abandoned_;
}

error circuit_breaker::why(time_point now) const {
  const auto left = std::max(trial_at_ - now, duration{});
  return {errc::tool_unavailable,
          op,
          "`" + tool_ + "` is out of service: " + reason_ +
              "; it is tried again in " + seconds(left) +
              ", do without it until then",
          true,
          {}};
}

void circuit_breaker::trip(time_point now, std::string reason) {
  at_ = phase::open;
  trial_at_ = now + limits_.cool_down;
  reason_ = std::move(reason);
  restarts_.reset();
}

}  // namespace riffle::core
