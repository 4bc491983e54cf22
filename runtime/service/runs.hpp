// SPDX-License-Identifier: MIT
#pragma once

// Use cases of runs: start, resume, cancel, follow.

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "runtime/base/executor.hpp"
#include "runtime/service/front_door.hpp"
#include "runtime/service/reply.hpp"
#include "runtime/service/requests.hpp"
#include "runtime/service/spec_maker.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::service {

/// The reader of a run that is about to begin; null: nobody reads it yet.
using reader_maker =
    std::function<subscriber_ptr(const run_id&, const session_id&)>;

/// Thread-safe. `where` is for what blocks on the journal, `making` for specs,
/// of which a program that prints a key may keep threads for long; null: the
/// caller's thread. Every answer comes within the front door's limits.
class runs {
 public:
  runs(std::shared_ptr<front_door> door, std::shared_ptr<spec_maker> specs,
       std::shared_ptr<storage::journal> journal,
       std::shared_ptr<executor> where, std::shared_ptr<executor> making);

  /// Answers once the run is stored. Fails with `session_busy`, `not_found`
  /// (agent, model), `invalid_request` (no task), `invalid_config` (no key, no
  /// script, no guard), `storage_unavailable`.
  void start(run_request x, reader_maker reader,
             const reply<run_opened>& to) const {
    start(std::move(x), std::nullopt, std::move(reader), to);
  }
  /// `place`: the task of a volley that it works on.
  void start(run_request x, std::optional<task_place> place,
             reader_maker reader, const reply<run_opened>& to) const;

  /// Executes a plan, as a run of its own (see actors/run/plan_executor.hpp).
  /// Fails as `start`, and with `invalid_plan` (all mistakes) and
  /// `agent_not_streaming`.
  void start_plan(plan_request x, reader_maker reader,
                  const reply<run_opened>& to) const;

  /// Finishes an active run whose owner is gone. Fails with `not_found`,
  /// `session_busy` (the owner lives), `invalid_request` (it has finished, or
  /// works in another folder than this process), or as `start`.
  void resume(run_id id, resume_options x, reader_maker reader,
              const reply<run_opened>& to) const;

  /// Goes on with a plan that was stopped (cancelled), as a new one: with its
  /// steps that ended, and the others anew. There is one at most (`next_plan`).
  /// Fails with `not_found` (the plan, or what its steps said),
  /// `invalid_request` (it was not stopped, the new one is there, another
  /// folder), or as `start_plan`.
  void go_on_from(run_id stopped, resume_options x, reader_maker reader,
                  const reply<run_opened>& to) const;

  /// Starts what a person approved and its run did not wait for.
  void start_cause(storage::proposal_state cause, reader_maker reader,
                   const reply<run_opened>& to) const;

  /// Ends a run of any process with this journal, see `cancel_verdict`. One
  /// whose owner is gone is adopted and ended, if `adopt`; else whoever
  /// resumes it ends it.
  void cancel(const run_id& id, const std::string& reason, bool adopt,
              const reply<storage::cancel_verdict>& to) const;

  /// Ends one call of a run of this process; it settles as `cancelled`. `by`:
  /// who or what ends it, as the model reads it: "this call was cancelled BY".
  void cancel_call(const run_id& run, const call_id& call,
                   std::string by = {}) const {
    door_->cancel(run, call, std::move(by));
  }
  /// Says something to a run of this process while it works, see
  /// `step_machine::hear`: what `check_told` takes. Fails with
  /// `invalid_request`.
  void tell(const run_id& run, std::string text, const reply<void>& to) const {
    door_->tell(run, std::move(text), to);
  }
  /// Ends a run of this process; of others nothing.
  void cancel_here(const run_id& run, std::string reason) const;

  /// See `spec_maker`.
  [[nodiscard]] std::string model_of(const run_request& x) const;

  /// Of this process.
  [[nodiscard]] run_configuration configuration() const;

  /// What the models' servers take now.
  [[nodiscard]] std::shared_ptr<capacity_board> capacity() const;

  /// Hands `who` what comes from now on, see `subscriber`.
  void follow(const run_id& run, subscriber_ptr who) const {
    door_->attach(run, std::move(who));
  }

 private:
  using spec_source = std::function<expected<run_spec_ptr>()>;
  void open(spec_source make, bool fresh, std::stop_token stop,
            reader_maker reader, const reply<run_opened>& to) const;
  void end_adopted(const run_id& id, const std::string& reason,
                   const reply<storage::cancel_verdict>& to) const;

  std::shared_ptr<front_door> door_;
  std::shared_ptr<spec_maker> specs_;
  std::shared_ptr<storage::journal> journal_;
  std::shared_ptr<executor> where_;
  std::shared_ptr<executor> making_;
};

}  // namespace riffle::service
