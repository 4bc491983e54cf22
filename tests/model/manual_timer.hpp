// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "runtime/base/timer.hpp"

namespace riffle::testing {

/// A timer whose time passes only when a test says so. Jobs run on the test's
/// thread, in order of time.
class manual_timer final : public timer {
 public:
  void after(duration delay, std::function<void()> job) override {
    jobs_.emplace(now_ + delay, std::move(job));
  }

  /// Runs all jobs that are due within `length`.
  void pass(duration length) {
    const auto until = now_ + length;
    while (!jobs_.empty() && jobs_.begin()->first <= until) {
      auto next = jobs_.extract(jobs_.begin());
      now_ = std::max(now_, next.key());
      next.mapped()();
    }
    now_ = until;
  }

  [[nodiscard]] bool idle() const noexcept { return jobs_.empty(); }
  [[nodiscard]] duration now() const noexcept { return now_; }

 private:
  duration now_{};
  std::multimap<duration, std::function<void()>> jobs_;
};

}  // namespace riffle::testing
