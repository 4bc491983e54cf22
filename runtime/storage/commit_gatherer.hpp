// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_set>

#include "messages/time.hpp"

namespace riffle::storage {

/// Decides when the writer should let units gather before it commits again.
/// A commit costs about the same for one unit as for twenty, and so does
/// waking the writer; with many runs at token pace that is what storing costs.
/// Pure.
///
/// A lone run, and any number of them while they bring little, never wait.
class commit_gatherer {
 public:
  /// How long units may gather: the latency that it may add.
  static constexpr duration pause = std::chrono::microseconds{1000};
  /// The span over which units are counted.
  static constexpr duration span = std::chrono::milliseconds{20};
  /// So many units in a span are a load (2,000 a second) …
  static constexpr std::size_t busy_units = 40;
  /// … if so many runs share them.
  static constexpr std::size_t many_runs = 16;

  void on_unit(std::string_view run) {
    ++units_;
    if (runs_.size() < many_runs)
      runs_.insert(std::hash<std::string_view>{}(run));
  }

  /// A commit has ended.
  void on_commit(time_point now) {
    if (now - begin_ < span) return;
    busy_ = now - begin_ < 2 * span && units_ >= busy_units &&
            runs_.size() >= many_runs;
    begin_ = now;
    units_ = 0;
    runs_.clear();
  }

  [[nodiscard]] bool should_gather() const noexcept { return busy_; }

 private:
  time_point begin_{};
  std::size_t units_ = 0;
  std::unordered_set<std::size_t> runs_;
  bool busy_ = false;
};

}  // namespace riffle::storage
