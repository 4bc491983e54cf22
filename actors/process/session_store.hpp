// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>

#include "actors/interfaces.hpp"
#include "actors/process/run_adoption.hpp"
#include "runtime/base/executor.hpp"

namespace riffle {

/// If it dies, the runtime ends: nothing would open a run any more.
struct session_store_state {
  static inline const char* name = "session_store";
  explicit session_store_state(session_store_actor::pointer me) : self{me} {}

  opened_run on(open_run_request& x);
  caf::result<opened_run> on(adopt_run_request& x);
  void on(adoption_done& x);
  /// Repeated until the journal takes it: nobody else may have the run before.
  void on(const disown_request& x);

  session_store_actor::pointer self;
  std::shared_ptr<storage::journal> journal;
  std::shared_ptr<executor> blocking;  ///< where it waits; null: in its handler
  guard_waiter wait_for_guard;
  fault_hook faults;
  std::map<std::uint64_t, caf::typed_response_promise<opened_run>> adopting;
  std::uint64_t last_number = 0;
  std::set<run_id> undisowned;  ///< the journal refused, it is tried again
};

session_store_actor::behavior_type session_store(
    session_store_actor::stateful_pointer<session_store_state> self,
    std::shared_ptr<storage::journal> journal,
    std::shared_ptr<executor> blocking, guard_waiter wait_for_guard,
    fault_hook faults);

}  // namespace riffle
