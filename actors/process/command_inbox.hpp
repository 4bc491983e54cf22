// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "actors/core/cause_queue.hpp"
#include "actors/interfaces.hpp"
#include "runtime/base/executor.hpp"

namespace riffle {

/// An executor's thread -> inbox: what the run needs that this proposal causes,
/// or why it cannot be made.
struct cause_made {
  proposal_id id;
  run_spec_ptr spec;
  std::optional<error> why;
};

/// What a run needs that executes an approved proposal. May block.
using cause_spec_maker =
    std::function<expected<run_spec_ptr>(const storage::proposal_state&)>;

struct inbox_setup {
  std::shared_ptr<storage::journal> journal;
  cause_spec_maker make_cause_spec;    ///< empty: nothing is started
  std::shared_ptr<executor> blocking;  ///< where it is; null: in the handler
  /// How soon a decision of another process is found, at most.
  duration poll_every = std::chrono::milliseconds{200};
  fault_hook faults;  ///< of tests
};

/// The one place of a process that asks the journal for what other processes
/// want of its runs, decisions and cancels: by one timer for all runs, which
/// is suspended while there is none. If it dies, the runtime ends: what it was
/// told would be waited for in vain.
struct command_inbox_state {
  static inline const char* name = "command_inbox";
  explicit command_inbox_state(command_inbox_actor::pointer me) : self{me} {}

  void on(watch_proposal& x);
  void on(const unwatch_proposal& x);
  void on(settle_proposal& x);
  void on(decision_known& x);
  void on(queued_cause& x);
  void on(cause_made& x);
  void on(run_peers& x) { registry = std::move(x.registry); }
  void on(const runs_here& x) {
    runs = x.any;
    schedule();
  }
  void on(tick&);
  void on(const caf::down_msg& x);

  void look_for(const std::vector<proposal_id>& ids);
  void look_for_cancels();
  void try_causes();
  void try_cause(const storage::proposal_state& cause);
  void on_answer(const proposal_id& id, const std::optional<error>& why);
  [[nodiscard]] time_point now() const { return self->clock().now(); }
  void schedule();

  command_inbox_actor::pointer self;
  inbox_setup setup;
  run_registry_actor registry;
  std::map<proposal_id, proposal_tracker_actor> watched;
  std::map<proposal_id, storage::proposal_state> causes;
  core::cause_queue queue;  ///< of them
  /// Riffle's own decisions that could not be stored yet.
  std::map<proposal_id, settle_proposal> unsettled;
  bool refused = false;  ///< the last one; it is said once
  bool unread = false;   ///< the journal did not say; said once
  bool runs = false;     ///< of this process: others may ask something of them
  bool scheduled = false;
};

command_inbox_actor::behavior_type command_inbox(
    command_inbox_actor::stateful_pointer<command_inbox_state> self,
    inbox_setup setup);

}  // namespace riffle

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::cause_made)
