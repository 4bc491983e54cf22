// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/core/proposal_ledger.hpp"
#include "actors/interfaces.hpp"

namespace riffle {

/// A call that waits for its decision.
struct undecided_call {
  tool_call call;
  storage::proposal_record record;
  bool asked = false;      ///< its request is on its way to the journal …
  bool stored = false;     ///< … and there
  bool withdrawn = false;  ///< the dispatcher needs no decision any more
};

/// What a tracker starts from.
struct tracker_start {
  /// Requests on record without a decision that was acted on.
  std::map<call_id, undecided_call> open;
  /// Of this run; nothing waits for them.
  std::vector<storage::proposal_record> standing;
  /// Tools whose calls a person approved once and for all, and who.
  std::map<std::string, std::string> always;
};

/// From records. Pure.
tracker_start plan_tracker(const storage::run_snapshot& snapshot);

/// The proposals of a run. A decision is durable before it comes here
/// (`proposal_desk`), so every tracker of the run, also after a crash, acts on
/// the same one.
struct proposal_tracker_state {
  static inline const char* name = "proposal_tracker";
  explicit proposal_tracker_state(proposal_tracker_actor::pointer me)
      : self{me} {}

  void begin(run_peers& x);
  void on_request(approval_request& x);
  void on_withdrawn(const approval_withdrawn& x);
  void on_standing(standing_proposal& x);
  void on_committed(const request_committed& x);
  void on_preview(preview_ready& x);
  void on_overdue(const preview_overdue& x);
  void on_expiry(const expiry_due& x);
  void on_decision(decision_known& x);

  [[nodiscard]] storage::proposal_record make_record(
      const tool_call& call) const;
  /// Request and decision in one commit.
  void decide_at_once(const tool_call& call, events::decision how,
                      const std::string& by, const std::string& reason);
  void want_preview(const tool_call& call);
  void ask(undecided_call& x);
  void propose(undecided_call& x);
  void await(const undecided_call& x);
  void settle(const storage::proposal_record& what, events::decision how,
              std::string reason);
  void resolve(undecided_call x, const core::decided_proposal& decided,
               const std::string& digest);
  void answer(approval_decision x);
  void tell_standing(const storage::decision_record& x);

  proposal_tracker_actor::pointer self;
  run_spec_ptr spec;
  tracker_start start;
  run_peers peers;
  core::proposal_ledger ledger;
  std::map<call_id, undecided_call> waiting;
  std::map<proposal_id, storage::proposal_record> standing;
};

proposal_tracker_actor::behavior_type proposal_tracker(
    proposal_tracker_actor::stateful_pointer<proposal_tracker_state> self,
    run_spec_ptr spec, tracker_start start);

}  // namespace riffle
