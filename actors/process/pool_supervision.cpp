// SPDX-License-Identifier: MIT
// Worker pools that die: another one takes their place, and the
// dispatchers of all runs are told, which settle what the old one had.
#include <utility>

#include "actors/process/run_registry.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle {

namespace {

constexpr const char* run_registry_op = "run_registry";

}  // namespace

void run_registry_state::watch_pools() {
  for (const auto& [tool, pool] : setup.pools) {
    self->monitor(pool);
    tools_of.emplace(pool.address(), tool);
    pool_restarts.emplace(tool,
                          core::restart_policy{setup.supervision.intensity,
                                               setup.supervision.period});
  }
}

/// False: it was no pool.
bool run_registry_state::on_pool_down(const caf::down_msg& x) {
  const auto found = tools_of.extract(x.source);
  if (!found) return false;
  const auto& tool = found.mapped();
  const auto why = self->system().render(x.reason);
  setup.pools.erase(tool);
  if (pool_restarts.at(tool).allow(self->clock().now())) {
    log_error(run_registry_op, "the worker pool of `" + tool +
                                   "` failed and is replaced: " + why);
    replace_pool(tool, why);
    return true;
  }
  const auto text = "the worker pool of `" + tool +
                    "` failed too often: " + why + "; it is out of service";
  log_error(run_registry_op, text);
  measure(metric::open_breakers, 1, {{metric_key::tool, tool}});
  if (setup.on_service) setup.on_service(tool, text);
  for (auto& [id, run] : runs)
    self->send(run.peers.dispatcher, pool_replaced{tool, why, {}});
  self->delayed_send(self, setup.supervision.cool_down, revive_pool{tool});
  return true;
}

void run_registry_state::on(const revive_pool& x) {
  measure(metric::open_breakers, -1, {{metric_key::tool, x.tool}});
  replace_pool(x.tool, "it cooled down");
}

/// Without a pool its calls settle as `tool_unavailable`.
void run_registry_state::replace_pool(const std::string& tool,
                                      const std::string& why) {
  tool_pool_actor pool;
  if (setup.spawn_pool && !table.closing()) pool = setup.spawn_pool(tool);
  if (pool) {
    self->monitor(pool);
    tools_of.emplace(pool.address(), tool);
    setup.pools.emplace(tool, pool);
    if (setup.on_service) setup.on_service(tool, {});
  }
  for (auto& [id, run] : runs)
    self->send(run.peers.dispatcher, pool_replaced{tool, why, pool});
}

/// Its gate supervises it; here are only those who give calls to it.
void run_registry_state::on(const pool_of_node& x) {
  if (x.pool)
    setup.pools.insert_or_assign(x.key, x.pool);
  else
    setup.pools.erase(x.key);
  for (auto& [id, run] : runs)
    self->send(run.peers.dispatcher, pool_of_node{x});
}

}  // namespace riffle
