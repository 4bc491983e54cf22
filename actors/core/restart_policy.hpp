// SPDX-License-Identifier: MIT
#pragma once

// How often a supervisor restarts what crashed. The words
// and the rule are those of Erlang/OTP's supervisor.

#include <cstdint>
#include <deque>

#include "messages/time.hpp"

namespace riffle::core {

/// At most `intensity` restarts within any `period`, with a growing delay
/// between them. Not thread safe.
class restart_policy {
 public:
  /// The delay before a restart (supervision.backoff).
  struct backoff {
    duration base = std::chrono::milliseconds{100};
    duration cap = std::chrono::seconds{30};
  };

  restart_policy(std::uint32_t intensity, duration period)
      : restart_policy{intensity, period, backoff{}} {}
  restart_policy(std::uint32_t intensity, duration period, backoff delays);

  /// Something crashed: may it be restarted? Counts the restart if so. False:
  /// it would be one more than `intensity` within `period`; with an intensity
  /// of 0 always. `now` must not go back.
  [[nodiscard]] bool allow(time_point now);

  /// How long to wait before the restart that was allowed last: `base` for the
  /// first, doubled for each one since the last quiet period, at most `cap`,
  /// with equal jitter (see retry_policy.hpp). A whole `period` without a
  /// restart is a quiet one.
  [[nodiscard]] duration delay(double random01) const noexcept;

  /// Forgets everything, e.g. after a trial that went well.
  void reset() noexcept;

 private:
  std::uint32_t intensity_;
  duration period_;
  backoff delays_;
  std::deque<time_point> times_;  ///< within the period; at most `intensity_`
  std::uint32_t streak_ = 0;      ///< restarts since the last quiet period
};

}  // namespace riffle::core
