// SPDX-License-Identifier: MIT
#pragma once

// The composition root: the only place that names concrete classes and
// decides placement.

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/interfaces.hpp"
#include "actors/process/spawn.hpp"
#include "actors/run/run_spec.hpp"
#include "runtime/base/executor.hpp"
#include "runtime/base/timer.hpp"
#include "runtime/config/config.hpp"
#include "runtime/model/lent_transport.hpp"
#include "runtime/node/cluster_part.hpp"
#include "runtime/scheduler/lifo_slot.hpp"
#include "runtime/service/front_door.hpp"
#include "runtime/service/prompts.hpp"
#include "runtime/service/proposals.hpp"
#include "runtime/service/runs.hpp"
#include "runtime/service/sessions.hpp"
#include "runtime/service/spec_maker.hpp"
#include "runtime/service/vitals.hpp"
#include "runtime/service/volleys.hpp"
#include "runtime/storage/health_registry.hpp"
#include "runtime/storage/journal.hpp"
#include "tools/mcp/servers.hpp"
#include "tools/tool.hpp"

namespace riffle {

class hosted_outputs;
class mcp_board;

/// Parts that replace the standard ones.
struct node_parts {
  std::vector<tools::tool_ptr> tools;         ///< beside the built-in ones
  std::shared_ptr<storage::journal> journal;  ///< nothing: SQLite
  /// Scripts (TOML) by name of their model, instead of its file.
  std::map<std::string, std::string> scripts;
  std::shared_ptr<model::transport> transport;  ///< nothing: HTTP
  bool owns_process = false;                    ///< see `runtime_options`
  bool offers = false;  ///< `node.tools` are for others of the cluster
  std::string program;  ///< version of Riffle, for people
  fault_hook faults;    ///< tests only
};

/// The built-in tools, the control tools, and others. Fails if a name is taken
/// or an agent names a tool that there is not.
expected<std::shared_ptr<tools::registry>> make_registry(
    const config::config& config, std::vector<tools::tool_ptr> others);

/// Of the actors' scheduler.
std::size_t scheduler_threads(const config::runtime_config& x);

/// Fails if this process cannot have the threads that it begins with: half of
/// them would end it without a word.
expected<void> try_threads(const config::runtime_config& x);

/// Adopts orphans, takes the models' keys out of the environment, and lets no
/// other process of the user look into this one.
void own_process(const config::config& config);

/// A process's actors and adapters.
class node {
 public:
  static expected<std::unique_ptr<node>> create(config::config config,
                                                node_parts parts);
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// The use cases of this process, while it lives. `where`: see
  /// `service::runs`.
  struct use_cases;
  [[nodiscard]] use_cases serve(std::shared_ptr<executor> where) const;

  /// For readers that may outlive the node; the blocking executor drops jobs
  /// then.
  [[nodiscard]] std::shared_ptr<storage::journal> shared_journal() const {
    return journal_;
  }
  /// For handles that may outlive the node.
  [[nodiscard]] std::shared_ptr<service::front_door> door() const {
    return door_;
  }
  [[nodiscard]] id_source& ids() const noexcept { return specs_->ids(); }
  /// For short blocking jobs of adapters.
  [[nodiscard]] std::shared_ptr<executor> shared_side_executor() const {
    return side_executor_;
  }

  /// Cancels all runs and waits up to `limit` for their end.
  bool close(duration limit);
  /// From now on nothing is asked of the actors, and no run is cancelled at the
  /// end: whoever opens the journal next finds them as after a crash.
  void leave() { door_->cut(); }
  /// Why nothing can go on in this process; nothing: it lives.
  [[nodiscard]] std::optional<error> failure() const {
    return door_->failure();
  }
  [[nodiscard]] std::shared_ptr<const tools::registry> tools() const {
    return registry_;
  }
  /// With those that servers and nodes have just now.
  [[nodiscard]] std::shared_ptr<const tools::registry> tools_now() const {
    return tools_->now();
  }
  /// Null: the configuration names none.
  [[nodiscard]] std::shared_ptr<const mcp::servers> servers() const {
    return servers_;
  }
  [[nodiscard]] std::shared_ptr<timer> shared_timer() const { return timer_; }
  /// Called on each commit of this process, on the writer's thread.
  void on_commit(std::function<void()> f);

  /// A configuration that was read again: servers that it has no more, or that
  /// are others there, begin to end with all of their processes, and their
  /// tools are gone. Logs what it did. Does not wait.
  void end_servers_not_in(const config::config& fresh);

  /// Null: the configuration names no cluster.
  [[nodiscard]] cluster_part* cluster() const { return cluster_.get(); }

  /// Of nodes that get none with their parts; set before the first one.
  static fault_hook faults_for_tests;

 private:
  struct system;
  explicit node(config::config config);
  expected<void> compose(node_parts parts);
  /// The journal and folders of `runtime.data_dir`. `offers`: outputs here are
  /// those of others.
  expected<void> open_data(bool offers, std::filesystem::path& guard_dir,
                           std::filesystem::path& output_dir);
  void connect(std::map<std::string, std::string> scripts);
  [[nodiscard]] health_listener health_listener_for() const;
  /// Of the servers of the configuration (mcp_part.cpp).
  expected<void> open_servers(const std::filesystem::path& guard_dir);
  void on_served(const std::vector<tools::tool_ptr>& all);
  void set_served();
  void end_servers();
  [[nodiscard]] std::function<tools::tool_ptr(const std::string&)> tool_finder()
      const;
  /// Empty folders: there is nothing to guard or to keep.
  void spawn_actors(const std::filesystem::path& guard_dir,
                    const std::filesystem::path& output_dir);
  void open_executors();
  /// False: a job does not end; its thread is left behind.
  bool close_executors();
  void open_front_door(worker_setup setup);
  expected<void> join_cluster(const node_parts& parts,
                              const cluster::net_options& net);
  template <class Actor>
  void watch(const Actor& who, const char* what);
  void end_actors(caf::exit_reason how);
  bool await_actors();
  void let_go_of_runs();

  std::shared_ptr<const config::config> config_;
  fault_hook faults_;
  std::filesystem::path workspace_;         ///< absolute
  std::filesystem::path outputs_;           ///< of long outputs; empty: nowhere
  std::unique_ptr<hosted_outputs> hosted_;  ///< it is that of these
  std::filesystem::path volley_locks_;      ///< empty: the journal is in memory
  std::shared_ptr<storage::journal> journal_;
  std::shared_ptr<tools::registry> registry_;
  std::shared_ptr<tools::catalog> tools_;
  std::shared_ptr<node_board> nodes_;        ///< null: no cluster
  std::shared_ptr<mcp::servers> servers_;    ///< null: there are none
  std::shared_ptr<mcp_board> servers_told_;  ///< null: nobody could read it
  std::shared_ptr<work_board> works_ = std::make_shared<work_board>();
  std::shared_ptr<lease_board> leases_ = std::make_shared<lease_board>();
  std::unique_ptr<cluster_part> cluster_;
  std::shared_ptr<timer> timer_ = std::make_shared<thread_timer>();
  std::shared_ptr<model::lent_transport> lent_;
  std::shared_ptr<service::spec_maker> specs_;
  std::shared_ptr<blocking_executor> blocking_;
  std::shared_ptr<blocking_executor> side_executor_;
  /// Where calls are looked at, before a person is asked and before they act.
  std::shared_ptr<blocking_executor> look_executor_;
  /// For what dead runtimes left behind; it may be long, and others recover.
  std::shared_ptr<blocking_executor> waiting_executor_;
  /// Where specs of runs are made: that waits for nodes, and for programs that
  /// print keys.
  std::shared_ptr<blocking_executor> spec_executor_;
  /// Where specs of runs that are on record wait for servers of their tools:
  /// those of others are made meanwhile.
  std::shared_ptr<blocking_executor> late_executor_;
  std::shared_ptr<storage::health_registry> health_;
  std::unique_ptr<system> system_;
  /// Lets the transport's thread run actors; closed before the system ends.
  std::shared_ptr<inline_run> inline_run_ = std::make_shared<inline_run>();
  session_store_actor store_;
  command_inbox_actor inbox_;
  std::mutex pools_mutex_;
  std::map<std::string, tool_pool_actor> pools_;  ///< those that live now
  std::function<tool_pool_actor(const std::string&)> spawn_pool_;
  std::vector<tools::tool_ptr> served_;  ///< of servers, as they said last
  bool closing_ = false;  ///< under the same mutex: none is made any more
  std::shared_ptr<service::vitals> vitals_;
  std::shared_ptr<service::front_door> door_;
  run_registry_actor registry_actor_;
};

/// Not destroyed, but reachable: what a thread that does not end uses.
void keep_for_ever(std::shared_ptr<const void> x);

struct node::use_cases {
  service::runs runs;
  service::sessions sessions;
  service::proposals proposals;
  service::decisions decisions;
  service::volleys volleys;
  service::prompts prompts;
};

}  // namespace riffle
