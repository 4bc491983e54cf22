// SPDX-License-Identifier: MIT
// What calls need between processes, and the gate's behaviour.
#include "actors/cluster/cluster_gate.hpp"

#include <utility>

#include "actors/end_reason.hpp"
#include "actors/handler.hpp"
#include "messages/duration_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle {

namespace {

constexpr const char* cluster_op = "cluster";

}  // namespace

/// From a node: to the worker that gave the call under this token, if the epoch
/// is the one that we know, and the token was given to this very node.
template <class X>
void cluster_gate_state::to_worker(const cluster::tag& tag, X& x) {
  auto* from = sender();
  if (from == nullptr) return;
  auto& at = from->second;
  heard(at);
  const auto worker = at.tokens.find(tag.token);
  if (at.at == phase::joined && tag.epoch == at.who.epoch &&
      worker != at.tokens.end())
    return self->send(worker->second, tag, std::move(x));
  ++late;
  ++at.dropped;
  measure_node("late_answer", at.who);
  log_info(cluster_op,
           "an answer of node " + at.who.name +
               " came too late or was not asked for, and is dropped (" +
               std::to_string(late) + " so far)");
  if (at.at == phase::fenced)
    self->send(at.peer, cluster::fenced{at.who.epoch});
}

/// From an origin: to what runs calls here.
template <class X>
void cluster_gate_state::to_host(const cluster::tag& tag, X& x) {
  auto* from = sender();
  if (from == nullptr || !host) return;
  auto& [number, at] = *from;
  heard(at);
  if (at.at != phase::joined || at.who.observer || tag.epoch != at.our_epoch ||
      at.origin_gone) {
    if constexpr (std::is_same_v<X, work::assignment>) {
      work::done back{x.call.id, x.attempt};
      back.result.how = outcome::failed;
      back.result.err = error{errc::tool_unavailable, cluster_op,
                              "its node had given up on this process", true};
      back.last_progress = 0;
      back.moved = true;
      self->send(at.peer, tag, std::move(back));
    }
    return;
  }
  self->send(host, from_origin{number, tag, at.lease,
                               caf::make_message(std::move(x))});
}

template <class X>
void cluster_gate_state::on(const cluster::tag& tag, X& x) {
  constexpr bool of_origin =
      std::is_same_v<X, work::assignment> || std::is_same_v<X, work::stop> ||
      std::is_same_v<X, work::ack> || std::is_same_v<X, cluster::piece_ack>;
  if constexpr (of_origin)
    to_host(tag, x);
  else
    to_worker(tag, x);
}

/// Who was stopped, or whose machine was, heard nobody: that is no fault of
/// theirs. They may have given up on this process meanwhile.
void cluster_gate_state::note_standstill() {
  const auto last = std::exchange(ticked, now());
  if (!last || now() - *last < setup.watch.timeout / 2) return;
  stood_still = now() - *last;
  went_on = now();
  log_warn(cluster_op,
           "this process stood still for " +
               duration_text(
                   std::chrono::floor<std::chrono::milliseconds>(stood_still)) +
               " (it was stopped, or its machine was): others may have "
               "given up on it");
}

bool cluster_gate_state::stood_still_just_now() const {
  return stood_still > duration{} && now() < went_on + setup.watch.heartbeat;
}

void cluster_gate_state::on(to_peer& x) {
  const auto i = links.find(x.link);
  if (i != links.end()) self->send(i->second.peer, std::move(x.content));
}

void cluster_gate_state::on(give_call& x) {
  auto worker = caf::actor_cast<caf::actor>(self->current_sender());
  const auto i = links.find(x.link);
  if (i == links.end() || i->second.at != phase::joined ||
      i->second.who.epoch != x.tag.epoch)
    return self->send(worker, call_refused{x.tag.token, "its node has left"});
  i->second.tokens.insert_or_assign(x.tag.token, std::move(worker));
  self->send(i->second.peer, std::move(x.tag), std::move(x.what));
}

void cluster_gate_state::on(const drop_token& x) {
  if (const auto i = links.find(x.link); i != links.end())
    i->second.tokens.erase(x.token);
}

void cluster_gate_state::on(host_load& x) {
  loads = std::move(x.loads);
  hosted = x.calls;
  if (draining && hosted == 0) end_when_heard();
}

/// What runs no more was told to its origins, and that it is drained to who
/// asked for that; the process may end once they have heard it: a pong comes
/// behind it.
void cluster_gate_state::end_when_heard() {
  if (std::exchange(drained, true)) return;
  for (const auto& [number, x] : links) {
    if (x.at != phase::joined) continue;
    last_words[number] = ++last_ping;
    self->send(x.peer, cluster::ping{last_ping});
  }
  if (last_words.empty() && setup.on_drained) setup.on_drained();
}

void cluster_gate_state::on(const cluster::ask_status&) {
  auto* from = sender();
  if (from == nullptr || from->second.at != phase::joined) return;
  cluster::status out;
  out.state = draining ? "draining" : "up";
  out.loads = loads;
  for (const auto& [number, x] : links)
    if (x.at == phase::joined && !x.who.observer && !x.is_node)
      out.origins.push_back(x.who.name);
  for (auto& x : views(true))
    out.nodes.push_back({x.name, x.state, x.program, x.labels, x.loads,
                         x.round_trip.value_or(duration{}), x.since_ms});
  // It may have ended since, as it should: that is no loss.
  if (const auto& asked = from->second; asked.drained) {
    std::erase_if(out.nodes, [&](const cluster::node_status& y) {
      return y.name == asked.drains && y.state != "up";
    });
    out.nodes.push_back({.name = asked.drains, .state = "draining"});
  }
  self->send(from->second.peer, std::move(out));
}

/// A process that was stopped reads it late, when who asked has told somebody
/// that it failed: so it is obeyed once who asked still answers. Who has fenced
/// us says so before it answers.
void cluster_gate_state::on(const cluster::ask_drain& x) {
  auto* from = sender();
  if (from == nullptr || from->second.at != phase::joined) return;
  auto& at = from->second;
  at.wish = link::drain_wish{x.node, ++last_ping};
  at.watch.on_ping(last_ping, now());
  self->send(at.peer, cluster::ping{last_ping});
}

void cluster_gate_state::drain_as_asked(link& x) {
  const auto asked = std::exchange(x.wish, {})->node;
  if (asked.empty()) {
    if (setup.on_drain_asked) setup.on_drain_asked();
    return;
  }
  x.drains = asked;
  for (const auto& [number, node] : links)
    if (node.at == phase::joined && node.is_node && node.who.name == asked)
      self->send(node.peer, cluster::ask_drain{});
}

void cluster_gate_state::on(const begin_drain&) {
  if (std::exchange(draining, true)) return;
  log_info(cluster_op,
           "this node is drained: it takes no more calls, and ends when " +
               std::to_string(hosted) + " have ended");
  for (const auto& [number, x] : links)
    if (x.at == phase::joined) offer_to(x);
  if (host) self->send(host, begin_drain{});
  if (!host) end_when_heard();
}

namespace {

/// What no peer says: that it is gone, that it errs, that the gate is to end.
void handle_ends(caf::stateful_actor<cluster_gate_state>* self) {
  auto& st = self->state;
  self->set_down_handler(
      handle<const caf::down_msg>(self, "cluster_gate.down"));
  // What a peer does not understand comes back as an error, and what it should
  // not say is none of ours: neither ends the gate.
  self->set_error_handler([](caf::scheduled_actor*, caf::error& x) {
    log_debug(cluster_op, "a peer answers with an error: " + describe_end(x));
  });
  self->set_default_handler(caf::drop);
  self->set_exit_handler([&st](caf::exit_msg& x) {
    if (x.source && x.source.node() != st.self->node()) return;
    if (st.host) st.self->send_exit(st.host, x.reason);
    for (auto& [address, one] : st.pools)
      st.self->send_exit(one.pool, x.reason);
    st.self->quit(std::move(x.reason));
  });
}

}  // namespace

caf::behavior cluster_gate(caf::stateful_actor<cluster_gate_state>* self,
                           gate_setup setup) {
  auto& st = self->state;
  st.setup = std::move(setup);
  st.last_epoch = st.setup.first_epoch - 1;
  log_exceptions(self);
  if (st.setup.spawn_host) {
    st.host = st.setup.spawn_host(caf::actor_cast<caf::actor>(self));
    self->monitor(st.host);
  }
  for (const auto& address : st.setup.join)
    st.targets.emplace(address, core::dial_plan{});
  handle_ends(self);
  self->send(self, tick{});
  return {
      handle<const tick>(self, "cluster_gate.tick"),
      handle<dialed>(self, "cluster_gate.dialed"),
      handle<dial_connected>(self, "cluster_gate.dial_connected"),
      handle<cluster::hello>(self, "cluster_gate.hello"),
      handle<const cluster::terms>(self, "cluster_gate.terms"),
      handle<const cluster::refusal>(self, "cluster_gate.refusal"),
      handle<cluster::offers>(self, "cluster_gate.offers"),
      handle<const cluster::ping>(self, "cluster_gate.ping"),
      handle<cluster::pong>(self, "cluster_gate.pong"),
      handle<const cluster::fenced>(self, "cluster_gate.fenced"),
      handle<const cluster::tag, work::assignment>(self,
                                                   "cluster_gate.assignment"),
      handle<const cluster::tag, work::stop>(self, "cluster_gate.stop"),
      handle<const cluster::tag, work::ack>(self, "cluster_gate.ack"),
      handle<const cluster::tag, cluster::piece_ack>(self,
                                                     "cluster_gate.piece_ack"),
      handle<const cluster::tag, cluster::taken>(self, "cluster_gate.taken"),
      handle<const cluster::tag, work::started>(self, "cluster_gate.started"),
      handle<const cluster::tag, work::progress>(self, "cluster_gate.progress"),
      handle<const cluster::tag, work::done>(self, "cluster_gate.done"),
      handle<const cluster::tag, work::lost>(self, "cluster_gate.lost"),
      handle<const cluster::tag, cluster::piece>(self, "cluster_gate.piece"),
      handle<const cluster::ask_status>(self, "cluster_gate.ask_status"),
      handle<const cluster::ask_drain>(self, "cluster_gate.ask_drain"),
      handle<to_peer>(self, "cluster_gate.to_peer"),
      handle<give_call>(self, "cluster_gate.give_call"),
      handle<const deaf_node>(self, "cluster_gate.deaf_node"),
      handle<const drop_token>(self, "cluster_gate.drop_token"),
      handle<host_load>(self, "cluster_gate.host_load"),
      handle<const begin_drain>(self, "cluster_gate.begin_drain"),
      handle<const end_drain>(self, "cluster_gate.end_drain"),
  };
}

}  // namespace riffle
