// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <utility>

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
  /// A flood that brings less in one pause is over: what comes behind it, such
  /// as the text that somebody reads, does not wait for the end of a span.
  static constexpr std::size_t flood_of_pause =
      flood_events * (flood_pause / std::chrono::milliseconds{1}) /
      (span / std::chrono::milliseconds{1});

  void on_unit(std::string_view run, std::size_t events) {
    ++units_;
    events_ += events;
    fresh_ += events;
    if (runs_.size() < many_runs)
      runs_.insert(std::hash<std::string_view>{}(run));
  }

  /// A commit has ended.
  void on_commit(time_point now) {
    const auto fresh = std::exchange(fresh_, 0);
    const bool paused = now - std::exchange(last_, now) >= flood_pause;
    if (wait_ == flood_pause && paused && fresh < flood_of_pause)
      return begin_span(now, {});
    if (now - begin_ < span) return;
    begin_span(now, now - begin_ < 2 * span ? wait_of_span() : duration{});
  }

  /// How long to wait for more before the next commit.
  [[nodiscard]] duration wait() const noexcept { return wait_; }

 private:
  void begin_span(time_point now, duration wait) {
    wait_ = wait;
    begin_ = now;
    units_ = 0;
    events_ = 0;
    runs_.clear();
  }

  [[nodiscard]] duration wait_of_span() const {
    const bool many = runs_.size() >= many_runs;
    if (many) return units_ >= busy_units ? pause : duration{};
    const bool flood =
        events_ >= flood_events && events_ >= events_of_unit * units_;
    return flood ? flood_pause : duration{};
  }

  time_point begin_{};
  time_point last_{};  ///< end of the last commit
  std::size_t units_ = 0;
  std::size_t events_ = 0;
  std::size_t fresh_ = 0;  ///< events since the last commit
  std::unordered_set<std::size_t> runs_;
  duration wait_{};
};

}  // namespace riffle::storage
