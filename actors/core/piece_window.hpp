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

  /// How long the shortest answer counts: a way may become longer.
  static constexpr duration memory = std::chrono::minutes{2};

  /// Of a piece of the usual size: a shorter one takes less of the link, and
  /// would make all others look late. `took`: from when it was given to the
  /// link to its answer, `now`.
  void on_answer(duration took, time_point now) noexcept {
    if (now - since_ >= memory / 2) {
      since_ = now;
      before_ = std::exchange(recent_, none);
    }
    recent_ = std::min(recent_, took);
    if (took > std::min(before_, recent_) + most_queued)
      size_ = std::max(least, size_ - 1);
    else
      size_ = std::min(most, size_ + 1);
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr duration none = duration::max() - most_queued;

  std::size_t size_ = first;
  /// The shortest answers of this half of what is remembered, and of the last.
  duration recent_ = none;
  duration before_ = none;
  time_point since_{};
};

}  // namespace riffle::core
