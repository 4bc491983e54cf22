// SPDX-License-Identifier: MIT
#include "actors/core/retry_policy.hpp"

#include <algorithm>

namespace riffle::core {
namespace {

duration part_of(duration x, double random01) noexcept {
  // A comparison that is false for NaN, so that it counts as 0.
  const auto share = random01 > 0.0 ? std::min(random01, 1.0) : 0.0;
  return std::chrono::duration_cast<duration>(
      std::chrono::duration<double, duration::period>{
          static_cast<double>(x.count()) * share});
}

}  // namespace

duration backoff_delay(duration base, duration cap, std::uint32_t failures,
                       double random01) noexcept {
  auto full = std::clamp(base, duration::zero(), std::max(cap, duration{}));
  if (full == duration::zero()) return full;
  for (std::uint32_t i = 1; i < failures && full < cap; ++i)
    full = full > cap / 2 ? cap : full * 2;
  const auto half = full / 2;
  return std::min(full - half + part_of(half, random01), full);
}

retry_plan next_retry(const retry_limits& limits, std::uint32_t failed_attempts,
                      bool retryable, std::optional<duration> retry_after,
                      double random01) noexcept {
  if (!retryable)
    return {false, {}, "this failure does not go away by trying again"};
  if (failed_attempts >= limits.max_attempts)
    return {false, {}, "no attempts are left"};
  if (retry_after && *retry_after > retry_after_limit)
    return {false, {}, "the other side asks to wait more than 10 minutes"};
  auto delay =
      backoff_delay(limits.base, limits.cap, failed_attempts, random01);
  if (retry_after)
    delay = std::max(delay, *retry_after + part_of(limits.base, random01));
  return {true, delay, {}};
}

}  // namespace riffle::core
