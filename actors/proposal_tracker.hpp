// SPDX-License-Identifier: MIT
#pragma once

#include "actors/core/proposal_ledger.hpp"
#include "actors/interfaces.hpp"

namespace riffle {

/// Approvals of calls. In this version the run's policy decides at once.
struct proposal_tracker_state {
  static inline const char* name = "proposal_tracker";
  explicit proposal_tracker_state(proposal_tracker_actor::pointer me)
      : self{me} {}

  void on_request(const approval_request& x);
  void on_withdrawn(const approval_withdrawn& x);

  proposal_tracker_actor::pointer self;
  run_spec_ptr spec;
  run_peers peers;
  core::proposal_ledger ledger;
};

proposal_tracker_actor::behavior_type proposal_tracker(
    proposal_tracker_actor::stateful_pointer<proposal_tracker_state> self,
    run_spec_ptr spec);

}  // namespace riffle
