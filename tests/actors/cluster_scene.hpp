// SPDX-License-Identifier: MIT
#pragma once

// Two gates, an origin's and a node's, with a line between them that can be
// cut or held, in simulated time.

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/cluster/call_host.hpp"
#include "actors/cluster/cluster_gate.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

/// One direction of the line.
enum class line_state { open, cut, held };

/// What a node sets for itself.
struct node_times {
  duration orphan_after = std::chrono::seconds{5};
  duration host_grace = std::chrono::milliseconds{500};
  duration timeout = std::chrono::seconds{3};
  duration join_timeout{};  ///< of the origin
};

struct cluster_scene {
  explicit cluster_scene(std::string node_group = "riffle",
                         node_times of_node = {},
                         std::optional<std::string> unused = {});
  ~cluster_scene();
  cluster_scene(const cluster_scene&) = delete;
  cluster_scene& operator=(const cluster_scene&) = delete;

  /// Lets time go on, a tenth of a second after the other.
  void pass(duration x);
  /// The same at once, as for processes that were stopped.
  void stand_still(duration x);
  /// Delivers what is on its way.
  void settle();
  /// Both directions.
  void set_line(line_state x);
  /// From the node to the origin alone.
  void set_line_back(line_state x);

  /// An attempt, given as a dispatcher would; the key of its pool.
  std::string give(const std::string& id, effect eff = effect::read_only,
                   std::uint32_t attempt = 1, duration limit = {});
  void stop(const std::string& id);
  /// The worker of the node answers.
  void answer(const std::string& id, const std::string& output);

  [[nodiscard]] const work::done* done(const std::string& id) const;
  [[nodiscard]] const work::lost* lost(const std::string& id) const;

  // What happened.
  std::vector<work::started> started;
  std::vector<work::done> dones;
  std::vector<work::lost> losts;
  std::vector<work::progress> reports;
  std::set<std::string> crossed;     ///< types of the messages over the line
  std::vector<std::string> stopped;  ///< at the node's pool
  struct hosted {
    work::assignment what;
    work_listeners who;
  };
  std::map<std::string, hosted> at_node;
  std::map<std::string, tool_pool_actor> pools;
  std::vector<std::string> failed_pools;  ///< their keys
  std::vector<cluster::tool_offer> tools;
  std::vector<std::size_t> tools_when_known;
  std::vector<node_view> nodes;
  bool drained = false;
  int drains_asked = 0;                     ///< of the node
  int dials = 0;                            ///< of the origin
  std::map<std::string, std::string> kept;  ///< outputs, by call
  std::shared_ptr<output_stream> output;    ///< of the next result
  std::optional<error> refusal;             ///< of the node, for all calls
  duration idle_at_node{};       ///< what the node makes of that limit
  bool idempotent = false;       ///< what is given is
  bool refuse_pieces = false;    ///< the origin's disk is full
  bool hold_admissions = false;  ///< looks of the node, in `admissions`
  std::deque<std::function<void()>> admissions;
  node_times times;
  std::optional<std::string> why_unused;  ///< at the origin, of its tools
  bool hold_pieces = false;               ///< until `keep_next`
  std::deque<std::pair<std::string, std::function<void()>>> asked_to_keep;
  void keep_next();

  std::shared_ptr<node_board> board = std::make_shared<node_board>();
  std::shared_ptr<work_board> works = std::make_shared<work_board>();
  std::shared_ptr<lease_board> leases = std::make_shared<lease_board>();
  std::shared_ptr<run_work> work;

  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
  caf::actor origin;
  caf::actor node;
  caf::actor line_to_node;
  caf::actor line_to_origin;
  caf::actor node_pool;
  caf::actor node_host;
  work_listener dispatcher;
  progress_listener muxer;

 private:
  [[nodiscard]] caf::scheduler::test_coordinator& clockwork() const;
  void make_origin();
  void make_node(const std::string& group);
  int tokens_ = 0;
};

/// The types of all messages that gates send, a line each.
std::string frozen_messages();

/// Sets the state of a line; what it held goes on when it is open.
struct set_line {
  line_state to = line_state::open;
};

}  // namespace riffle::testing

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::testing::set_line)
