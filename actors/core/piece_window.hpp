// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "messages/time.hpp"

namespace riffle::core {

/// How many pieces of long outputs may be on their way over a link, for what
/// else is said there waits behind them. Pure.
///
/// As many as make a piece's answer late by a few milliseconds and no more:
/// then the link is full, and further ones would only stand in a queue. (Delay
/// as the sign of a queue: RFC 6817.) A link that is far away gets many, one
/// that is slow few.
class piece_window {
 public:
  static constexpr std::size_t least = 2;
  static constexpr std::size_t first = 4;
  static constexpr std::size_t most = 16;
  static constexpr duration most_queued = std::chrono::milliseconds{4};

  /// `took`: from when a whole piece was given to the link to its answer; a
  /// shorter one says less of the link than it seems.
  void on_answer(duration took) noexcept {
    if (++answers_ % answers_kept == 0)  // the way may have become longer
      before_ = std::exchange(shortest_, none);
    shortest_ = std::min(shortest_, took);
    if (took > std::min(before_, shortest_) + most_queued)
      size_ = std::max(least, size_ - 1);
    else
      size_ = std::min(most, size_ + 1);
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr duration none = duration::max() - most_queued;
  static constexpr std::size_t answers_kept = 1024;

  std::size_t size_ = first;
  std::size_t answers_ = 0;
  duration shortest_ = none;  ///< of the last answers …
  duration before_ = none;    ///< … and of as many before them
};

}  // namespace riffle::core
