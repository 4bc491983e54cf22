// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/ask_order.hpp"
#include "actors/core/proposal_ledger.hpp"
#include "actors/interfaces.hpp"

namespace riffle {

/// What is known of a call that waits for its decision; where it stands is
/// `core::proposal_ledger`'s.
struct undecided_call {
  tool_call call;
  storage::proposal_record record;
  /// Approved by this; it is looked whether what was shown is still so.
  std::optional<storage::decision_record> approved = {};
  /// Withdrawn by this, as what was shown is no longer so: it is asked anew.
  std::optional<storage::decision_record> outdated = {};
  bool ahead = false;    ///< an earlier call was open when it was asked
  bool again = false;    ///< approved before, and about to begin
  bool doubted = false;  ///< so, and one of these has failed
  bool resumed = false;  ///< so, and the process ended while it was at work
};

/// Looks of a run at a time: what hangs keeps a few threads.
inline constexpr std::size_t looks_at_once = 4;

/// What a tracker starts from.
struct tracker_start {
  /// Requests on record without a decision that was acted on.
  std::map<call_id, undecided_call> open;
  /// Of this run; nothing waits for them.
  std::vector<storage::proposal_record> open_proposals;
  /// Calls that a person approved, and that begin, or may begin again.
  std::map<call_id, undecided_call> agreed = {};
};

/// From records. Pure.
tracker_start plan_tracker(const storage::run_snapshot& snapshot);

/// Whether an approval is of what was shown, and what it approved (with other
/// arguments: these) is still as it was then; never so if nobody looked at it
/// when it was shown. `now`: of the call as approved. Pure.
bool still_holds(const storage::proposal_record& shown,
                 const storage::decision_record& approval,
                 const call_inspection& now);

/// The proposals of a run. A decision is durable before it comes here
/// (`command_inbox`), so every tracker of the run, also after a crash, acts on
/// the same one. An approval of something that has changed since it was shown
/// is stale: it is acted on by asking again, with a proposal that replaces it.
/// So is one that another process showed, if its picture is none of now.
struct proposal_tracker_state {
  static inline const char* name = "proposal_tracker";
  explicit proposal_tracker_state(proposal_tracker_actor::pointer me)
      : self{me} {}

  void on(run_peers& x);
  void on(approval_request& x);
  void on(const approval_withdrawn& x);
  void on(open_proposal& x);
  void on(const request_committed& x);
  void on(call_inspected& x);
  void on(const inspection_overdue& x);
  void on(const expiry_due& x);
  void on(decision_known& x);

  [[nodiscard]] storage::proposal_record make_record(
      const tool_call& call, const call_inspection& seen) const;
  /// Request and decision in one commit.
  void decide_at_once(const tool_call& call, const call_inspection& seen,
                      events::proposal_outcome how, const std::string& by,
                      const std::string& reason, bool unasked = false);
  /// Of the call that this run executes, which was approved in another one.
  void check_cause(const tool_call& call);
  /// Of a call that was approved before and is about to begin.
  void check_again(approval_request& x);
  void on_again(const undecided_call& x);
  /// It has begun once, so that nobody can be asked.
  void refuse_resumed(const undecided_call& x, const call_inspection& seen);
  void postpone(const undecided_call& x);
  void look_at_next();
  void on_first_looks(const core::ask_order<call_inspection>::ready& seen);
  void submit_look(const core::call_look& x);
  void on_first_look(undecided_call x, const call_inspection& seen);
  void on_second_look(const call_inspected& x);
  void on_restored_look(const undecided_call& x, const call_inspection& seen);
  /// It could not be looked at: it ends, and nobody is asked.
  void refuse(const undecided_call& x, const error& why,
              std::vector<events::body> before = {});
  void refuse_approved(const undecided_call& x, const error& why);
  void ask(const undecided_call& x, std::vector<events::body> before = {});
  void propose(const undecided_call& x, const std::string& reason);
  void await(const undecided_call& x, core::stored_move how);
  void look_for_expiry(const expiry_due& x);
  /// Nothing of it is open any more; its payload.
  undecided_call take(const call_id& id);
  void settle(const storage::proposal_record& what,
              events::proposal_outcome how, std::string reason);
  /// The call is asked for anew.
  void replace(undecided_call x, const call_inspection& seen);
  /// `changed`: the call with the arguments that the decision has, if it has
  /// any and the call was looked at.
  void resolve(undecided_call x, const storage::decision_record& y,
               std::optional<changed_call> changed);
  void resolve_cause(const undecided_call& x);
  void answer(approval_decision x);
  void tell_open_proposal(const storage::decision_record& x);

  proposal_tracker_actor::pointer self;
  run_spec_ptr spec;
  tracker_start start;
  run_peers peers;
  core::proposal_ledger ledger{looks_at_once};
  std::map<call_id, undecided_call> waiting;
  std::map<proposal_id, storage::proposal_record> open_proposals;
  /// Approved ahead, until they begin.
  std::map<call_id, undecided_call> agreed;
  core::ask_order<call_inspection> order;  ///< of first looks
};

proposal_tracker_actor::behavior_type proposal_tracker(
    proposal_tracker_actor::stateful_pointer<proposal_tracker_state> self,
    run_spec_ptr spec, tracker_start start);

}  // namespace riffle
