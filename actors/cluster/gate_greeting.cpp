// SPDX-License-Identifier: MIT
// How gates greet each other, or refuse to.
#include <algorithm>
#include <utility>

#include "actors/cluster/cluster_gate.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle {

namespace {

constexpr const char* of_greeting = "cluster";

}  // namespace

std::optional<std::string> cluster_gate_state::problem_of(
    const cluster::hello& x) const {
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
  // Calls are given by name, so who takes some shares it with nobody.
  const bool takes_calls = !setup.offers.empty();
  if (takes_calls && is_twin(x)) return both_called(x.name);
  return {};
}

void cluster_gate_state::on(cluster::hello& x) {
  auto* from = sender();
  if (from == nullptr) {  // the peer dialled
    if (!self->current_sender()) return;
    from = &add_link(caf::actor_cast<caf::actor>(self->current_sender()), {});
  }
  auto& [number, at] = *from;
  heard(at);
  if (auto why = problem_of(x)) {
    if (at.at == phase::greeting) at.who.instance = x.instance;
    return refuse(number, *why);
  }
  const bool answer = at.address.empty() && at.at == phase::greeting;
  if (at.at == phase::joined) {
    if (at.who.epoch == x.epoch) return;
    leave(at, "it began anew", true);  // it ended what it had
  }
  at.who = std::move(x);
  if (answer) greet(at);
  join(at);
}

/// What is run for the other ends before it may hold that it has ended, also
/// where its times are shorter than ours.
void cluster_gate_state::on(const cluster::terms& x) {
  auto* from = sender();
  if (from == nullptr || !host) return;
  auto& [number, at] = *from;
  const auto span = std::min(setup.orphan_after,
                             x.orphan_after + x.kill_grace - setup.host_grace);
  if (span < setup.watch.timeout)
    return refuse(number,
                  "it settles what a node had after " + in_ms(x.orphan_after) +
                      " (cluster.orphan_after) and " + in_ms(x.kill_grace) +
                      " (tools.kill_grace), and calls on " + setup.me.name +
                      " may take " + in_ms(setup.host_grace) +
                      " from SIGTERM to their end (kill_grace): raise the "
                      "first, or lower the last");
  if (std::exchange(at.orphan_after, span) != span && at.at == phase::joined)
    begin_lease(at);
}

/// Dials again and again, and so is refused.
std::string cluster_gate_state::key_of(const link& x) {
  return x.address.empty() ? x.who.instance : x.address;
}

bool cluster_gate_state::tells_refusal(const link& x, const std::string& why) {
  constexpr std::size_t most_told = 256;
  if (told_refusals.size() >= most_told) told_refusals.clear();
  return std::exchange(told_refusals[key_of(x)], why) != why;
}

void cluster_gate_state::refuse(link_number number, const std::string& why) {
  auto& x = links.at(number);
  const auto text = (x.address.empty() ? "a process at the cluster's port"
                                       : "the process at " + x.address) +
                    " is refused: " + why;
  self->send(x.peer, cluster::refusal{why});
  const bool told = tells_refusal(x, why);
  if (told)
    log_warn(of_greeting, text + "; if it comes again, it is not told again");
  else
    log_debug(of_greeting, text);
  drop(number, why, ending::refused);
}

void cluster_gate_state::on(const cluster::refusal& x) {
  auto* from = sender();
  if (from == nullptr) return;
  const auto& at = from->second;
  const auto text = (at.address.empty() ? named(at.who) : at.address) +
                    " refuses this process: " + x.reason;
  if (tells_refusal(at, x.reason))
    log_error(of_greeting, text + "; it is tried again and again");
  else
    log_debug(of_greeting, text);
  drop(from->first, x.reason, ending::refused);
}

void cluster_gate_state::join(link& x) {
  x.at = phase::joined;
  x.wish.reset();
  x.watch.restart(now());
  begin_lease(x);
  count(x, true);
  measure_node("joined", x.who);
  lost_nodes.erase(x.who.name);
  if (const auto plan = targets.find(x.address); plan != targets.end())
    plan->second.on_joined();
  const auto text = named(x.who) + " has joined (epoch " +
                    std::to_string(x.who.epoch) + ", Riffle " + x.who.program +
                    ")";
  if (x.who.observer || told_refusals.contains(key_of(x)))
    log_debug(of_greeting, text);
  else
    log_info(of_greeting, text);
  offer_to(x);
  tell_nodes();
}

}  // namespace riffle
