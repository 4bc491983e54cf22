// SPDX-License-Identifier: MIT
// How a gate finds its peers, greets them, and notices that they are gone.
#include <utility>

#include "actors/cluster/cluster_gate.hpp"
#include "actors/end_reason.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

constexpr const char* op = "cluster";

std::string named(const cluster::hello& x) {
  return x.name.empty() ? "a process" : "node " + x.name;
}

}  // namespace

std::pair<const link_number, cluster_gate_state::link>*
cluster_gate_state::sender() {
  const auto from = self->current_sender();
  if (!from) return nullptr;
  const auto number = by_peer.find(from->address());
  if (number == by_peer.end()) return nullptr;
  auto found = links.find(number->second);
  return found == links.end() ? nullptr : &*found;
}

// -- dialling -----------------------------------------------------------------

/// Each heartbeat, and at least ten times a second.
void cluster_gate_state::on_tick() {
  for (auto& [address, plan] : targets)
    if (!draining && plan.begin_if_due(now()))
      setup.dial(address, caf::actor_cast<caf::actor>(self));
  std::vector<link_number> all;
  all.reserve(links.size());
  for (const auto& [number, x] : links) all.push_back(number);
  for (const auto number : all)
    if (const auto i = links.find(number); i != links.end())
      watch_link(number, i->second);
  const auto next =
      std::min<duration>(setup.watch.heartbeat, std::chrono::milliseconds{100});
  self->delayed_send(self, next, tick{});
}

void cluster_gate_state::on_dialed(dialed& x) {
  auto& plan = targets[x.address];
  if (!x.gate) {
    plan.on_failed(now(), setup.random01());
    const auto text = "cannot reach " + x.address + ": " + x.problem;
    if (plan.failures() == 1)
      log_warn(op, text + "; it is tried again and again");
    else
      log_debug(op, text);
    return;
  }
  plan.on_linked();
  auto peer = caf::actor_cast<caf::actor>(x.gate);
  const auto known = by_peer.find(peer.address());
  if (known != by_peer.end()) {  // it has dialled us meanwhile
    links.at(known->second).address = x.address;
    return;
  }
  const auto number = ++last_link;
  self->monitor(peer);
  by_peer.emplace(peer.address(), number);
  auto& made =
      links
          .emplace(number, link{.peer = peer,
                                .address = x.address,
                                .watch = core::peer_watch{setup.watch, now()}})
          .first->second;
  greet(made);
}

void cluster_gate_state::greet(link& x) {
  auto me = setup.me;
  me.epoch = x.our_epoch;
  self->send(x.peer, std::move(me));
}

// -- greeting -----------------------------------------------------------------

std::optional<std::string> cluster_gate_state::problem_of(
    const cluster::hello& x, const link& from) const {
  if (x.version != cluster::version || x.work != work::version)
    return "it speaks version " + std::to_string(x.version) + "." +
           std::to_string(x.work) + " of the cluster's messages (Riffle " +
           x.program + "), this process " + std::to_string(cluster::version) +
           "." + std::to_string(work::version) + " (Riffle " +
           setup.me.program + "); run the same version on both";
  if (x.group != setup.me.group)
    return "it belongs to the group `" + x.group + "`, this process to `" +
           setup.me.group + "` (cluster.group)";
  if (x.observer || setup.me.observer) return {};
  if (x.name == setup.me.name && x.instance != setup.me.instance)
    return "both are called `" + x.name + "`; set cluster.name";
  for (const auto& [number, other] : links)
    if (&other != &from && other.at == phase::joined && !other.who.observer &&
        other.who.name == x.name && other.who.instance != x.instance)
      return "another process is called `" + x.name +
             "`, and is here; set cluster.name";
  return {};
}

void cluster_gate_state::on_hello(cluster::hello& x) {
  auto* from = sender();
  if (from == nullptr) {  // the peer dialled
    if (!self->current_sender()) return;
    auto peer = caf::actor_cast<caf::actor>(self->current_sender());
    const auto number = ++last_link;
    self->monitor(peer);
    by_peer.emplace(peer.address(), number);
    from = &*links
                 .emplace(number,
                          link{.peer = peer,
                               .watch = core::peer_watch{setup.watch, now()}})
                 .first;
  }
  auto& [number, at] = *from;
  heard(at);
  if (auto why = problem_of(x, at)) return refuse(number, *why);
  const bool answer = at.address.empty() && at.at == phase::greeting;
  if (at.at == phase::joined) {
    if (at.who.epoch == x.epoch) return;
    leave(at, "it began anew", true);  // it ended what it had
  }
  at.who = std::move(x);
  if (answer) greet(at);
  join(at);
}

void cluster_gate_state::refuse(link_number number, const std::string& why) {
  auto& x = links.at(number);
  log_warn(op, "a process at the cluster's port is refused: " + why);
  self->send(x.peer, cluster::refusal{why});
  drop(number, why);
}

void cluster_gate_state::on_refusal(const cluster::refusal& x) {
  auto* from = sender();
  if (from == nullptr) return;
  log_error(op, (from->second.address.empty() ? named(from->second.who)
                                              : from->second.address) +
                    " refuses this process: " + x.reason);
  drop(from->first, x.reason);
}

void cluster_gate_state::join(link& x) {
  x.at = phase::joined;
  x.origin_gone = false;
  x.lease = std::make_shared<tools::lease>(now() + setup.orphan_after);
  lost_nodes.erase(x.who.name);
  if (const auto plan = targets.find(x.address); plan != targets.end())
    plan->second.on_joined();
  if (!x.who.observer)
    log_info(op, named(x.who) + " has joined (epoch " +
                     std::to_string(x.who.epoch) + ", Riffle " + x.who.program +
                     ")");
  offer_to(x);
  tell_nodes();
}

// -- living -------------------------------------------------------------------

/// What we run for it may go on for a while.
void cluster_gate_state::heard(link& x) {
  x.watch.on_heard(now());
  if (x.lease && !x.origin_gone) x.lease->extend(now() + setup.orphan_after);
}

void cluster_gate_state::watch_link(link_number number, link& x) {
  if (x.watch.ping_due(now())) {
    x.watch.on_ping(++last_ping, now());
    self->send(x.peer, cluster::ping{last_ping});
  }
  if (!x.origin_gone && host && now() - x.watch.heard() >= setup.orphan_after)
    end_origin(number, x, "it is silent");
  if (!x.watch.is_silent(now())) return;
  if (x.at == phase::greeting) return drop(number, "it does not answer");
  if (x.at == phase::joined) fence(x);
}

/// Asked by whoever it is, also one that is fenced: what it had here it knows
/// to be gone only when it is told.
void cluster_gate_state::on_ping(const cluster::ping& x) {
  auto* from = sender();
  if (from == nullptr) return;
  auto& at = from->second;
  heard(at);
  if (at.at == phase::fenced)
    self->send(at.peer, cluster::fenced{at.who.epoch});
  self->send(at.peer, cluster::pong{x.number, loads});
}

void cluster_gate_state::on_pong(cluster::pong& x) {
  auto* from = sender();
  if (from == nullptr) return;
  auto& at = from->second;
  heard(at);
  at.watch.on_pong(x.number, now());
  if (const auto last = last_words.find(from->first);
      last != last_words.end() && x.number >= last->second) {
    last_words.erase(last);
    if (last_words.empty() && setup.on_drained) setup.on_drained();
  }
  if (at.at == phase::fenced)
    return self->send(at.peer, cluster::fenced{at.who.epoch});
  at.loads = std::move(x.loads);
  if (setup.board)
    for (const auto& load : at.loads)
      setup.board->set_load(at.who.name, load.tool,
                            load.running + load.waiting);
  tell_nodes();
}

/// Its silence lasted too long: what it answers from here on is dropped, until
/// it has greeted with another epoch.
void cluster_gate_state::fence(link& x) {
  log_error(op, named(x.who) + " is silent for " +
                    std::to_string(
                        std::chrono::duration_cast<std::chrono::milliseconds>(
                            now() - x.watch.heard())
                            .count()) +
                    " ms: fenced (epoch " + std::to_string(x.who.epoch) + ")");
  leave(x, "it is silent", true);
  x.at = phase::fenced;
  tell_nodes();
}

/// We were: what the peer gave us it has given up.
void cluster_gate_state::on_fenced(const cluster::fenced& x) {
  auto* from = sender();
  if (from == nullptr) return;
  auto& [number, at] = *from;
  if (x.epoch != at.our_epoch) return;  // told twice
  log_warn(op, named(at.who) + " had given up on this process (epoch " +
                   std::to_string(x.epoch) + "); it begins anew");
  end_origin(number, at, "it had given up on this process");
  ++at.our_epoch;
  at.origin_gone = false;
  greet(at);
}

void cluster_gate_state::end_origin(link_number number, link& x,
                                    const std::string& why) {
  x.origin_gone = true;
  if (host) self->send(host, origin_lost{number, why});
}

void cluster_gate_state::on_peer_down(const caf::down_msg& x) {
  if (pools.erase(x.source) > 0) return;
  const auto number = by_peer.find(x.source);
  if (number == by_peer.end()) return;
  drop(number->second, "the connection ended");
}

void cluster_gate_state::drop(link_number number, const std::string& why) {
  const auto found = links.find(number);
  if (found == links.end()) return;
  auto& x = found->second;
  const bool joined = x.at != phase::greeting && !x.who.observer;
  if (joined) log_warn(op, named(x.who) + " is gone: " + why);
  if (joined) leave(x, why, true);
  if (!x.origin_gone) end_origin(number, x, why);
  self->demonitor(x.peer);
  by_peer.erase(x.peer.address());
  if (const auto plan = targets.find(x.address); plan != targets.end())
    plan->second.on_failed(now(), setup.random01());
  links.erase(found);
  if (last_words.erase(number) > 0 && last_words.empty() && setup.on_drained)
    setup.on_drained();
  tell_nodes();
}

}  // namespace riffle
