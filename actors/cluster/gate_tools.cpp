// SPDX-License-Identifier: MIT
// The tools of nodes: a pool for each, while its node is there.
#include <algorithm>
#include <utility>

#include "actors/cluster/cluster_gate.hpp"
#include "messages/duration_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle {

namespace {

constexpr const char* cluster_op = "cluster";

/// What joins and leaves under a name of its own each time fills no memory.
constexpr std::size_t most_lost = 64;
constexpr int most_pools_failed = 3;  ///< of a link
constexpr std::size_t most_counted = 256;

/// So long after one has said what it has, an address whose host does not
/// answer at all keeps no run back: what is there takes connections at once.
constexpr auto silence_of_hosts = std::chrono::milliseconds{250};

/// Then each run here knows the new pool of a tool.
constexpr auto known_to_all = std::chrono::milliseconds{100};

}  // namespace

/// Of what nodes do; nobody asks how often an observer looks.
void cluster_gate_state::measure_node(std::string_view event,
                                      const cluster::hello& x) {
  if (x.observer) return;
  const bool own =
      counted_names.contains(x.name) || (counted_names.size() < most_counted &&
                                         counted_names.insert(x.name).second);
  measure(metric::node_events, 1,
          {{metric_key::node_event, event},
           {metric_key::node_name, own ? std::string_view{x.name} : "others"}});
}

/// It has said what it has, or did not answer.
bool cluster_gate_state::is_known(const std::string& address,
                                  const core::dial_plan& plan) const {
  if (plan.failures() > 0) return true;
  const auto leads_there = [&](const link& x) {
    return x.address == address ||
           std::ranges::find(x.also, address) != x.also.end();
  };
  const auto to = std::ranges::find_if(
      links, [&](const auto& x) { return leads_there(x.second); });
  if (to != links.end()) return to->second.offered;
  return first_offer && now() >= *first_offer + silence_of_hosts &&
         !connected.contains(address);
}

void cluster_gate_state::tell_if_known() {
  if (!setup.on_known) return;
  if (std::ranges::all_of(targets, [this](const auto& x) {
        return is_known(x.first, x.second);
      }))
    std::exchange(setup.on_known, {})();
}

/// Whoever joins itself would be its own origin.
void cluster_gate_state::on_own_address(const std::string& address) {
  log_warn(cluster_op,
           address +
               " (cluster.join) leads to this process itself: it is left "
               "out; give the addresses of others");
  targets.erase(address);
  tell_if_known();
}

std::string cluster_gate_state::both_called(const std::string& name) {
  return "both are called `" + name + "`; set cluster.name";
}

bool cluster_gate_state::is_twin(const cluster::hello& x) const {
  return x.name == setup.me.name && x.instance != setup.me.instance;
}

/// Of one that offers something.
std::optional<std::string> cluster_gate_state::name_problem_of(
    const link& from) const {
  const auto& x = from.who;
  if (is_twin(x)) return both_called(x.name);
  for (const auto& [number, other] : links)
    if (&other != &from && other.at == phase::joined && !other.tools.empty() &&
        other.who.name == x.name && other.who.instance != x.instance)
      return "another process is called `" + x.name +
             "`, and is here; set cluster.name";
  return {};
}

/// Also that there is nothing: then the peer waits for no more.
void cluster_gate_state::offer_to(const link& x) {
  cluster::offers out;
  out.draining = draining;
  if (!draining) out.tools = setup.offers;
  self->send(x.peer, std::move(out));
}

void cluster_gate_state::on(cluster::offers& x) {
  auto* from = sender();
  if (from == nullptr || from->second.at != phase::joined) return;
  auto& [number, at] = *from;
  at.is_node = at.is_node || !x.tools.empty();
  if (x.draining)
    for (auto& [other, asks] : links)
      if (asks.drains == at.who.name) asks.drained = true;
  if (!setup.spawn_pool) return;
  if (!x.tools.empty())
    if (const auto why = name_problem_of(at)) return refuse(number, *why);
  const bool was_draining = std::exchange(at.draining, x.draining);
  leave(at, x.draining ? "drained" : "changed", false);
  for (const auto& offer : x.tools) add_tool(number, at, offer);
  at.offered = true;
  if (!first_offer && !x.tools.empty()) first_offer = now();
  if (x.draining && !was_draining) {
    log_info(cluster_op, "node " + at.who.name +
                             " is drained: it takes no more calls (epoch " +
                             std::to_string(at.who.epoch) + ")");
    measure_node("drained", at.who);
  }
  tell_tools();
  tell_nodes();
  tell_if_known();
}

void cluster_gate_state::add_tool(link_number number, link& x,
                                  const cluster::tool_offer& offer) {
  if (setup.refuses)
    if (const auto why = setup.refuses(offer)) {
      const auto text = "the tool `" + offer.name + "` of node " + x.who.name +
                        " is not used";
      if (why->empty()) {  // as most often: a node has the usual tools, too
        log_debug(cluster_op, text + ": this process has it itself");
      } else {
        log_warn(cluster_op, text + ": " + *why);
        setup.board->add_unused(x.who.name, offer.name, *why);
        x.unused = true;
      }
      return;
    }
  auto pool = make_pool(number, x, offer);
  if (!pool) return;
  x.tools[offer.name] = {offer, pool};
  setup.tell_pool({pool_key(offer.name, x.who.name), pool});
  setup.board->add(x.who.name, x.who.labels, offer.name,
                   std::max(offer.places, 1U));
  for (auto& one : held)
    if (one.name == offer.name && one.node == x.who.name && !one.back) {
      one.back = true;
      one.until = now() + known_to_all;
    }
}

tool_pool_actor cluster_gate_state::make_pool(
    link_number number, const link& x, const cluster::tool_offer& offer) {
  remote_setup remote;
  remote.gate = caf::actor_cast<caf::actor>(self);
  remote.link = number;
  remote.epoch = x.who.epoch;
  remote.node = x.who.name;
  remote.tool = offer.name;
  remote.places = std::max(offer.places, 1U);
  remote.board = setup.works;
  remote.make_token = setup.make_token;
  remote.keep_piece = setup.keep_piece;
  const auto pool = setup.spawn_pool(
      offer.name, x.who.name, [remote](tool_pool_actor::pointer me) {
        auto worker = me->system().spawn(remote_worker, remote,
                                         caf::actor_cast<tool_pool_actor>(me));
        me->monitor(worker);
        return caf::actor_cast<tool_worker_actor>(worker);
      });
  if (!pool) return {};
  self->monitor(pool);
  pools.insert_or_assign(pool.address(),
                         node_pool{pool, offer.name, x.who.name, number});
  return pool;
}

/// Who gets the calls of that tool and node, if this pool is dead.
tool_pool_actor cluster_gate_state::pool_beside(const node_pool& x) const {
  for (const auto& [number, at] : links)
    if (at.who.name == x.node)
      if (const auto tool = at.tools.find(x.tool);
          tool != at.tools.end() && tool->second.pool != x.pool)
        return tool->second.pool;
  for (const auto& one : held)
    if (one.name == x.tool && one.node == x.node && one.pool != x.pool)
      return one.pool;
  return {};
}

/// Another one takes its place, as for a tool of this process; a link whose
/// pools fail again and again begins anew.
void cluster_gate_state::on_pool_down(const node_pool& x,
                                      const std::string& why) {
  const auto key = pool_key(x.tool, x.node);
  const auto died = x.pool.address();
  const auto i = links.find(x.link);
  const bool used = i != links.end() && i->second.tools.contains(x.tool) &&
                    i->second.tools.at(x.tool).pool == x.pool;
  if (!used) {  // it was about to end
    end_hold_of(x);
    return setup.tell_pool({key, pool_beside(x), why, died});
  }
  auto& at = i->second;
  const bool again = ++at.pools_failed <= most_pools_failed;
  log_error(cluster_op, "the worker pool of `" + x.tool + "` of node " +
                            x.node + " failed" +
                            (again ? " and is replaced: " : ": ") + why);
  if (!again) {
    setup.tell_pool({key, {}, why, died});
    fence(x.link, at, "has tools whose worker pool fails here");
    return end_hold_of(x);
  }
  auto& tool = at.tools.at(x.tool);
  tool.pool = make_pool(x.link, at, tool.offer);
  setup.tell_pool({key, tool.pool, why, died});
}

void cluster_gate_state::end_hold_of(const node_pool& x) {
  const auto ended = std::erase_if(
      held, [&](const held_tool& one) { return one.pool == x.pool; });
  if (ended > 0) setup.board->end_hold(x.node, x.tool);
}

/// No call of ours begins there any more. `lost`: nor does any come back; but
/// for the only place of a tool what has not begun waits for a while.
void cluster_gate_state::leave(link& x, const std::string& why, bool lost) {
  const bool waits = lost && !x.tokens.empty();  // what a drained one still has
  // Who offered nothing may have the name of a node.
  const bool unused = std::exchange(x.unused, false);
  std::set<std::string> to_hold;
  if (unused || !x.tools.empty())
    to_hold = setup.board->remove(x.who.name, why,
                                  lost && setup.join_timeout > duration{});
  if (!to_hold.empty())
    log_info(cluster_op, "calls that have not begun wait for node " +
                             x.who.name + ", " +
                             duration_text(setup.join_timeout) +
                             " at most (cluster.join_timeout)");
  if (x.tools.empty() && !waits) return;
  const auto workers = std::exchange(x.tokens, {});
  for (auto& [tool, at] : std::exchange(x.tools, {})) {
    if (!to_hold.contains(tool)) {
      close(tool, x.who.name, at.pool, why);
      continue;
    }
    self->send(at.pool, close_pool{why, true});
    held.push_back(
        {tool, x.who.name, why, at.pool, now() + setup.join_timeout});
  }
  if (!lost) {
    x.tokens = workers;  // what runs is answered
    return;
  }
  std::map<caf::actor_addr, caf::actor> told;
  for (const auto& [token, worker] : workers)
    told.emplace(worker.address(), worker);
  const auto may_act =
      setup.orphan_after + setup.kill_grace + setup.watch.heartbeat;
  for (const auto& [address, worker] : told)
    self->send(worker, link_lost{why, may_act});
  std::erase(lost_order, x.who.name);
  lost_order.push_back(x.who.name);
  auto& gone = lost_nodes[x.who.name];
  gone.name = x.who.name;
  gone.state = "lost";
  gone.program = x.who.program;
  gone.labels = x.who.labels;
  gone.since_ms = x.who.since_ms;
  forget_the_oldest_lost();
  tell_tools();
}

void cluster_gate_state::close(const std::string& tool, const std::string& node,
                               const tool_pool_actor& pool,
                               const std::string& why) {
  setup.tell_pool({pool_key(tool, node), {}});
  self->send(pool, close_pool{"the node " + node + " left: " + why});
}

/// Of tools whose node is back, or was waited for long enough.
void cluster_gate_state::end_holds() {
  std::erase_if(held, [this](const held_tool& x) {
    if (now() < x.until) return false;
    if (x.back) {
      self->send(x.pool, close_pool{"the node " + x.node + " is back"});
      return true;
    }
    setup.board->end_hold(x.node, x.name);
    close(x.name, x.node, x.pool, x.why);
    return true;
  });
}

void cluster_gate_state::forget_the_oldest_lost() {
  // Those that are back stand there as well.
  std::erase_if(lost_order,
                [&](const auto& name) { return !lost_nodes.contains(name); });
  while (lost_order.size() > most_lost) {
    lost_nodes.erase(lost_order.front());
    lost_order.pop_front();
  }
}

void cluster_gate_state::tell_tools() {
  if (!setup.on_tools) return;
  std::vector<cluster::tool_offer> all;
  for (const auto& [number, x] : links)
    for (const auto& [name, tool] : x.tools) all.push_back(tool.offer);
  setup.on_tools(all);
}

/// As this process knows them. Not alone nodes: all that joined.
std::vector<node_view> cluster_gate_state::views(bool nodes_alone) const {
  std::vector<node_view> all;
  for (const auto& [number, x] : links) {
    if (x.at == phase::greeting || x.who.observer) continue;
    if (nodes_alone && !x.is_node) continue;
    all.push_back({x.who.name,
                   x.at == phase::fenced ? "lost"
                   : x.draining          ? "draining"
                                         : "up",
                   x.who.program, x.who.labels, x.loads, x.watch.round_trip(),
                   x.who.since_ms});
  }
  for (const auto& [name, x] : lost_nodes)
    if (std::ranges::find(all, name, &node_view::name) == all.end())
      all.push_back(x);
  return all;
}

void cluster_gate_state::tell_nodes() {
  if (setup.on_nodes) setup.on_nodes(views(false));
}

}  // namespace riffle
