// SPDX-License-Identifier: MIT
#include "actors/process/spawn.hpp"

#include <ranges>

#include "actors/cluster/node_board.hpp"
#include "actors/core/control_tools.hpp"
#include "actors/process/run_registry.hpp"
#include "actors/run/orchestrator.hpp"
#include "actors/run/plan_executor.hpp"
#include "actors/run/progress_muxer.hpp"
#include "actors/run/publisher.hpp"
#include "actors/run/stream_consumer.hpp"
#include "actors/run/tool_call_parser.hpp"
#include "actors/tools/dispatcher.hpp"
#include "actors/tools/proposal_tracker.hpp"
#include "actors/tools/tool_pool.hpp"

namespace riffle {

namespace {

turn_actors spawn_turn(caf::scheduled_actor* parent, const run_spec_ptr& spec,
                       core::open_turn turn, std::string body,
                       const run_peers& peers) {
  auto& system = parent->system();
  auto parser = system.spawn(tool_call_parser, spec, turn.step,
                             peers.dispatcher, peers.muxer);
  auto consumer = system.spawn(stream_consumer, spec, turn, std::move(body),
                               parser, peers.muxer);
  parent->link_to(parser);
  parent->link_to(consumer);
  return {std::move(consumer), std::move(parser)};
}

}  // namespace

session_store_actor spawn_session_store(
    caf::actor_system& system, placement where,
    std::shared_ptr<storage::journal> journal,
    std::shared_ptr<executor> blocking, guard_waiter wait_for_guard,
    fault_hook faults) {
  if (where.detach_store)
    return system.spawn<caf::detached>(
        session_store, std::move(journal), std::move(blocking),
        std::move(wait_for_guard), std::move(faults));
  return system.spawn(session_store, std::move(journal), std::move(blocking),
                      std::move(wait_for_guard), std::move(faults));
}

command_inbox_actor spawn_command_inbox(caf::actor_system& system,
                                        placement where, inbox_setup setup) {
  if (where.detach_store)
    return system.spawn<caf::detached>(command_inbox, std::move(setup));
  return system.spawn(command_inbox, std::move(setup));
}

pool_spawner make_pool_spawner(
    caf::actor_system& system,
    std::function<tools::tool_ptr(const std::string&)> find,
    config::tools_config settings, config::supervision_config supervision,
    worker_setup setup, health_listener on_service) {
  return [&system, find = std::move(find), settings = std::move(settings),
          supervision, setup = std::move(setup),
          on_service = std::move(on_service)](const std::string& name) {
    auto tool = find(name);
    if (!tool) return tool_pool_actor{};
    const auto& set = settings.of(name);
    auto own = setup;
    own.output_limit = set.output_limit;
    own.kill_grace = set.kill_grace;
    pool_limits limits;
    limits.concurrency = set.concurrency;
    limits.service = {supervision.intensity,
                      supervision.period,
                      {supervision.backoff_base, supervision.backoff_cap},
                      supervision.cool_down,
                      set.abandoned_limit};
    limits.on_service = on_service;
    limits.faults = setup.faults;
    auto spawn_worker = [tool = std::move(tool), setup = std::move(own)](
                            tool_pool_actor::pointer pool) {
      auto worker = pool->system().spawn(
          tool_worker, tool, setup, caf::actor_cast<tool_pool_actor>(pool));
      pool->monitor(worker);
      return worker;
    };
    return system.spawn(tool_pool, name, limits, std::move(spawn_worker));
  };
}

std::map<std::string, tool_pool_actor> spawn_pools(
    const tools::registry& registry, const pool_spawner& spawn_pool) {
  std::map<std::string, tool_pool_actor> pools;
  for (const auto& name : registry.names())
    if (!core::is_control_tool(name)) pools.emplace(name, spawn_pool(name));
  return pools;
}

run_peers spawn_run(caf::actor_system& system, const run_spec_ptr& spec,
                    run_start start, const std::shared_ptr<run_work>& work,
                    const run_registry_actor& registry,
                    const registry_setup& setup) {
  run_peers peers;
  peers.registry = registry;
  peers.inbox = setup.inbox;
  peers.pools = setup.pools;
  peers.work = work;
  peers.epoch = work->epoch();
  const auto& snapshot = *start.snapshot;
  if (spec->nodes)
    for (const auto& x : std::views::reverse(snapshot.session.calls))
      if (!x.call.node.empty())
        spec->nodes->remember(x.call.tool, spec->session, x.call.node);
  peers.publisher = system.spawn(publisher, spec, snapshot.last_seq,
                                 snapshot.run.attempt_seq);
  peers.muxer = system.spawn(progress_muxer, spec);
  peers.dispatcher = system.spawn(dispatcher, spec, snapshot.session.state);
  peers.tracker = system.spawn(proposal_tracker, spec, plan_tracker(snapshot));
  if (spec->plan)
    peers.orchestrator = caf::actor_cast<orchestrator_actor>(
        system.spawn(plan_executor, spec, std::move(start)));
  else
    peers.orchestrator = system.spawn(orchestrator, spec, std::move(start),
                                      turn_spawner{spawn_turn});
  const auto link = [&](const auto& actor) {
    auto* self = caf::actor_cast<caf::abstract_actor*>(peers.orchestrator);
    static_cast<caf::monitorable_actor*>(self)->link_to(actor);
    caf::anon_send(actor, run_peers{peers});
  };
  link(peers.publisher);
  link(peers.muxer);
  link(peers.dispatcher);
  link(peers.tracker);
  return peers;
}

run_registry_actor spawn_run_registry(caf::actor_system& system,
                                      registry_setup setup) {
  const auto inbox = setup.inbox;
  auto registry = system.spawn(run_registry, std::move(setup));
  run_peers peers;
  peers.registry = registry;
  caf::anon_send(inbox, std::move(peers));
  return registry;
}

}  // namespace riffle
