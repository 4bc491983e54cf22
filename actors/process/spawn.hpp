// SPDX-License-Identifier: MIT
#pragma once

// Carries out placement: which actor runs on the scheduler's pool, which on a
// thread of its own. The composition root decides.

#include "actors/interfaces.hpp"
#include "actors/process/command_inbox.hpp"
#include "actors/process/session_store.hpp"
#include "actors/tools/tool_pool.hpp"
#include "actors/tools/tool_worker.hpp"
#include "runtime/config/config.hpp"

namespace riffle {

/// Where actors live. Tests keep all of them on the test scheduler.
struct placement {
  /// The session store and the command inbox may block: a thread each.
  bool detach_store = true;
};

session_store_actor spawn_session_store(
    caf::actor_system& system, placement where,
    std::shared_ptr<storage::journal> journal,
    std::shared_ptr<executor> blocking, guard_waiter wait_for_guard,
    fault_hook faults = {});

command_inbox_actor spawn_command_inbox(caf::actor_system& system,
                                        placement where, inbox_setup setup);

/// Spawns the pool of a tool, at first and when the old one died. Null: the
/// process ends, there is none.
using pool_spawner = std::function<tool_pool_actor(const std::string& tool)>;

/// `find`: the tool with a name, which is there.
pool_spawner make_pool_spawner(
    caf::actor_system& system,
    std::function<tools::tool_ptr(const std::string&)> find,
    config::tools_config settings, config::supervision_config supervision,
    worker_setup setup, health_listener on_service = {});

/// One pool for each tool that is no control tool.
std::map<std::string, tool_pool_actor> spawn_pools(
    const tools::registry& registry, const pool_spawner& spawn_pool);

/// What the registry needs.
struct registry_setup {
  session_store_actor store;
  command_inbox_actor inbox;
  std::map<std::string, tool_pool_actor> pools;
  pool_spawner spawn_pool;     ///< empty: one that died is not replaced
  health_listener on_service;  ///< may be empty
  /// The one that the workers of the pools have.
  std::shared_ptr<work_board> board;
  config::supervision_config supervision;
  std::uint32_t max_runs = 0;  ///< 0: no limit
  /// Where the spec of a run is completed; null: at once.
  std::shared_ptr<executor> making{};
  /// Who asked for a run is told no after this; the store's answer is still
  /// heard. Opening, adopting and waiting for guards.
  duration store_deadline = std::chrono::seconds{60};
  /// Longest wait for a failed run's work to end; what goes on then, is settled
  /// and keeps its keys.
  duration abandon_deadline = std::chrono::seconds{20};
  /// A journal that refused a write is asked again after `probe_base`, then
  /// after twice as long each time, at most `probe_cap`.
  duration probe_base = std::chrono::milliseconds{500};
  duration probe_cap = std::chrono::seconds{15};
  fault_hook faults{};  ///< of tests
};

/// The actors of a run, linked to each other, each introduced to its peers.
run_peers spawn_run(caf::actor_system& system, const run_spec_ptr& spec,
                    run_start start, const std::shared_ptr<run_work>& work,
                    const run_registry_actor& registry,
                    const registry_setup& setup);

run_registry_actor spawn_run_registry(caf::actor_system& system,
                                      registry_setup setup);

}  // namespace riffle
