// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>

namespace riffle::storage {

inline constexpr const char* left_out_of_feed =
    "pieces are left out of the order of all runs";

/// Which damaged pieces were told of: each once, however many come to it, and
/// however often. Thread-safe.
class told_losses {
 public:
  /// How many of them were not told of yet. Behind `most` none is.
  std::size_t add(const std::set<std::uint64_t>& pieces) {
    if (pieces.empty()) return 0;
    std::lock_guard lock{mutex_};
    std::size_t added = 0;
    for (const auto x : pieces) {
      if (told_.size() >= most) break;
      if (told_.insert(x).second) ++added;
    }
    return added;
  }

 private:
  static constexpr std::size_t most = 10'000;

  std::mutex mutex_;
  std::set<std::uint64_t> told_;
};

}  // namespace riffle::storage
