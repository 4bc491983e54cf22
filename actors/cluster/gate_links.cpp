// SPDX-License-Identifier: MIT
// How a gate finds its peers, greets them, and notices that they are gone.
#include <algorithm>
#include <utility>

#include "actors/cluster/cluster_gate.hpp"
#include "actors/end_reason.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle {

namespace {

constexpr const char* cluster_op = "cluster";

/// What ends sooner after it began was crossed by a dial of its peer.
constexpr auto crossing = std::chrono::seconds{1};

std::string with_epoch(const cluster::hello& x) {
  return " (epoch " + std::to_string(x.epoch) + ")";
}

}  // namespace

std::string cluster_gate_state::named(const cluster::hello& x) {
  return x.name.empty() ? "a process" : "node " + x.name;
}

std::string cluster_gate_state::in_ms(duration x) {
  return std::to_string(
             std::chrono::duration_cast<std::chrono::milliseconds>(x).count()) +
         " ms";
}

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
void cluster_gate_state::on(const tick&) {
  note_standstill();
  for (auto& [address, plan] : targets)
    if (!draining && plan.begin_if_due(now()))
      setup.dial(address, caf::actor_cast<caf::actor>(self));
  std::vector<link_number> all;
  all.reserve(links.size());
  for (const auto& [number, x] : links) all.push_back(number);
  for (const auto number : all)
    if (const auto i = links.find(number); i != links.end())
      watch_link(number, i->second);
  end_holds();
  tell_if_known();
  const auto next =
      std::min<duration>(setup.watch.heartbeat, std::chrono::milliseconds{100});
  self->delayed_send(self, next, tick{});
}

void cluster_gate_state::on(dialed& x) {
  connected.erase(x.address);
  if (x.gate && x.gate->address() == self->address())
    return on_own_address(x.address);
  auto& plan = targets[x.address];
  if (!x.gate) {
    plan.on_failed(now(), setup.random01());
    const auto text = "cannot reach " + x.address + ": " + x.problem;
    if (plan.failures() == 1)
      log_warn(cluster_op, text + "; it is tried again and again");
    else
      log_debug(cluster_op, text);
    return tell_if_known();
  }
  plan.on_linked();
  auto peer = caf::actor_cast<caf::actor>(x.gate);
  const auto known = by_peer.find(peer.address());
  if (known != by_peer.end()) {  // it has dialled us, or has two addresses
    auto& link = links.at(known->second);
    if (link.address.empty())
      link.address = x.address;
    else
      link.also.push_back(x.address);
    return tell_if_known();
  }
  greet(add_link(std::move(peer), x.address).second);
}

std::pair<const link_number, cluster_gate_state::link>&
cluster_gate_state::add_link(caf::actor peer, std::string address) {
  const auto number = ++last_link;
  self->monitor(peer);
  by_peer.emplace(peer.address(), number);
  return *links
              .emplace(number,
                       link{.peer = std::move(peer),
                            .address = std::move(address),
                            .watch = core::peer_watch{setup.watch, now()},
                            .begun = now(),
                            .our_epoch = ++last_epoch,
                            .orphan_after = setup.orphan_after})
              .first;
}

void cluster_gate_state::greet(link& x) {
  auto me = setup.me;
  me.epoch = x.our_epoch;
  self->send(x.peer, std::move(me));
  self->send(x.peer, cluster::terms{setup.orphan_after, setup.kill_grace});
}

// -- living -------------------------------------------------------------------

void cluster_gate_state::heard(link& x) { x.watch.on_heard(now()); }

/// Of what it gives from here on. What it gave before goes by the lease that it
/// had, which nobody pushes on any more.
void cluster_gate_state::begin_lease(link& x) {
  x.origin_gone = false;
  x.lease = std::make_shared<tools::lease>(now() + x.orphan_after);
}

/// What we run for it may go on for a while: not from when it was heard, which
/// it may have said long ago, but from when that was asked which it answers.
void cluster_gate_state::on_confirmed(link& x) {
  const auto until = x.watch.confirmed() + x.orphan_after;
  if (!x.lease || until <= now()) return;
  if (x.origin_gone && x.at == phase::joined) return begin_lease(x);
  if (!x.origin_gone && until > x.lease->until()) x.lease->extend(until);
}

void cluster_gate_state::count(link& x, bool there) {
  if (x.who.observer || std::exchange(x.counted, there) == there) return;
  measure(metric::nodes, there ? 1 : -1, {});
}

void cluster_gate_state::watch_link(link_number number, link& x) {
  if (x.watch.ping_due(now())) {
    x.watch.on_ping(++last_ping, now());
    self->send(x.peer, cluster::ping{last_ping});
  }
  if (!x.origin_gone && host && x.lease && now() >= x.lease->until())
    end_origin(number, x, "it is silent");
  if (!x.watch.is_silent(now())) return;
  if (x.at == phase::greeting) return drop(number, "it does not answer");
  if (x.at == phase::joined) fence(number, x, {});
}

/// For its last words, at the end of this process.
void cluster_gate_state::wait_no_more(link_number number) {
  if (last_words.erase(number) > 0 && last_words.empty() && setup.on_drained)
    setup.on_drained();
}

/// Asked by whoever it is, also one that is fenced: what it had here it knows
/// to be gone only when it is told.
void cluster_gate_state::on(const cluster::ping& x) {
  auto* from = sender();
  if (from == nullptr) return;
  auto& at = from->second;
  heard(at);
  if (at.at == phase::fenced)
    self->send(at.peer, cluster::fenced{at.who.epoch});
  self->send(at.peer, cluster::pong{x.number, loads});
}

void cluster_gate_state::on(cluster::pong& x) {
  auto* from = sender();
  if (from == nullptr) return;
  auto& at = from->second;
  heard(at);
  at.watch.on_pong(x.number, now());
  on_confirmed(at);
  if (const auto last = last_words.find(from->first);
      last != last_words.end() && x.number >= last->second) {
    wait_no_more(from->first);
  }
  if (at.at == phase::fenced)
    return self->send(at.peer, cluster::fenced{at.who.epoch});
  // It has what was said at the greeting, and refuses nobody for that.
  if (at.at == phase::joined && told_refusals.erase(key_of(at)) > 0 &&
      !at.who.observer)
    log_info(cluster_op, named(at.who) +
                             " stays, which was refused or refused this " +
                             "process before" + with_epoch(at.who));
  if (at.wish && x.number >= at.wish->ping) drain_as_asked(at);
  at.loads = std::move(x.loads);
  if (setup.board)
    for (const auto& load : at.loads)
      setup.board->set_load(at.who.name, load.tool,
                            load.running + load.waiting);
  tell_nodes();
}

/// Its silence lasted too long: what it answers from here on is dropped, until
/// it has greeted with another epoch. It is told at once, for it may still
/// hear. `why`: it is not that silence.
void cluster_gate_state::fence(link_number number, link& x,
                               const std::string& why) {
  const auto silent = now() - x.watch.heard();
  const bool ours = why.empty() && stood_still_just_now();
  log_error(
      cluster_op,
      named(x.who) + " " +
          (ours           ? "was not heard while this process stood still"
           : !why.empty() ? why
           : silent >= setup.watch.timeout
               ? "is silent for " + in_ms(silent)
               : "answers nothing for " + in_ms(now() - x.watch.confirmed())) +
          ": fenced" + with_epoch(x.who));
  measure_node("fenced", x.who);
  count(x, false);
  leave(x,
        ours          ? "this process stood still"
        : why.empty() ? "it is silent"
                      : "it " + why,
        true);
  x.at = phase::fenced;
  self->send(x.peer, cluster::fenced{x.who.epoch});
  tell_nodes();
  wait_no_more(number);
}

/// A message was lost on a link that goes on: of a stream of bytes that
/// somebody changed.
void cluster_gate_state::on(const deaf_node& x) {
  const auto i = links.find(x.link);
  if (i == links.end() || i->second.at != phase::joined ||
      i->second.who.epoch != x.epoch)
    return;
  fence(x.link, i->second, "did not say that it has a call");
}

/// We were: what the peer gave us it has given up.
void cluster_gate_state::on(const cluster::fenced& x) {
  auto* from = sender();
  if (from == nullptr) return;
  auto& [number, at] = *from;
  if (x.epoch !=
      at.our_epoch) {  // told twice, or it has not heard our greeting
    if (x.epoch < at.our_epoch) greet(at);
    return;
  }
  log_warn(cluster_op, named(at.who) + " had given up on this process (epoch " +
                           std::to_string(x.epoch) + "); it begins anew");
  end_origin(number, at, "it had given up on this process");
  at.our_epoch = ++last_epoch;
  at.wish.reset();
  begin_lease(at);
  greet(at);
  // With the epoch it forgot the tools, and does not greet who is joined.
  if (at.at == phase::joined) offer_to(at);
}

void cluster_gate_state::end_origin(link_number number, link& x,
                                    const std::string& why) {
  x.origin_gone = true;
  if (host) self->send(host, origin_lost{number, why});
}

void cluster_gate_state::on(const caf::down_msg& x) {
  // Who takes no calls any more must not look alive.
  if (host && x.source == host.address())
    return self->quit(caf::make_error(caf::sec::runtime_error, "call_host",
                                      describe_end(x.reason)));
  if (const auto pool = pools.extract(x.source)) {
    const bool of_itself = !x.reason || x.reason == caf::exit_reason::normal;
    if (!of_itself) on_pool_down(pool.mapped(), describe_end(x.reason));
    return;
  }
  const auto number = by_peer.find(x.source);
  if (number == by_peer.end()) return;
  // A process that ends says so before it closes the connection.
  const bool said = x.reason == caf::exit_reason::user_shutdown;
  drop(number->second, said ? "it ended" : "the connection ended",
       said ? ending::left : ending::lost);
}

/// Who says that it ends is missed by nobody; who was refused before and comes
/// again is told of once.
void cluster_gate_state::log_gone(const link& x, const std::string& why,
                                  ending how) const {
  const auto who = named(x.who);
  if (how == ending::left)
    log_info(cluster_op, who + " has left: it ended" + with_epoch(x.who));
  else if (told_refusals.contains(key_of(x)) && how == ending::refused)
    log_debug(cluster_op, who + " is gone: " + why + with_epoch(x.who));
  else
    log_warn(cluster_op, who + " is gone: " + why + with_epoch(x.who));
}

void cluster_gate_state::drop(link_number number, const std::string& why,
                              ending how) {
  const auto found = links.find(number);
  if (found == links.end()) return;
  auto& x = found->second;
  const bool joined = x.at != phase::greeting && !x.who.observer;
  if (joined) {
    log_gone(x, why, how);
    measure_node(how == ending::left ? "left" : "lost", x.who);
    count(x, false);
    leave(x, why, true);
  }
  if (!x.origin_gone) end_origin(number, x, why);
  self->demonitor(x.peer);
  by_peer.erase(x.peer.address());
  // Both dialled at once, and each closed what the other had: the smaller name
  // dials, the other one waits for it.
  const bool crossed = now() - x.begun < crossing && setup.me.name > x.who.name;
  x.also.push_back(x.address);
  for (const auto& address : x.also)
    if (const auto plan = targets.find(address); plan != targets.end()) {
      if (how == ending::refused)
        plan->second.on_refused(now(), setup.random01());
      else
        plan->second.on_failed(now(), setup.random01(),
                               crossed ? 2 * crossing : duration{});
    }
  if (how != ending::refused) told_refusals.erase(key_of(x));
  links.erase(found);
  tell_if_known();
  wait_no_more(number);
  tell_nodes();
}

}  // namespace riffle
