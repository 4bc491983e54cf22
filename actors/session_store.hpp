// SPDX-License-Identifier: MIT
#pragma once

#include "actors/interfaces.hpp"

namespace riffle {

/// Waits until nothing of a call of a dead runtime acts any more. May block.
using guard_waiter =
    std::function<std::optional<error>(const storage::call_record&)>;

/// If it dies, the runtime ends: nothing would open a run any more.
struct session_store_state {
  static inline const char* name = "session_store";

  opened_run open(open_run_request& x);
  opened_run adopt(adopt_run_request& x);

  std::shared_ptr<storage::journal> journal;
  guard_waiter wait_for_guard;
  fault_hook faults;
};

session_store_actor::behavior_type session_store(
    session_store_actor::stateful_pointer<session_store_state> self,
    std::shared_ptr<storage::journal> journal, guard_waiter wait_for_guard,
    fault_hook faults);

}  // namespace riffle
