// SPDX-License-Identifier: MIT
#include "runtime/node/cluster_observer.hpp"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/config/cluster_checks.hpp"
#include "runtime/node/cluster_part.hpp"

namespace riffle {

namespace {

/// What is known so far; the observer fills it in, the caller waits for it.
struct picture {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<observed_node> nodes;
  std::size_t open = 0;  ///< addresses that have not answered

  void settle(const std::function<void()>& change, bool done) {
    const std::lock_guard lock{mutex};
    change();
    if (done && open > 0) --open;
    changed.notify_all();
  }
};

struct observer_state {
  static inline const char* name = "cluster_observer";

  struct peer {
    std::size_t place = 0;
    caf::actor gate;
    time_point asked{};
    bool told_to_drain = false;
    bool closed = false;
  };
  std::map<caf::actor_addr, peer> peers;
  std::shared_ptr<picture> seen;
  std::map<std::string, std::size_t> places;

  peer* find(const caf::strong_actor_ptr& who) {
    if (!who) return nullptr;
    const auto i = peers.find(who->address());
    return i == peers.end() ? nullptr : &i->second;
  }
  void close(peer& x, const std::string& problem) {
    if (std::exchange(x.closed, true)) return;
    seen->settle([&] { seen->nodes[x.place].problem = problem; }, true);
  }
};

using observer = caf::stateful_actor<observer_state>;

struct what_to_drain {
  bool any = false;
  std::string through;  ///< empty: whoever is asked
};

void on_dialed(observer* self, const dialed& x, const cluster::hello& me) {
  auto& st = self->state;
  const auto place = st.places.at(x.address);
  if (!x.gate)
    return st.seen->settle([&] { st.seen->nodes[place].problem = x.problem; },
                           true);
  auto gate = caf::actor_cast<caf::actor>(x.gate);
  if (!st.peers.emplace(gate.address(), observer_state::peer{place, gate, {}})
           .second)
    return st.seen->settle([&] { st.seen->nodes[place].again = true; }, true);
  self->monitor(gate);
  self->send(gate, me);
}

/// What the process says of the node that shall end, which may be itself.
std::string state_in(const cluster::status& x, const std::string& through) {
  if (through.empty()) return x.state;
  const auto found =
      std::ranges::find(x.nodes, through, &cluster::node_status::name);
  return found == x.nodes.end() ? "gone" : found->state;
}

void on_status(observer* self, cluster::status& x, const what_to_drain& drain) {
  constexpr auto between_looks = std::chrono::milliseconds{20};
  auto& st = self->state;
  auto* from = st.find(self->current_sender());
  if (from == nullptr || from->closed) return;
  const bool is_node = !drain.through.empty() || !x.loads.empty();
  const auto state = state_in(x, drain.through);
  st.seen->settle([&] { st.seen->nodes[from->place].status = std::move(x); },
                  false);
  // Its own word alone counts: who is silent goes on when it is heard again.
  if (!drain.any || (state == "draining" && from->told_to_drain))
    return st.close(*from, "");
  if (state == "lost" || state == "gone")
    return st.close(*from, (drain.through.empty() ? "it" : drain.through) +
                               " is " + state + ": it did not hear it");
  if (!is_node) return st.close(*from, "it is no node: it offers no tools");
  if (!std::exchange(from->told_to_drain, true))
    self->send(from->gate, cluster::ask_drain{drain.through});
  self->delayed_send(from->gate, between_looks, cluster::ask_status{});
}

caf::behavior observe_peers(observer* self, std::shared_ptr<picture> seen,
                            cluster::hello me, const what_to_drain& drain) {
  auto& st = self->state;
  st.seen = std::move(seen);
  for (std::size_t i = 0; i < st.seen->nodes.size(); ++i)
    st.places[st.seen->nodes[i].address] = i;
  // CAF prints what nobody expects on standard output, where the answer stands.
  self->set_default_handler(caf::drop);
  self->set_down_handler([&st](const caf::down_msg& x) {
    if (const auto i = st.peers.find(x.source); i != st.peers.end())
      st.close(i->second, "the connection ended");
  });
  return {
      [self, me](const dialed& x) { on_dialed(self, x, me); },
      [self, &st](const cluster::hello& x) {
        auto* from = st.find(self->current_sender());
        if (from == nullptr) return;
        st.seen->settle([&] { st.seen->nodes[from->place].who = x; }, false);
        from->asked = std::chrono::steady_clock::now();
        self->send(from->gate, cluster::ping{1});
      },
      [self, &st, drain](const cluster::offers& x) {
        auto* from = st.find(self->current_sender());
        if (from == nullptr) return;
        st.seen->settle([&] { st.seen->nodes[from->place].offered = x; },
                        false);
        if (from->told_to_drain && x.draining && drain.through.empty())
          st.close(*from, "");
      },
      [self](const cluster::ping& x) { return cluster::pong{x.number, {}}; },
      [self, &st](const cluster::pong&) {
        auto* from = st.find(self->current_sender());
        if (from == nullptr) return;
        const auto took = std::chrono::steady_clock::now() - from->asked;
        st.seen->settle([&] { st.seen->nodes[from->place].round_trip = took; },
                        false);
        self->send(from->gate, cluster::ask_status{});
      },
      [self, drain](cluster::status& x) { on_status(self, x, drain); },
      [self, &st](const cluster::refusal& x) {
        if (auto* from = st.find(self->current_sender()))
          st.close(*from, "it refuses this process: " + x.reason);
      },
  };
}

struct observer_config : caf::actor_system_config {
  explicit observer_config(const cluster::net_options& net) {
    register_cluster(*this);
    cluster::prepare(*this, net);
    set("scheduler.max-threads", std::size_t{1});
  }
};

/// Nodes that nobody was asked about, but that somebody has who was asked.
void add_others(std::vector<observed_node>& all) {
  std::erase_if(all, [](const observed_node& x) { return x.again; });
  std::vector<observed_node> more;
  const auto has = [](const auto& some, const std::string& name) {
    return std::ranges::any_of(some, [&](const observed_node& x) {
      return x.problem.empty() && x.who.name == name;
    });
  };
  for (const auto& one : all)
    for (const auto& x : one.status.nodes) {
      if (has(all, x.name) || has(more, x.name)) continue;
      observed_node out;
      out.via = one.who.name;
      out.address = one.address;
      out.who.name = x.name;
      out.who.program = x.program;
      out.who.labels = x.labels;
      out.who.since_ms = x.since_ms;
      out.status.state = x.state;
      out.status.loads = x.loads;
      if (x.round_trip > duration{}) out.round_trip = x.round_trip;
      more.push_back(std::move(out));
    }
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

expected<std::vector<observed_node>> observe(const config::config& config,
                                             const observation& how) {
  auto options = net_options_of(config);
  if (!options) return unexpected{std::move(options.error())};
  options->dial_limit = std::min(options->dial_limit, how.limit);
  auto seen = std::make_shared<picture>();
  for (const auto& address : how.addresses) {
    observed_node one;
    one.address = address;
    one.problem = "it did not answer in time";
    seen->nodes.push_back(std::move(one));
  }
  seen->open = seen->nodes.size();
  observer_config settings{*options};
  caf::actor_system system{settings};
  {
    cluster::net net{system, *options};
    auto who =
        system.spawn(observe_peers, seen, hello_of(config, how.program, true),
                     what_to_drain{how.drain, how.through});
    for (const auto& address : how.addresses) {
      const auto [host, port] = config::split_address(address);
      net.dial(host, port,
               [who, address](caf::strong_actor_ptr found,
                              const std::string& problem) {
                 caf::anon_send(who,
                                dialed{address, std::move(found), problem});
               });
    }
    std::unique_lock lock{seen->mutex};
    seen->changed.wait_for(lock, how.limit, [&] { return seen->open == 0; });
    lock.unlock();
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
  }
  const std::lock_guard lock{seen->mutex};
  add_others(seen->nodes);
  return std::move(seen->nodes);
}

}  // namespace riffle
