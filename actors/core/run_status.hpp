// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/event.hpp"
#include "messages/time.hpp"

namespace riffle::core {

/// What a plan does while a step of it begins.
[[nodiscard]] std::string status_of(const events::plan_step_started& x);

/// What a run does, in words for a typing indicator: made of the events that
/// it publishes. A new text is told once it has stood for a moment, so that
/// what is over at once makes no event, and never two within that time. What
/// ran before a recovery is not known. An event `status` in the entries of a
/// run is a notice: it is told as soon as that is allowed, whatever follows.
class run_status {
 public:
  /// The contract: at most one each 100 ms.
  static constexpr duration between = std::chrono::milliseconds{100};

  void on(const events::body& x, time_point now);
  void on_text(bool reasoning, time_point now);

  /// When to call `take`; nothing: there is nothing to tell.
  [[nodiscard]] std::optional<time_point> due() const;

  /// The text to tell now, if any.
  std::optional<std::string> take(time_point now);

  /// The notices that still wait for their time, if `next` ends the run: they
  /// are told before that, since nothing is told after.
  std::vector<std::string> last_notices(const events::body& next);

 private:
  [[nodiscard]] std::string text() const;
  void change(time_point now);
  void note(const std::string& text);

  std::string base_;  ///< while no tool runs
  /// Each is told alone, in this order; what comes while the last one waits
  /// joins it if it is of its kind.
  std::deque<std::string> notices_;
  struct running_call {
    call_id id;
    std::string title;
  };

  [[nodiscard]] std::string doing() const;

  std::vector<running_call> running_;  ///< in the order of their beginning
  std::set<call_id> undecided_;
  bool ended_ = false;
  bool plan_ = false;  ///< it is a plan's
  std::string told_;
  std::optional<time_point> due_;
  std::optional<time_point> last_;  ///< when a text was told
};

}  // namespace riffle::core
