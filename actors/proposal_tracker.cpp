// SPDX-License-Identifier: MIT
#include "actors/proposal_tracker.hpp"

#include "actors/handler.hpp"

namespace riffle {

namespace {

constexpr const char* denial =
    "a call that changes something needs approval, and nobody was there to "
    "approve it; do what is possible without it, or say what you would do";

}  // namespace

/// Request and decision are one commit, before the call can begin.
void proposal_tracker_state::on_request(const approval_request& x) {
  const auto& call = x.call;
  const auto digest = call.tool + " " + call.arguments;
  const auto id = spec->ids->next<proposal_id>();
  if (!ledger.on_request({id, call.id, digest, {}}).opened) return;
  const auto how =
      spec->approve_all ? events::decision::approved : events::decision::denied;
  const auto answer = ledger.on_decision(
      id, how, spec->approved_by, spec->approve_all ? "" : denial, digest);
  const auto& decided = *answer.holds;
  run_entry entry;
  entry.events.emplace_back(
      events::approval_required{id,
                                call.id,
                                call.tool,
                                call.title,
                                call.arguments,
                                {},
                                "`" + call.tool + "` changes something",
                                {}});
  entry.events.emplace_back(events::approval_resolved{
      id, call.id, decided.how, decided.by, decided.reason, {}});
  storage::call_record record;
  record.call = call;
  record.run = spec->run;
  record.approved = spec->approve_all;
  record.decision_reason = decided.reason;
  entry.changes.emplace_back(std::move(record));
  self->send(peers.muxer, std::move(entry));
  self->send(peers.dispatcher,
             approval_decision{call.id, spec->approve_all, decided.reason});
  ledger.forget(call.id);
}

void proposal_tracker_state::on_withdrawn(const approval_withdrawn& x) {
  const auto cancelled = ledger.cancel(x.id);
  if (!cancelled) return;
  run_entry entry;
  entry.events.emplace_back(events::approval_resolved{cancelled->id,
                                                      x.id,
                                                      cancelled->how,
                                                      cancelled->by,
                                                      cancelled->reason,
                                                      {}});
  self->send(peers.muxer, std::move(entry));
}

proposal_tracker_actor::behavior_type proposal_tracker(
    proposal_tracker_actor::stateful_pointer<proposal_tracker_state> self,
    run_spec_ptr spec) {
  auto& st = self->state;
  st.spec = std::move(spec);
  const auto run = [self](const char* handler, auto f) {
    run_handler(self, self->state.spec->faults, handler, std::move(f));
  };
  return {
      [&st](run_peers& x) { st.peers = std::move(x); },
      [&st, run](approval_request& x) {
        run("proposal_tracker.approval_request", [&] { st.on_request(x); });
      },
      [&st, run](approval_withdrawn& x) {
        run("proposal_tracker.approval_withdrawn", [&] { st.on_withdrawn(x); });
      },
  };
}

}  // namespace riffle
