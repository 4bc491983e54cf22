// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "messages/time.hpp"

namespace riffle::tools {

/// Until when the processes of a call may live, pushed on by whoever hears the
/// one that the call is for. A guard ends them by itself when it is over: so
/// also when the runtime that started them cannot (it was stopped, it hangs).
/// Thread-safe.
class lease {
 public:
  explicit lease(time_point until) { extend(until); }

  void extend(time_point until) noexcept {
    until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  }
  [[nodiscard]] time_point until() const noexcept {
    return time_point{
        time_point::duration{until_.load(std::memory_order_relaxed)}};
  }

 private:
  std::atomic<time_point::duration::rep> until_{};
};

using lease_ptr = std::shared_ptr<const lease>;

}  // namespace riffle::tools
