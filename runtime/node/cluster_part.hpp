// SPDX-License-Identifier: MIT
#pragma once

// A process's part in its cluster: ports, the gate, what it offers and what it
// takes of others. Made only where the configuration names a cluster.

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/cluster/cluster_gate.hpp"
#include "actors/cluster/lease_board.hpp"
#include "actors/process/spawn.hpp"
#include "runtime/base/executor.hpp"
#include "runtime/cluster/cluster_net.hpp"
#include "runtime/config/config.hpp"
#include "tools/catalog.hpp"

namespace riffle {

/// Of a configuration with `cluster.used()`. Fails where TLS cannot be.
expected<cluster::net_options> net_options_of(const config::config& config);

/// As this process greets others. `observer`: it only looks.
cluster::hello hello_of(const config::config& config,
                        const std::string& program, bool observer);

/// Actors that a thread that reads connections may run: they carry what came a
/// step further and never wait. Not who calls code of an application (handlers,
/// what a tool says of a call, what a stop calls back): while one of these
/// waits, no ping would be answered.
inline constexpr std::array<std::string_view, 4> carriers{
    "cluster_gate", "remote_worker", "tool_pool", "dispatcher"};

/// Actors that a tool's thread may run in the middle of its work, when it
/// reports: those that carry a report to the connection.
inline constexpr std::array<std::string_view, 2> report_carriers{
    "call_host", "cluster_gate"};

class cluster_part {
 public:
  struct parts {
    std::shared_ptr<const config::config> config;
    cluster::net_options net;
    std::shared_ptr<const tools::registry> own;  ///< tools of this process
    std::shared_ptr<tools::catalog> tools;
    std::shared_ptr<node_board> board;
    std::shared_ptr<work_board> works;
    std::shared_ptr<lease_board> leases;
    std::shared_ptr<executor> aside;
    std::filesystem::path outputs;  ///< of long outputs; empty: nowhere
    std::function<tool_pool_actor(const std::string& tool)> find_pool;
    /// Told of what joins and leaves.
    run_registry_actor registry;
    health_listener on_service;
    bool offers = false;  ///< it is a node: `node.tools` are for others
    std::string program;  ///< version of Riffle, for people
    std::function<void(const std::string& handler)> faults;  ///< of tests
  };

  /// `system` was made with `cluster::prepare`. Fails with `invalid_config`
  /// (the port is taken, a tool of `node.tools` is not there).
  static expected<std::unique_ptr<cluster_part>> start(
      caf::actor_system& system, parts x);

  ~cluster_part();
  cluster_part(const cluster_part&) = delete;
  cluster_part& operator=(const cluster_part&) = delete;

  /// Where it listens; nothing: nowhere.
  [[nodiscard]] std::optional<std::uint16_t> port() const { return port_; }
  /// Whose death is that of the process's part.
  [[nodiscard]] const caf::actor& gate() const { return gate_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::vector<std::string> offered() const;
  [[nodiscard]] std::vector<node_view> nodes() const;

  /// Takes no more calls. `done` once nothing runs; from any thread.
  void drain(std::function<void()> done);
  /// What still runs is asked to end.
  void stop_calls();
  /// Set before others can ask.
  void on_drain_asked(std::function<void()> f);

  void end(caf::exit_reason how);

 private:
  struct shared;
  cluster_part() = default;
  static expected<std::vector<cluster::tool_offer>> offers_of(const parts& x);
  static void use_others(gate_setup& gate, caf::actor_system& system,
                         const parts& x);

  std::shared_ptr<shared> shared_;
  std::unique_ptr<cluster::net> net_;
  caf::actor gate_;
  std::optional<std::uint16_t> port_;
  std::string name_;
  std::vector<cluster::tool_offer> offers_;
};

/// With a call on a node that was asked to stop: it is noticed to be gone, and
/// what it had can act no more.
duration timeout_with_nodes(const config::config& config);

/// What `tools.X` says about where its calls run.
void set_rules(node_board& board, const config::config& config,
               const tools::registry& own);

}  // namespace riffle
