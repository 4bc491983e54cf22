// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <sys/types.h>

namespace riffle::testing {

/// A limit for a program that counts only the time in which it could run: on
/// a machine that does other work too, it spends most of its time in a queue
/// for a core, and that says nothing about it. (A tenth counts all the same,
/// so that the wait of a test is bounded by ten times the limit.) A program
/// that hangs waits in no such queue, so its limit passes by the clock.
class fair_limit {
 public:
  fair_limit(pid_t program, std::chrono::milliseconds limit);

  /// Whether it is over; ask again and again.
  bool is_over();

  [[nodiscard]] std::chrono::nanoseconds counted() const { return counted_; }

 private:
  using clock = std::chrono::steady_clock;

  const pid_t program_;
  const std::chrono::milliseconds limit_;
  clock::time_point last_ = clock::now();
  std::chrono::nanoseconds queued_{};  ///< at `last_`
  std::chrono::nanoseconds counted_{};
};

}  // namespace riffle::testing
