// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>

namespace riffle::model {

/// The credit of one transfer: anyone adds, the I/O thread takes. A grant
/// costs the I/O thread a wake-up only where it waits for one.
class http_credit {
 public:
  explicit http_credit(std::size_t bytes) : bytes_{bytes} {}

  /// True if the I/O thread waits and must be told.
  bool add(std::size_t bytes) {
    constexpr auto most = std::numeric_limits<std::size_t>::max();
    auto old = bytes_.load();
    while (!bytes_.compare_exchange_weak(
        old, bytes > most - old ? most : old + bytes)) {
    }
    return bytes > 0 && waiting_.exchange(false);
  }

  /// Takes at most `wanted` bytes. I/O thread only, like `wait`.
  std::size_t take(std::size_t wanted) {
    auto n = std::min(wanted, bytes_.load());
    bytes_.fetch_sub(n);
    return n;
  }

  /// Asks to be told of the next credit; false if there is some already.
  bool wait() {
    if (bytes_.load() != 0) {
      return false;
    }
    waiting_.store(true);
    // Sequential consistency: either `add` sees the flag or we see its bytes.
    if (bytes_.load() == 0) {
      return true;
    }
    waiting_.store(false);
    return false;
  }

 private:
  std::atomic<std::size_t> bytes_;
  std::atomic<bool> waiting_{false};
};

}  // namespace riffle::model
