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
/// A run that brings its events in floods (a turn of thousands of calls) costs
/// fewer pages where a commit has more of them. Pure.
///
/// A lone run that waits for its commits, and any number of runs while they
/// bring little, never wait.
class commit_gatherer {
 public:
  /// How long units of many runs may gather: the latency that it may add.
  static constexpr duration pause = std::chrono::microseconds{1000};
  /// The same for a flood, whose reader has more than he can look at.
  static constexpr duration flood_pause = std::chrono::milliseconds{4};
  /// The span over which units are counted.
  static constexpr duration span = std::chrono::milliseconds{20};
  /// So many units in a span are a load (2,000 a second) …
  static constexpr std::size_t busy_units = 40;
  /// … if so many runs share them.
  static constexpr std::size_t many_runs = 16;
  /// So many events in a span are a flood (5,000 a second) …
  static constexpr std::size_t flood_events = 100;
  /// … if a unit has so many: who waits for a commit before his next step
  /// brings few.
  static constexpr std::size_t events_of_unit = 6;

  void on_unit(std::string_view run, std::size_t events) {
    ++units_;
    events_ += events;
    if (runs_.size() < many_runs)
      runs_.insert(std::hash<std::string_view>{}(run));
  }

  /// A commit has ended.
  void on_commit(time_point now) {
    if (now - begin_ < span) return;
    wait_ = now - begin_ < 2 * span ? wait_of_span() : duration{};
    begin_ = now;
    units_ = 0;
    events_ = 0;
    runs_.clear();
  }

  /// How long to wait for more before the next commit.
  [[nodiscard]] duration wait() const noexcept { return wait_; }

 private:
  [[nodiscard]] duration wait_of_span() const {
    const bool many = runs_.size() >= many_runs;
    if (many) return units_ >= busy_units ? pause : duration{};
    const bool flood =
        events_ >= flood_events && events_ >= events_of_unit * units_;
    return flood ? flood_pause : duration{};
  }

  time_point begin_{};
  std::size_t units_ = 0;
  std::size_t events_ = 0;
  std::unordered_set<std::size_t> runs_;
  duration wait_{};
};

}  // namespace riffle::storage
