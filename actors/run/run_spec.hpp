// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "actors/core/control_tools.hpp"
#include "actors/core/plan_document.hpp"
#include "actors/core/step_machine.hpp"
#include "messages/call.hpp"
#include "messages/decision.hpp"
#include "messages/ids.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/executor.hpp"
#include "runtime/base/id_source.hpp"
#include "runtime/config/config.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/model/transport.hpp"
#include "runtime/storage/journal.hpp"
#include "tools/registry.hpp"

namespace riffle {

/// What tests put into handlers: called at the begin of each handler of each
/// run actor with "actor.handler"; may throw.
using fault_hook = std::function<void(const std::string& handler)>;

struct run_spec;
class node_board;

/// A step that ended in the plan that this one goes on from; one of both has
/// its output, if it began.
struct kept_step {
  events::plan_step_finished end;  ///< and its run
  call_id call{};
};

/// What a run of a plan executes, in the place of an agent.
struct plan_work {
  core::plan_document document;
  std::vector<kept_step> kept{};  ///< its first steps, which are not run again
  std::string text;      ///< the document, JSON; on record with the first event
  std::string settings;  ///< of the run's record from then on, without it
  /// What carries an instruction out: a run of the session that all of them
  /// have. May block.
  std::function<expected<std::shared_ptr<const run_spec>>(
      const run_id& run, const std::string& task)>
      make_step;
  /// The whole output of a call; `not_found` if it had none. May block.
  std::function<expected<std::string>(const call_id&)> output;
  std::uint32_t most_attempts = 3;  ///< of steps with on_error = "retry"
};

/// Everything that the actors of one run share and never change. Made by the
/// composition root.
struct run_spec {
  run_id run;
  session_id session;
  std::string task;
  std::string context;  ///< told to the model behind the task
  std::string phase;    ///< that the session enters with it; empty: none
  std::vector<attachment> attachments;  ///< shown to the model with the task
  /// Their bytes, where they are not on record yet.
  std::vector<storage::file_record> files;
  std::vector<std::string> file_types;  ///< MIME; what the model is shown
  config::attachments_config file_limits;
  std::string agent_name;
  config::agent_config agent;
  config::model_config model;
  config::publish_config publish;
  config::tools_config tool_settings;
  /// Digest of the file of the session that says where the model works; empty:
  /// it is not told.
  std::string surroundings;
  /// Where its tools work, absolute; empty: where those of the process do.
  std::filesystem::path workspace;
  duration retry_base{};  ///< of tool attempts
  approve approval = approve::none;
  std::string approved_by;  ///< who decides, unless a person is asked
  /// A call that needs approval is not waited for: its proposal stays open.
  bool propose = false;
  duration expire_after{};  ///< of proposals; 0: never
  /// The approved proposal that this run executes, instead of a model's turn.
  std::optional<storage::proposal_state> cause;
  /// Its call, as a run has it that begins (`call_of_cause`).
  std::optional<tool_call> caused_call{};
  /// Set for a plan: a plan executor takes the place of the orchestrator.
  std::shared_ptr<const plan_work> plan;
  /// It carries out a step of a plan that counts as a run itself.
  bool within_plan = false;
  /// Where calls are looked at, apart from where they run; null: at once, by
  /// whoever wants to know.
  std::shared_ptr<executor> looks;
  duration time_limit{};  ///< of the run; 0: none
  duration spent{};       ///< of that, before it began: servers were waited for
  std::string folder;     ///< where it works; of its proposals, too
  std::string settings;   ///< JSON; stored with the run, enough to resume it

  std::string maker;  ///< of the model's messages; see `turn_state`
  std::string url;
  std::vector<std::string> headers;
  model::model_advice advice;  ///< for people, where the model cannot be asked
  model::request_options request;
  std::shared_ptr<const model::dialect> dialect;
  std::shared_ptr<model::transport> transport;
  /// See `core::step_limits`.
  std::function<std::string(std::string&)> answer_problem;
  /// Of a run with an answer of a form: the arguments of `complete` are that
  /// answer.
  bool answer_is_arguments = false;
  /// Such a run's `complete`, as the model is told of it.
  std::optional<model::tool_description> completing{};
  /// The server can be told which tool the model has to call.
  bool can_force = true;
  /// The same run with other models, in the order in which they are asked
  /// where this one cannot answer.
  std::vector<std::shared_ptr<const run_spec>> fallback;
  /// The model does not take a parameter; may be empty.
  std::function<void(const std::string& parameter)> on_refused;
  std::shared_ptr<const tools::registry> registry;
  std::shared_ptr<node_board> nodes;  ///< null: all calls run here
  /// For nodes, before it began: told as a status. Where the spec is completed
  /// later: what for, told while it lasts.
  std::string waited;
  std::shared_ptr<storage::journal> journal;
  std::shared_ptr<id_source> ids;
  wall_clock wall = system_wall_time;
  std::function<double()> random01;
  fault_hook faults;
  /// Set if this is only enough to put the run on record: the whole of it, once
  /// what its tools need is there. May block until a stop; then it may fail.
  std::function<expected<std::shared_ptr<const run_spec>>(
      const std::stop_token&)>
      complete;

  /// Of `time_limit`, when it begins; 0: there is none.
  [[nodiscard]] duration time_left() const {
    if (time_limit == duration{}) return {};
    return std::max<duration>(time_limit - spent, std::chrono::milliseconds{1});
  }
  [[nodiscard]] core::step_limits step_limits() const;
  [[nodiscard]] core::answer_rule answer_rule() const;
  /// What the model is asked: the task and its context.
  [[nodiscard]] std::string question() const;
};

using run_spec_ptr = std::shared_ptr<const run_spec>;

/// The first event of a run; `record`: its own.
[[nodiscard]] events::run_started started_event(
    const run_spec& spec, const storage::run_record& record);

}  // namespace riffle
