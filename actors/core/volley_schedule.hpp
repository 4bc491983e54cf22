// SPDX-License-Identifier: MIT
#pragma once

// Which tasks of a volley run now. Pure: time and chance are arguments.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "actors/core/retry_policy.hpp"
#include "messages/time.hpp"

namespace riffle::core {

struct volley_limits {
  /// So many tasks run at once, at least 1.
  std::uint32_t workers = 4;
  /// Runs of one task, and the pause before the next one.
  retry_limits retries{};
  /// The first task that fails ends the others.
  bool fail_fast = false;
};

/// A task as the schedule sees it.
struct volley_task {
  /// Tasks of one chain (of one session) run one after the other, in order.
  /// Empty: alone.
  std::string chain{};
  std::uint32_t attempts = 0;  ///< runs that it has had
  bool ended = false;          ///< nothing is left to do
  std::string model{};         ///< whose server is asked: its limits count
};

/// How a run of a task ended.
struct task_end {
  bool completed = false;
  /// It failed by something that may pass.
  bool retryable = false;
  /// The provider wanted fewer requests.
  bool rate_limited = false;
  /// It had no run: there are as many as the process may have.
  bool no_room = false;
};

/// Start a run of the task, its `attempt`th. Its end comes as `on_end`.
struct start_task {
  std::size_t task = 0;
  std::uint32_t attempt = 1;
  bool operator==(const start_task&) const = default;
};
/// Cancel its run; its end still comes.
struct cancel_task {
  std::size_t task = 0;
  bool operator==(const cancel_task&) const = default;
};
/// The task is over; `ran`: false if no run of it was begun by this schedule;
/// `left`: it would have been run again, had the volley not been cancelled.
struct task_over {
  std::size_t task = 0;
  bool ran = true;
  bool left = false;
  bool operator==(const task_over&) const = default;
};
/// Every task is over. Said once, last.
struct volley_over {
  bool operator==(const volley_over&) const = default;
};

using volley_effect =
    std::variant<start_task, cancel_task, task_over, volley_over>;
using volley_effects = std::vector<volley_effect>;

/// Tasks start in their order, as many at once as workers, fewer of a model
/// while its provider refuses: the rate limiter reports how many requests it
/// lets through, and a task that fails by a refusal halves the number, each
/// task that completes raises it by one (additive increase, multiplicative
/// decrease; Chiu and Jain 1989). Those of other models overtake what then
/// waits. Where the process has no room for a run, as many run as have, and
/// each second twice as many are tried. What failed and may be tried again
/// waits for its pause without a worker. All operations are O(log n + models)
/// for each task that they move.
class volley_schedule {
 public:
  volley_schedule(volley_limits limits, std::vector<volley_task> tasks);

  volley_effects begin(time_point now);
  volley_effects on_end(std::size_t task, const task_end& how, time_point now,
                        double random01);
  /// The provider's limits let so many requests of this model be open at once;
  /// 0: none begins until this is told anew.
  volley_effects on_capacity(const std::string& model, std::uint32_t most);
  /// A pause may be over.
  volley_effects on_time(time_point now);
  /// Nothing begins any more, what runs is cancelled. Idempotent.
  volley_effects cancel();

  /// When `on_time` has something to do.
  [[nodiscard]] std::optional<time_point> wake() const;
  [[nodiscard]] std::size_t running() const noexcept { return running_; }
  /// How many of a model's may run now.
  [[nodiscard]] std::uint32_t capacity(const std::string& model = {}) const {
    return std::min(room_, lanes_.at(model).most());
  }

 private:
  enum class state : std::uint8_t { waiting, running, pausing, over };
  struct entry {
    volley_task what;
    state now = state::waiting;
    std::uint32_t begun = 0;  ///< runs, by this schedule
  };

  /// The tasks of one model.
  struct lane {
    [[nodiscard]] std::uint32_t most() const noexcept {
      return std::min(capacity, reported);
    }
    std::uint32_t capacity = 1;
    std::uint32_t reported = 1;  ///< what the rate limiter lets through
    std::size_t running = 0;
    std::set<std::size_t> ready{};  ///< in task order
  };

  lane& lane_of(std::size_t task) { return lanes_.at(tasks_[task].what.model); }
  lane* next_lane();
  void on_no_room(std::size_t task, time_point now, volley_effects& out);
  void fill(volley_effects& out);
  void end(std::size_t task, volley_effects& out, bool left = false);
  void stop(volley_effects& out);

  const volley_limits limits_;
  std::vector<entry> tasks_;
  /// Of each chain the tasks behind the one whose turn it is.
  std::map<std::string, std::deque<std::size_t>> chains_;
  std::map<std::string, lane> lanes_;  ///< by model
  std::multimap<time_point, std::size_t> pauses_;
  std::uint32_t room_;  ///< runs that the process has for it
  std::optional<time_point> look_for_room_;  ///< nothing: there is enough
  std::size_t running_ = 0;
  std::size_t left_ = 0;
  bool stopped_ = false;
  bool cancelled_ = false;  ///< stopped, and not by a task that failed
};

}  // namespace riffle::core
