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
#include "runtime/node/vitals.hpp"
#include "runtime/scheduler/lifo_slot.hpp"
#include "runtime/storage/health_registry.hpp"
#include "runtime/storage/journal.hpp"
#include "tools/tool.hpp"

namespace riffle {

/// Parts that replace the standard ones.
struct node_parts {
  std::vector<tools::tool_ptr> tools;         ///< beside the built-in ones
  std::shared_ptr<storage::journal> journal;  ///< nothing: SQLite
  /// Scripts (TOML) by name of their model, instead of its file.
  std::map<std::string, std::string> scripts;
  std::shared_ptr<model::transport> transport;  ///< nothing: HTTP
  bool owns_process = false;                    ///< see `runtime_options`
  fault_hook faults;                            ///< tests only
};

/// The built-in tools, the control tools, and others. Fails if a name is taken
/// or an agent names a tool that there is not.
expected<std::shared_ptr<tools::registry>> make_registry(
    const config::config& config, std::vector<tools::tool_ptr> others);

/// Adopts orphans, takes the models' keys out of the environment, and lets no
/// other process of the user look into this one.
void own_process(const config::config& config);

/// What of a run is chosen when it starts; stored with it.
struct run_choice {
  std::string agent = "default";
  std::optional<std::string> model;  ///< instead of the agent's
  std::string context;               ///< told to the model behind the task
  std::optional<std::uint32_t> max_steps;
  duration time_limit{};
  approval_choice approval = approval_choice::none;
  /// The approved proposal that the run executes.
  std::optional<proposal_id> cause;
  /// Where its process was when it began: relative paths of tools start there.
  std::string folder;
};

/// `run_choice` as the JSON that is stored with the run, and back.
std::string to_json(const run_choice& x);
run_choice choice_from_json(const std::string& text);

/// A process's actors and adapters.
class node {
 public:
  static expected<std::unique_ptr<node>> create(config::config config,
                                                node_parts parts);
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// All that the actors of a run need. Fails with `not_found` (agent, model),
  /// `invalid_config` (no key, no script, a tool that needs a guard in a
  /// program that cannot be one).
  expected<run_spec_ptr> make_spec(run_id run, session_id session,
                                   std::string task, const run_choice& choice);

  /// What a run needs that executes an approved proposal. Fails with
  /// `not_found` if what made it is gone, or as `make_spec`.
  [[nodiscard]] health_listener health_listener_for() const;
  expected<run_spec_ptr> make_cause_spec(const storage::proposal_state& cause);

  /// Checks and stores a decision, and tells the run of it. See
  /// `runtime::decide`.
  expected<storage::decision_answer> decide(storage::decision_record x,
                                            const std::string& digest);
  /// Starts what was approved as soon as its session is free.
  void queue_cause(const storage::proposal_state& cause);

  /// Starts or resumes; blocks up to the store's deadline.
  expected<run_opened> start(const run_spec_ptr& spec, subscriber_ptr who);
  /// `end`: it ends at once, by this.
  expected<run_opened> resume(const run_spec_ptr& spec, subscriber_ptr who,
                              std::optional<core::end_request> end = {});

  void attach(const run_id& run, subscriber_ptr who);
  void cancel(const run_id& run, error why, bool cancelled);
  void cancel(const run_id& run, const call_id& call);

  [[nodiscard]] storage::journal& journal() noexcept { return *journal_; }
  [[nodiscard]] id_source& ids() noexcept { return *ids_; }
  /// For readers that may outlive the node; the blocking executor drops jobs
  /// then.
  [[nodiscard]] std::shared_ptr<storage::journal> shared_journal() const {
    return journal_;
  }
  /// For short blocking jobs of adapters.
  [[nodiscard]] std::shared_ptr<executor> shared_side_executor() const {
    return side_executor_;
  }

  /// Cancels all runs and waits up to `limit` for their end.
  bool close(duration limit);

  /// Why the runtime has ended on its own, if it has: an actor that all runs
  /// need died.
  [[nodiscard]] std::optional<error> failure() const {
    return vitals_->failure();
  }

  /// Of nodes that get none with their parts; set before the first one.
  static fault_hook faults_for_tests;

 private:
  struct system;
  node(config::config config, node_parts parts);
  expected<void> compose(node_parts parts);
  /// The journal and folders of `runtime.data_dir`.
  expected<void> open_data(std::filesystem::path& guard_dir,
                           std::filesystem::path& output_dir);
  /// Empty folders: there is nothing to guard or to keep.
  void spawn_actors(const std::filesystem::path& guard_dir,
                    const std::filesystem::path& output_dir);
  cause_spec_maker cause_maker();
  template <class Actor>
  void watch(const Actor& who, const char* what);
  void end_actors(caf::exit_reason how);
  bool await_actors();
  /// How the model is reached; a run with a cause asks none.
  expected<void> connect(run_spec& spec);
  expected<void> find_cause(run_spec& spec, const run_choice& choice);
  expected<std::shared_ptr<model::transport>> transport_of(
      const std::string& name, const config::model_config& model);
  expected<run_opened> ask_registry(caf::message request,
                                    withdraw_run if_silent);
  expected<void> check_approval(const storage::decision_record& x);
  /// Puts the canonical text of edited arguments in their place.
  expected<void> check_edit(storage::decision_record& x);

  config::config config_;
  std::map<std::string, std::string> scripts_;
  fault_hook faults_;
  std::filesystem::path workspace_;  ///< absolute
  std::shared_ptr<storage::journal> journal_;
  std::shared_ptr<tools::registry> registry_;
  std::shared_ptr<id_source> ids_ = std::make_shared<id_source>();
  std::shared_ptr<timer> timer_ = std::make_shared<thread_timer>();
  std::shared_ptr<model::transport> http_;
  std::shared_ptr<model::lent_transport> lent_;  ///< instead of it
  /// One for each model that was asked for, so that its limits hold for all.
  std::map<std::string, std::shared_ptr<model::transport>> transports_;
  std::mutex transports_mutex_;
  std::shared_ptr<blocking_executor> blocking_;
  std::shared_ptr<blocking_executor> side_executor_;
  /// Where calls are looked at, before a person is asked and before they act.
  std::shared_ptr<blocking_executor> look_executor_;
  /// For what dead runtimes left behind; it may be long, and others recover.
  std::shared_ptr<blocking_executor> waiting_executor_;
  std::shared_ptr<storage::health_registry> health_;
  std::unique_ptr<system> system_;
  /// Lets the transport's thread run actors; closed before the system ends.
  std::shared_ptr<inline_run> inline_run_ = std::make_shared<inline_run>();
  session_store_actor store_;
  command_inbox_actor inbox_;
  std::mutex pools_mutex_;
  std::map<std::string, tool_pool_actor> pools_;  ///< those that live now
  bool closing_ = false;  ///< under the same mutex: none is made any more
  std::shared_ptr<vitals> vitals_;

  /// Who makes specs for the inbox, while it is there.
  struct cause_owner {
    std::mutex mutex;
    node* owner = nullptr;
  };
  std::shared_ptr<cause_owner> causes_ = std::make_shared<cause_owner>();
  run_registry_actor registry_actor_;
};

}  // namespace riffle
