// SPDX-License-Identifier: MIT
#pragma once

// Many tasks at once: when a run of each begins.

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "actors/core/volley_schedule.hpp"
#include "actors/interfaces.hpp"
#include "actors/run/run_spec.hpp"

namespace riffle {

/// How a volley_scheduler reaches the runs of its tasks. Called on a scheduler
/// thread: must not block and must not throw.
class volley_port {
 public:
  virtual ~volley_port() = default;
  /// Begins a run of the task. Its end, or why it could not begin, comes to
  /// the scheduler as `task_ended`, once.
  virtual void start(std::size_t task, std::uint32_t attempt) = 0;
  /// Ends the task's run, which may be about to begin.
  virtual void cancel(std::size_t task, const std::string& reason) = 0;
  /// Nothing more is done for the task; `ran`, `left`: see `core::task_over`.
  virtual void over(std::size_t task, bool ran, bool left) = 0;
  /// Every task is over, or the scheduler failed for this reason. Only the
  /// first one counts.
  virtual void all_over(const std::optional<std::string>& failure) = 0;
};

struct begin_volley {};
struct task_ended {
  std::size_t task = 0;
  core::task_end how;
};
struct cancel_volley {
  std::string reason;
};
struct capacity_known {
  std::string model;
  std::uint32_t most = 0;  ///< requests at once
};
struct volley_pause_over {};  // own timer

struct volley_setup {
  core::volley_limits limits;
  std::vector<core::volley_task> tasks;
  std::shared_ptr<volley_port> port;
  fault_hook faults;  ///< of tests
};

volley_scheduler_actor spawn_volley_scheduler(caf::actor_system& system,
                                              volley_setup setup);

}  // namespace riffle

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::begin_volley)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::task_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::cancel_volley)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::capacity_known)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::volley_pause_over)
