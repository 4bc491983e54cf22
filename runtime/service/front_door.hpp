// SPDX-License-Identifier: MIT
#pragma once

// What is said to the actors of a process from outside of them.

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/interfaces.hpp"
#include "actors/run/run_spec.hpp"
#include "actors/run/subscriber.hpp"
#include "runtime/service/reply.hpp"
#include "runtime/service/vitals.hpp"

namespace riffle {
struct volley_setup;
}  // namespace riffle

namespace riffle::service {

class volley_run;

/// Thread-safe; nothing blocks but `close`. May outlive its actor system, once
/// it was cut.
class front_door {
 public:
  front_door(caf::actor_system& actors, run_registry_actor registry,
             command_inbox_actor inbox, std::shared_ptr<vitals> alive)
      : actors_{&actors},
        registry_{std::move(registry)},
        inbox_{std::move(inbox)},
        vitals_{std::move(alive)} {}

  /// Answers once the run is stored, or with `session_busy`,
  /// `storage_unavailable`, …; with `internal` if the registry says nothing
  /// within 90 s: then nothing of the run goes on. `end`: it is put on record
  /// and ends at once, by this.
  void start(const run_spec_ptr& spec, const subscriber_ptr& who,
             std::optional<core::end_request> end, const reply<run_opened>& to);
  /// `end`: it ends at once, by this.
  void resume(const run_spec_ptr& spec, const subscriber_ptr& who,
              std::optional<core::end_request> end,
              const reply<run_opened>& to);

  /// The reader gets what comes from now on; it is closed at once if the run
  /// is not under way here.
  void attach(const run_id& run, subscriber_ptr who);
  void cancel(const run_id& run, error why, bool cancelled);
  void cancel(const run_id& run, const call_id& call, std::string by = {});
  /// See `step_machine::hear`. Fails with `invalid_request`: it will not be
  /// heard, and why.
  void tell(const run_id& run, std::string text, const reply<void>& to);

  /// A decision was stored: its run is told at once.
  void tell(storage::decision_record x);
  /// Starts what was approved as soon as its session is free.
  void queue(const storage::proposal_state& cause);

  /// Starts a volley's scheduler, which ends with the actors.
  void begin(const std::shared_ptr<volley_run>& x, const volley_setup& setup);

  /// Cancels all runs; blocks up to `limit`. False: some have not ended.
  bool close(duration limit);
  /// Lets go of the actors: from now on nothing is said to them, and who asks
  /// is told that the runtime has ended.
  void cut();

  [[nodiscard]] std::optional<error> failure() const {
    return vitals_->failure();
  }

 private:
  void ask(const caf::message& request, const withdraw_run& if_silent,
           const reply<run_opened>& to);
  /// Null once it was cut.
  run_registry_actor registry();
  command_inbox_actor inbox();

  std::vector<std::shared_ptr<volley_run>> living_volleys();

  std::mutex mutex_;
  bool closed_ = false;  ///< no volley begins any more
  std::vector<std::weak_ptr<volley_run>> volleys_;
  caf::actor_system* actors_;
  run_registry_actor registry_;
  command_inbox_actor inbox_;
  std::shared_ptr<vitals> vitals_;
};

}  // namespace riffle::service
