// SPDX-License-Identifier: MIT
#include "actors/core/restart_policy.hpp"

#include <limits>

#include "actors/core/retry_policy.hpp"

namespace riffle::core {

restart_policy::restart_policy(std::uint32_t intensity, duration period,
                               backoff delays)
    : intensity_{intensity}, period_{period}, delays_{delays} {}

bool restart_policy::allow(time_point now) {
  // As in OTP, a restart that is exactly one period old still counts.
  while (!times_.empty() && now - times_.front() > period_) times_.pop_front();
  if (times_.empty()) streak_ = 0;
  if (times_.size() >= intensity_) return false;
  times_.push_back(now);
  if (streak_ < std::numeric_limits<std::uint32_t>::max()) ++streak_;
  return true;
}

duration restart_policy::delay(double random01) const noexcept {
  return backoff_delay(delays_.base, delays_.cap, streak_, random01);
}

void restart_policy::reset() noexcept {
  times_.clear();
  streak_ = 0;
}

}  // namespace riffle::core
