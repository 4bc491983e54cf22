// SPDX-License-Identifier: MIT
#pragma once

// The worker's side of progress (rule "lossy and must-deliver"): a window of
// reports that nobody has acknowledged yet; when it is full the newest report
// wins.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "messages/call.hpp"
#include "messages/time.hpp"

namespace riffle::core {

/// How many reports of an attempt leave. Those beyond the first ones wait for
/// each other, ever longer, so that a few of them cover hours.
struct progress_pace {
  std::uint32_t at_once = 100;                   ///< without a wait
  duration gap = std::chrono::milliseconds{50};  ///< doubles each `at_once`
  std::uint32_t most = 1000;  ///< of which one is kept for the last report

  bool operator==(const progress_pace&) const = default;
};

/// For one attempt of one call. What it returns is to be sent at once, under
/// the number `sent()`. Not thread safe: a tool reports from any thread, so
/// the shell holds a mutex around this.
///
/// Nothing is lost in silence: over all reports that were sent, the sum of
/// 1 + `coalesced` is the number that was offered (plus what the tool itself
/// had coalesced), and the last one offered is the last one sent.
class progress_window {
 public:
  /// A window of 0 counts as 1.
  explicit progress_window(std::size_t window, progress_pace pace = {})
      : window_{window == 0 ? 1 : window}, pace_{pace} {}

  /// A report of the tool: returned if there is room, else held in place of
  /// what was held before. Nothing is taken after `last`.
  std::optional<tool_progress_report> offer(tool_progress_report x,
                                            time_point now);

  /// One report was acknowledged: what is held can leave. An acknowledgement
  /// of nothing is ignored.
  std::optional<tool_progress_report> on_ack(time_point now);

  /// When what is held can leave although nothing else comes: `on_time`.
  [[nodiscard]] std::optional<time_point> due() const;
  std::optional<tool_progress_report> on_time(time_point now);

  /// The end of the call: what is still held must be sent, with or without
  /// room, before the result.
  std::optional<tool_progress_report> last();

  /// Number of the report that was returned last; 0: none. This is the
  /// `last_progress` of the call's result.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

 private:
  std::optional<tool_progress_report> send_if_due(time_point now);
  std::optional<tool_progress_report> send_held();
  [[nodiscard]] bool has_room() const noexcept;

  std::size_t window_;
  progress_pace pace_;
  time_point next_{};  ///< no report leaves before
  std::size_t in_flight_ = 0;
  std::uint64_t sent_ = 0;
  bool closed_ = false;
  std::optional<tool_progress_report> held_;
};

}  // namespace riffle::core
