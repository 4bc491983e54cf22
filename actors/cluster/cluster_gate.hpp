// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "actors/cluster/node_board.hpp"
#include "actors/cluster/remote_worker.hpp"
#include "actors/cluster/wire.hpp"
#include "actors/core/peer_watch.hpp"
#include "actors/tools/tool_pool.hpp"

namespace riffle {

/// A node as this process knows it now.
struct node_view {
  std::string name;
  std::string state;  ///< up draining lost
  std::string program;
  std::vector<std::string> labels;
  std::vector<cluster::tool_load> loads;
  std::optional<duration> round_trip;
  std::int64_t since_ms = 0;  ///< its start, Unix time
};

struct gate_setup {
  cluster::hello me;
  std::vector<std::string> join;
  /// So long a call that has not begun waits for the only node with its tool,
  /// once that is lost. 0: not at all.
  duration join_timeout{};
  core::peer_watch::limits watch;
  std::uint64_t first_epoch = 1;  ///< greater with each start of the process
  duration orphan_after = std::chrono::seconds{5};
  duration kill_grace = std::chrono::milliseconds{500};
  /// The longest of what it offers, from SIGTERM to SIGKILL.
  duration host_grace{};
  /// Dials on another thread; the gate gets `dialed`.
  std::function<void(const std::string& address, caf::actor gate)> dial;
  /// What this process offers; empty: nothing.
  std::vector<cluster::tool_offer> offers;
  /// Makes the actor that runs them; may be empty.
  std::function<caf::actor(caf::actor gate)> spawn_host;

  // What this process uses of others; all may be empty.
  std::shared_ptr<node_board> board;
  std::shared_ptr<work_board> works;
  /// Why a tool of a node is not used here; nothing: it is.
  std::function<std::optional<std::string>(const cluster::tool_offer&)> refuses;
  std::function<tool_pool_actor(const std::string& tool,
                                const std::string& node, worker_spawner)>
      spawn_pool;
  std::function<void(const pool_of_node&)> tell_pool;
  /// All that nodes offer now, whenever it changes.
  std::function<void(const std::vector<cluster::tool_offer>&)> on_tools;
  /// Once: each address of `join` has said what it offers, or failed.
  std::function<void()> on_known;
  piece_keeper keep_piece;
  /// What nodes there are, whenever it changes and with each pong.
  std::function<void(const std::vector<node_view>&)> on_nodes;
  /// After `begin_drain`, once nothing runs; and when a peer asked for it.
  std::function<void()> on_drained;
  std::function<void()> on_drain_asked;

  std::function<std::string()> make_token;
  std::function<double()> random01;
  std::function<void(const std::string& handler)> faults;  ///< of tests
};

/// One for a process, the only actor that its peers are told of. Dials, greets,
/// listens to whether they live; carries what calls need between processes and
/// checks that it comes from whom it was given to.
struct cluster_gate_state {
  static inline const char* name = "cluster_gate";
  explicit cluster_gate_state(caf::event_based_actor* me) : self{me} {}

  enum class phase : std::uint8_t { greeting, joined, fenced };
  /// Of a link. `left`: the peer said that it ends.
  enum class ending : std::uint8_t { lost, left, refused };

  struct node_tool {
    cluster::tool_offer offer;
    tool_pool_actor pool;
  };
  struct link {
    caf::actor peer;
    phase at = phase::greeting;
    std::string address{};  ///< that was dialled; empty: the peer dialled
    std::vector<std::string> also{};  ///< others of `join` that lead to it
    cluster::hello who{};             ///< of the peer, once it said so
    core::peer_watch watch;
    time_point begun{};
    std::uint64_t our_epoch = 0;  ///< of what we run for it
    /// Of the same, see `tools::lease`, and what it is pushed on by.
    std::shared_ptr<tools::lease> lease{};
    duration orphan_after{};
    bool origin_gone = false;  ///< what it had here was ended
    bool draining = false;
    bool offered = false;  ///< what it has, or that it has nothing
    bool is_node = false;  ///< it had something
    bool unused = false;   ///< of some of it the board knows why not
    int pools_failed = 0;  ///< of its tools
    /// It asked us to drain a node (empty: this process), and has to answer a
    /// ping first: what was said long ago may be wanted no more.
    struct drain_wish {
      std::string node;
      std::uint64_t ping = 0;
    };
    std::optional<drain_wish> wish{};
    std::string drains{};  ///< the node that it asked us to drain …
    bool drained = false;  ///< … has said since that it takes no more calls
    std::map<std::string, node_tool> tools{};
    std::map<std::string, caf::actor> tokens{};
    std::vector<cluster::tool_load> loads{};
    bool counted = false;       ///< among the nodes that are there
    std::uint64_t dropped = 0;  ///< late answers of an epoch that is fenced
  };

  struct node_pool {
    tool_pool_actor pool;
    std::string tool;
    std::string node;
    link_number link = 0;
  };

  /// A tool of a lost node that no other place has: what has not begun waits.
  struct held_tool {
    std::string name;
    std::string node;
    std::string why;  ///< its node left
    tool_pool_actor pool;
    time_point until{};
    bool back = false;  ///< the node, with another pool
  };

  // The life of links (gate_links.cpp, gate_greeting.cpp).
  void on(dialed& x);
  void on(dial_connected& x) { connected.insert(std::move(x.address)); }
  void on(const tick&);
  void on(cluster::hello& x);
  void on(const cluster::terms& x);
  void on(const cluster::refusal& x);
  void on(const cluster::ping& x);
  void on(cluster::pong& x);
  void on(const cluster::fenced& x);
  void wait_no_more(link_number number);
  void tell_if_known();
  [[nodiscard]] bool is_known(const std::string& address,
                              const core::dial_plan& plan) const;
  void on_own_address(const std::string& address);
  void note_standstill();
  [[nodiscard]] bool stood_still_just_now() const;
  void on(const caf::down_msg& x);
  void watch_link(link_number number, link& x);
  std::pair<const link_number, link>& add_link(caf::actor peer,
                                               std::string address);
  void greet(link& x);
  void begin_lease(link& x);
  void on_confirmed(link& x);
  void count(link& x, bool there);
  std::optional<std::string> problem_of(const cluster::hello& x) const;
  std::optional<std::string> name_problem_of(const link& from) const;
  bool is_twin(const cluster::hello& x) const;
  static std::string both_called(const std::string& name);
  void join(link& x);
  void refuse(link_number number, const std::string& why);
  void fence(link_number number, link& x, const std::string& why);
  void on(const deaf_node& x);
  void drop(link_number number, const std::string& why,
            ending how = ending::lost);
  void log_gone(const link& x, const std::string& why, ending how) const;
  static std::string key_of(const link& x);
  bool tells_refusal(const link& x, const std::string& why);
  static std::string named(const cluster::hello& x);
  static std::string in_ms(duration x);
  void end_origin(link_number number, link& x, const std::string& why);

  // Tools of nodes (gate_tools.cpp).
  void on(cluster::offers& x);
  void add_tool(link_number number, link& x, const cluster::tool_offer& offer);
  tool_pool_actor make_pool(link_number number, const link& x,
                            const cluster::tool_offer& offer);
  void on_pool_down(const node_pool& x, const std::string& why);
  [[nodiscard]] tool_pool_actor pool_beside(const node_pool& x) const;
  void end_hold_of(const node_pool& x);
  void leave(link& x, const std::string& why, bool lost);
  void close(const std::string& tool, const std::string& node,
             const tool_pool_actor& pool, const std::string& why);
  void end_holds();
  void tell_tools();
  void tell_nodes();
  [[nodiscard]] std::vector<node_view> views(bool nodes_alone) const;
  void forget_the_oldest_lost();
  void measure_node(std::string_view event, const cluster::hello& x);
  void heard(link& x);
  void offer_to(const link& x);

  // What calls need (cluster_gate.cpp).
  template <class X>
  void to_worker(const cluster::tag& tag, X& x);
  template <class X>
  void to_host(const cluster::tag& tag, X& x);
  template <class X>
  void on(const cluster::tag& tag, X& x);
  void on(to_peer& x);
  void on(give_call& x);
  void on(const drop_token& x);
  void end_when_heard();
  void on(host_load& x);
  void on(const cluster::ask_status&);
  void on(const cluster::ask_drain& x);
  void drain_as_asked(link& x);
  void on(const begin_drain&);
  void on(const end_drain& x) {
    if (host) self->send(host, x);
  }

  /// The link of who sent the message; null: nobody we know.
  std::pair<const link_number, link>* sender();
  [[nodiscard]] time_point now() const { return self->clock().now(); }

  caf::event_based_actor* self;
  gate_setup setup;
  caf::actor host;
  std::map<link_number, link> links;
  std::map<caf::actor_addr, link_number> by_peer;
  /// Of tools of nodes, also those that are closed and end soon.
  std::map<caf::actor_addr, node_pool> pools;
  std::map<std::string, core::dial_plan> targets;
  std::set<std::string> connected;  ///< of these, who has yet to greet
  std::vector<held_tool> held;
  std::optional<time_point> ticked;
  /// This process, the last time, and when it went on.
  duration stood_still{};
  time_point went_on{};
  std::optional<time_point> first_offer;
  std::map<std::string, node_view> lost_nodes;  ///< some; see `most_lost`
  std::deque<std::string> lost_order;           ///< the longest lost first
  std::set<std::string> counted_names;          ///< with a counter of their own
  link_number last_link = 0;
  /// Of what we run for anybody. It begins anew with no link, so that what was
  /// recorded of one is nothing on another.
  std::uint64_t last_epoch = 0;
  std::uint64_t last_ping = 0;
  std::vector<cluster::tool_load> loads;  ///< of this process's host
  std::size_t hosted = 0;                 ///< calls that it runs
  std::uint64_t late = 0;                 ///< answers of fenced epochs, dropped
  bool draining = false;
  /// Drained: peers whose pong, and so all that was said before, is waited for.
  std::map<link_number, std::uint64_t> last_words;
  /// Why a peer was refused, or refused us, as the log says; by `key_of`.
  std::map<std::string, std::string> told_refusals;
  bool drained = false;  ///< nothing runs; once
};

caf::behavior cluster_gate(caf::stateful_actor<cluster_gate_state>* self,
                           gate_setup setup);

}  // namespace riffle
