// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>

#include "actors/run/run_spec.hpp"
#include "runtime/base/timer.hpp"
#include "runtime/model/lent_transport.hpp"
#include "runtime/service/model_links.hpp"
#include "runtime/service/model_window.hpp"
#include "runtime/service/stored_request.hpp"
#include "tools/catalog.hpp"
#include "tools/mcp/servers.hpp"

namespace riffle::service {

/// A tool of the agent that starts programs needs a guard, and this program
/// can be none: `invalid_config`.
expected<void> check_guard(const tools::registry& registry,
                           const std::string& name,
                           const config::agent_config& agent);

/// What models do not take, by their names; kept for runs that follow.
struct refused_parameters {
  std::mutex mutex;
  std::map<std::string, std::set<std::string>> of;
};

/// Puts together what the actors of a run share: the configuration, what was
/// asked for, and the process's adapters. Thread-safe; reads files (prompts,
/// scripts) and the journal, so it is no actor's business.
class spec_maker : public std::enable_shared_from_this<spec_maker> {
 public:
  /// What it hands on to all runs.
  struct parts {
    std::shared_ptr<storage::journal> journal;
    std::shared_ptr<const tools::catalog> tools;
    std::shared_ptr<node_board> nodes;      ///< see `run_spec`
    std::shared_ptr<mcp::servers> servers;  ///< null: there are none
    std::shared_ptr<id_source> ids;
    std::shared_ptr<executor> looks;  ///< see `run_spec`
    std::shared_ptr<timer> clock;
    /// Where a program that prints a key is run again.
    std::shared_ptr<executor> waits;
    /// Scripts (TOML) by name of their model, instead of its file.
    std::map<std::string, std::string> scripts;
    std::filesystem::path outputs;  ///< of long outputs; empty: nowhere
    std::shared_ptr<model::lent_transport> lent;  ///< null: HTTP
    /// Around each call of a listener by the HTTP client's thread.
    std::function<void(const std::function<void()>&)> around_listeners;
    fault_hook faults;
  };

  spec_maker(std::shared_ptr<const config::config> config, parts x);

  /// Fails with `not_found` (agent, model), `invalid_config` (no key, no
  /// script, a tool that needs a guard in a program that cannot be one),
  /// `cancelled` (asked to stop while it waited for a key).
  expected<run_spec_ptr> make(run_id run, session_id session, std::string task,
                              const stored_request& x);

  /// A new run's: in this process's folder, by its configuration.
  [[nodiscard]] stored_request begun_here(
      run_request x, std::optional<task_place> place = {}) const;

  [[nodiscard]] run_configuration configuration() const;

  /// What waits for a key fails with `cancelled` from now on.
  void close() { links_.close(); }

  /// Of a plan (plan_specs.cpp). Fails with `invalid_plan` (all mistakes),
  /// `agent_not_streaming`, or as `make`.
  expected<run_spec_ptr> make_plan(run_id id, const stored_request& x);

  /// Of a run or a plan that is on record; `x`: what it is made from now.
  expected<run_spec_ptr> remake(const storage::run_record& record,
                                stored_request x);

  /// The plan in this text, see plan_file.hpp.
  expected<std::string> read_plan_text(const plan_request& x) const;

  /// Of the plan that goes on from one that was stopped; `x`: what that was
  /// made from. Fails also with `not_found`: what its steps said is gone.
  expected<run_spec_ptr> make_next(const storage::run_record& stopped,
                                   stored_request x);

  /// Of a run that executes an approved proposal. Fails with `not_found` if
  /// what made it is gone, `invalid_request` if that is another folder's.
  expected<run_spec_ptr> make_for(const storage::proposal_state& cause);

  /// The name of the model that a run asks first, whose capacity is known from
  /// then on; empty: no agent has the name.
  [[nodiscard]] std::string model_of(const run_request& x) const;

  /// What the limiters of its models say.
  [[nodiscard]] const std::shared_ptr<capacity_board>& capacity()
      const noexcept {
    return capacity_;
  }

  [[nodiscard]] id_source& ids() const noexcept { return *parts_.ids; }

 private:
  /// A run of this agent waits for nodes, which have its tools; it is put on
  /// record before, and told.
  [[nodiscard]] bool waits_for_nodes(const std::string& agent) const;
  void share(run_spec& spec) const;
  [[nodiscard]] std::vector<std::string> those_of_nodes(
      std::vector<std::string> names) const;
  /// `names`: what stands for all tools of a server becomes these.
  [[nodiscard]] std::shared_ptr<const tools::registry> tools_for(
      std::vector<std::string>& names, const run_request& x,
      std::string& waited) const;
  /// Of those that an agent's tools are of; one is not there yet, nor within
  /// `timeout`, in which they are started.
  [[nodiscard]] bool waits_for_servers(const std::string& agent,
                                       duration timeout,
                                       const std::stop_token& stop) const;
  /// What a run with these tools waits for.
  [[nodiscard]] std::string wait_for_servers(const std::string& agent) const;
  [[nodiscard]] std::string wait_for_nodes(
      const std::vector<std::string>& names) const;
  /// Makes the whole spec of a run that was put on record in a hurry.
  [[nodiscard]] std::function<expected<run_spec_ptr>(const std::stop_token&)>
  completion_of(const run_spec& spec);
  /// The servers whose tools a plan names; waits for them.
  void start_servers_of(const plan_request& x) const;
  expected<void> find_plan(const storage::run_record& record,
                           stored_request& x) const;
  expected<std::shared_ptr<const plan_work>> plan_work_of(
      const run_id& id, const stored_request& x);
  expected<void> load_files(run_spec& spec, stored_request& x) const;
  expected<void> describe(run_spec& spec, const stored_request& x) const;
  void find_tools(run_spec& spec, const stored_request& x) const;
  expected<void> find_cause(run_spec& spec, const stored_request& x) const;
  /// How the model is reached; a run with a cause asks none.
  expected<void> connect(run_spec& spec, const std::stop_token& stop);
  void describe_request(run_spec& spec) const;
  expected<void> add_fallback(run_spec& spec, const std::stop_token& stop);
  /// Before `connect`: what an answer of a form changes.
  expected<void> choose_form(run_spec& spec) const;
  expected<void> check_owner(const session_id& session,
                             const request_origin& who) const;

  const std::shared_ptr<const config::config> config_;
  const parts parts_;
  const std::shared_ptr<capacity_board> capacity_;
  model_links links_;
  model_windows windows_;
  /// Outlives this object: runs that are left behind may still tell.
  std::shared_ptr<refused_parameters> refused_ =
      std::make_shared<refused_parameters>();
};

}  // namespace riffle::service
