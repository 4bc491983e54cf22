// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "actors/run/run_spec.hpp"
#include "runtime/base/timer.hpp"
#include "runtime/model/lent_transport.hpp"
#include "runtime/service/model_links.hpp"
#include "runtime/service/stored_request.hpp"

namespace riffle::service {

/// What models do not take, by their names; kept for runs that follow.
struct refused_parameters {
  std::mutex mutex;
  std::map<std::string, std::set<std::string>> of;
};

/// Puts together what the actors of a run share: the configuration, what was
/// asked for, and the process's adapters. Thread-safe; reads files (prompts,
/// scripts) and the journal, so it is no actor's business.
class spec_maker {
 public:
  /// What it hands on to all runs.
  struct parts {
    std::shared_ptr<storage::journal> journal;
    std::shared_ptr<const tools::registry> registry;
    std::shared_ptr<id_source> ids;
    std::shared_ptr<executor> looks;  ///< see `run_spec`
    std::shared_ptr<timer> clock;
    /// Where a program that prints a key is run again.
    std::shared_ptr<executor> waits;
    /// Scripts (TOML) by name of their model, instead of its file.
    std::map<std::string, std::string> scripts;
    std::shared_ptr<model::lent_transport> lent;  ///< null: HTTP
    /// Around each call of a listener by the HTTP client's thread.
    std::function<void(const std::function<void()>&)> around_listeners;
    fault_hook faults;
  };

  spec_maker(std::shared_ptr<const config::config> config, parts x);

  /// Fails with `not_found` (agent, model), `invalid_config` (no key, no
  /// script, a tool that needs a guard in a program that cannot be one).
  expected<run_spec_ptr> make(run_id run, session_id session, std::string task,
                              const stored_request& x);

  /// Of a run that executes an approved proposal. Fails with `not_found` if
  /// what made it is gone, `invalid_request` if that is another folder's.
  expected<run_spec_ptr> make_for(const storage::proposal_state& cause);

  [[nodiscard]] id_source& ids() const noexcept { return *parts_.ids; }

 private:
  expected<void> describe(run_spec& spec, const stored_request& x) const;
  expected<void> find_cause(run_spec& spec, const stored_request& x) const;
  /// How the model is reached; a run with a cause asks none.
  expected<void> connect(run_spec& spec);
  expected<void> add_fallback(run_spec& spec);
  /// Before `connect`: what an answer of a form changes.
  expected<void> choose_form(run_spec& spec) const;

  const std::shared_ptr<const config::config> config_;
  const parts parts_;
  model_links links_;
  /// Outlives this object: runs that are left behind may still tell.
  std::shared_ptr<refused_parameters> refused_ =
      std::make_shared<refused_parameters>();
};

}  // namespace riffle::service
