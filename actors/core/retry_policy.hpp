// SPDX-License-Identifier: MIT
#pragma once

// Whether and when to try again what failed (models.*.retry; attempts of a
// tool).

#include <cstdint>
#include <optional>
#include <string_view>

#include "messages/time.hpp"

namespace riffle::core {

/// `max_attempts` counts the first attempt too; 0 and 1 mean: never again.
struct retry_limits {
  std::uint32_t max_attempts = 3;
  duration base = std::chrono::seconds{1};
  duration cap = std::chrono::seconds{60};

  bool operator==(const retry_limits&) const = default;
};

/// `why` says in plain words why not, if `again` is false; a literal.
struct retry_plan {
  bool again = false;
  duration delay{};
  std::string_view why{};

  bool operator==(const retry_plan&) const = default;
};

/// The longest `retry_after` that is waited for. It may exceed `cap`: the
/// other side knows better than our guess, and an earlier attempt would only
/// fail again. Beyond this the answer is to give up: a run that fails with a
/// reason serves a person better than one that hangs for an hour.
inline constexpr duration retry_after_limit = std::chrono::minutes{10};

/// `base` * 2^(`failures` - 1), at most `cap`, with equal jitter: half of it
/// is fixed, half is random. Equal and not full jitter, since the other side
/// has just failed and an attempt after nearly no time is wasted, while half
/// of the span still spreads the runs that failed together. `random01` is in
/// [0, 1); other values are clamped.
[[nodiscard]] duration backoff_delay(duration base, duration cap,
                                     std::uint32_t failures,
                                     double random01) noexcept;

/// `failed_attempts`: how many failed so far, the last one included.
/// `retry_after` is a minimum: the delay is the back-off or `retry_after` plus
/// a random part of `base` (who was told the same second must not come back in
/// it), whichever is later.
[[nodiscard]] retry_plan next_retry(const retry_limits& limits,
                                    std::uint32_t failed_attempts,
                                    bool retryable,
                                    std::optional<duration> retry_after,
                                    double random01) noexcept;

}  // namespace riffle::core
