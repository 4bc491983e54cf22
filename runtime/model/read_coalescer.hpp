// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "messages/time.hpp"

namespace riffle::model {

/// Decides when the I/O thread should let reads gather before it looks at its
/// sockets again, as network cards do with interrupts: with many streams at
/// token pace the wake-ups, not the work, are what costs, and each read that
/// waits with others saves one here and one at every reader behind. Pure.
///
/// A lone stream, and any number of them while they bring little, never wait.
class read_coalescer {
 public:
  /// How long reads may gather: the latency that it may add.
  static constexpr duration pause = std::chrono::microseconds{1000};
  /// The span over which reads are counted.
  static constexpr duration span = std::chrono::milliseconds{10};
  /// So many reads in a span are a load (2,000 a second) …
  static constexpr std::size_t busy_reads = 20;
  /// … if so many transfers share them.
  static constexpr std::size_t many_transfers = 16;

  /// One round of the loop brought `reads` of `transfers` open ones.
  void on_round(std::size_t reads, std::size_t transfers, time_point now) {
    reads_ += reads;
    if (now - begin_ < span) return;
    busy_ = now - begin_ < 2 * span && reads_ >= busy_reads &&
            transfers >= many_transfers;
    begin_ = now;
    reads_ = 0;
  }

  [[nodiscard]] bool should_gather() const noexcept { return busy_; }

 private:
  time_point begin_{};
  std::size_t reads_ = 0;
  bool busy_ = false;
};

}  // namespace riffle::model
