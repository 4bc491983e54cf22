// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <random>

#include "actors/core/restart_policy.hpp"
#include "actors/interfaces.hpp"
#include "actors/tool_worker.hpp"
#include "runtime/config/config.hpp"

namespace riffle {

/// Spawns a worker, monitored by the pool.
using worker_spawner =
    std::function<tool_worker_actor(tool_pool_actor::pointer pool)>;

/// Workers start when calls wait for one, and stay. A worker that dies is
/// replaced after a back-off; its call goes back to the dispatcher, who
/// decides about a repetition.
struct tool_pool_state {
  static inline const char* name = "tool_pool";
  explicit tool_pool_state(tool_pool_actor::pointer me) : self{me} {}

  struct worker {
    tool_worker_actor actor;
    std::optional<assignment> task;
  };

  void on_assignment(assignment& x);
  void on_stop(const stop_assignment& x);
  void on_idle(const worker_idle& x);
  void on_down(const caf::down_msg& x);
  caf::result<run_abandoned> on_abandon(const abandon_run& x);
  void assign();
  void answer_abandoned();
  [[nodiscard]] bool busy_with(const run_id& run) const;

  tool_pool_actor::pointer self;
  std::string tool;
  std::size_t concurrency = 1;
  worker_spawner spawn_worker;
  std::optional<core::restart_policy> restarts;
  std::mt19937_64 random{std::random_device{}()};
  std::deque<assignment> queue;
  std::vector<worker> workers;
  std::size_t resting = 0;  ///< places whose new worker waits for its back-off
  std::vector<std::pair<run_id, caf::typed_response_promise<run_abandoned>>>
      abandoning;
};

tool_pool_actor::behavior_type tool_pool(
    tool_pool_actor::stateful_pointer<tool_pool_state> self, std::string tool,
    std::size_t concurrency, config::supervision_config supervision,
    worker_spawner spawn_worker);

}  // namespace riffle
