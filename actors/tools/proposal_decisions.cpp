// SPDX-License-Identifier: MIT
// What a tracker makes of decisions.
#include <utility>

#include "actors/tools/call_check.hpp"
#include "actors/tools/call_records.hpp"
#include "actors/tools/proposal_texts.hpp"
#include "actors/tools/proposal_tracker.hpp"
#include "runtime/base/digest.hpp"

namespace riffle {

namespace {

constexpr const char* itself = "riffle";

again_because why_again(const undecided_call& x,
                        const storage::proposal_record& shown,
                        const call_inspection& now) {
  if (x.doubted) return again_because::failure;
  if (shown.definition.empty()) return again_because::unseen;
  if (shown.definition != now.definition) return again_because::tool;
  const bool edited = x.approved && !x.approved->arguments.empty();
  return edited && x.approved->basis.empty() ? again_because::unseen
                                             : again_because::changed;
}

/// Why it is asked again; its grant goes with an answer that does not hold (the
/// journal sees to it).
std::string reason_of(const undecided_call& x, again_because why) {
  const bool allowed = x.approved && x.approved->always != always_scope::none;
  return again_reason(x.call, why) +
         (allowed ? "; what that answer allowed for further calls is taken back"
                  : "");
}

/// What an approval is bound to.
const std::string& basis_of(const storage::decision_record& approval,
                            const storage::proposal_record& shown) {
  return approval.arguments.empty() ? shown.basis : approval.basis;
}

/// Approved ahead with arguments of which nobody could tell what they act on,
/// and earlier calls have acted since.
bool is_blind(const undecided_call& x) {
  return x.again && !x.resumed && x.approved &&
         !x.approved->arguments.empty() && x.approved->basis.empty();
}

/// Of what was shown, beside what was approved instead.
bool is_as_shown(const storage::proposal_record& shown,
                 const call_inspection& now) {
  return shown.basis.empty() || shown.basis == now.preview.basis;
}

/// What this process decides where it asks nobody; another one had asked.
storage::decision_record decision_of(const run_spec& spec,
                                     const storage::proposal_record& what) {
  const bool approved = spec.approval == approve::all;
  storage::decision_record out;
  out.proposal = what.id;
  out.how = approved ? events::proposal_outcome::approved
                     : events::proposal_outcome::denied;
  out.by = spec.approved_by;
  if (!approved)
    out.reason = spec.approval == approve::nobody ? nobody_there : not_allowed;
  out.at = spec.wall();
  if (approved) out.digest = what.digest;
  return out;
}

}  // namespace

bool still_holds(const storage::proposal_record& shown,
                 const storage::decision_record& approval,
                 const call_inspection& now) {
  const bool edited = !approval.arguments.empty();
  const auto& basis = basis_of(approval, shown);
  if (approval.digest !=
      proposal_digest(shown.tool, edited ? approval.arguments : shown.arguments,
                      shown.definition, basis))
    return false;
  if (shown.definition.empty() || shown.definition != now.definition)
    return false;
  return edited ? basis == now.preview.basis : is_as_shown(shown, now);
}

/// Riffle's own decision takes the same way as a person's: the first that is
/// stored holds.
void proposal_tracker_state::settle(const storage::proposal_record& what,
                                    events::proposal_outcome how,
                                    std::string reason) {
  self->send(peers.inbox, settle_proposal{{what.id,
                                           how,
                                           itself,
                                           std::move(reason),
                                           {},
                                           always_scope::none,
                                           spec->wall(),
                                           {}}});
}

void proposal_tracker_state::on(const expiry_due& x) {
  const auto open = ledger.waiting(x.id);
  if (!open) return;
  const auto& what = waiting.at(*open).record;
  const bool over = self->clock().now() >= x.due ||
                    (what.expires && *what.expires <= spec->wall());
  if (!over) return look_for_expiry(x);
  settle(what, events::proposal_outcome::expired, expired);
}

void proposal_tracker_state::on(const approval_withdrawn& x) {
  if (auto known = start.open.extract(x.id)) {
    const auto& open = waiting[x.id] = std::move(known.mapped());
    await(open, ledger.on_restored(x.id, open.record.id, true));
    return;
  }
  switch (ledger.on_withdrawn(x.id)) {
    case core::withdrawal::none:
    case core::withdrawal::later: break;
    case core::withdrawal::end:
      waiting.erase(x.id);
      answer({x.id, false, withdrawn});
      on_first_looks(order.on_skip(x.id));
      break;
    case core::withdrawal::cancel:
      settle(waiting.at(x.id).record, events::proposal_outcome::cancelled,
             withdrawn);
      break;
  }
}

void proposal_tracker_state::on(decision_known& x) {
  auto& y = x.decision;
  if (open_proposals.contains(y.proposal)) {
    tell_open_proposal(y);
    return;
  }
  const bool outdated = y.by == itself && y.reason == stale_reason;
  const auto first = ledger.on_decision(y.proposal, y.how, outdated);
  if (!first) return;
  self->send(peers.inbox, unwatch_proposal{y.proposal});
  if (first->look) {
    auto& open = waiting.at(first->call);
    (outdated ? open.outdated : open.approved) = std::move(y);
    look_at_next();
  } else {
    resolve(take(first->call), y, {});
  }
}

/// What a person would be asked about is what would happen now, if it may.
void proposal_tracker_state::on_restored_look(const undecided_call& x,
                                              const call_inspection& seen) {
  const auto& shown = x.record;
  if (seen.refused)
    return settle(shown, events::proposal_outcome::denied,
                  seen.failure->message);
  if (spec->approval != approve::ask) {
    self->send(peers.inbox, settle_proposal{decision_of(*spec, shown)});
    return;
  }
  if (seen.failure || shown.definition.empty()) return;
  if (shown.definition != seen.definition || shown.basis != seen.preview.basis)
    settle(shown, events::proposal_outcome::cancelled, stale_reason);
}

void proposal_tracker_state::on_second_look(const call_inspected& x) {
  const auto& asked = waiting.at(x.id);
  const auto& shown = spec->cause ? spec->cause->what : asked.record;
  const bool wrong = x.changed && !x.changed->call;
  const auto& seen = x.changed && !wrong ? x.changed->seen : x.what;
  const bool holds = wrong ? is_as_shown(shown, x.what)
                           : asked.approved && !asked.doubted &&
                                 !is_blind(asked) &&
                                 still_holds(shown, *asked.approved, seen) &&
                                 (!x.changed || is_as_shown(shown, x.what));
  const bool granted =
      asked.again && !asked.approved && !spec->cause && x.what.granted;
  const auto next =
      ledger.after_look(x.id, seen.failure.has_value(), holds || granted);
  auto known = take(x.id);
  if (known.resumed && next != core::look_again::resolve)
    return refuse_resumed(known, seen);
  switch (next) {
    case core::look_again::refuse: return refuse_approved(known, *seen.failure);
    case core::look_again::replace:
      if (x.changed && !wrong) known.call = *x.changed->call;
      return replace(std::move(known), seen);
    case core::look_again::resolve: break;
  }
  if (granted) return answer({x.id, true, {}});
  if (known.again) return on_again(known);
  if (spec->cause) return resolve_cause(known);
  const auto decided = known.approved ? *known.approved : *known.outdated;
  resolve(std::move(known), decided, x.changed);
}

/// The person's decision stays; what became of it is in the log.
void proposal_tracker_state::refuse_approved(const undecided_call& x,
                                             const error& why) {
  std::vector<events::body> told;
  if (!spec->cause && !x.again)
    told.emplace_back(
        events::approval_resolved{x.record.id,
                                  x.call.id,
                                  events::proposal_outcome::cancelled,
                                  itself,
                                  "approved, but not executed: " + why.message,
                                  {}});
  refuse(x, why, std::move(told));
}

void proposal_tracker_state::replace(undecided_call x,
                                     const call_inspection& seen) {
  if (spec->cause) {
    const auto& shown = spec->cause->what;
    x.record = make_record(x.call, seen);
    x.record.reason = reason_of(x, why_again(x, shown, seen));
    x.record.replaces = shown.id;
    return propose(x, stale(x.record, shown));
  }
  const auto old = x.record.id;
  const auto why = why_again(x, x.record, seen);
  std::vector<events::body> before;
  if (x.again)
    before.emplace_back(events::status{asked_again(x.call, why)});
  else
    before.emplace_back(events::approval_resolved{
        old,
        x.call.id,
        events::proposal_outcome::cancelled,
        itself,
        why == again_because::unseen ? unseen_reason : stale_reason,
        {}});
  x.record = make_record(x.call, seen);
  x.record.reason = reason_of(x, why);
  x.approved.reset();
  x.outdated.reset();
  x.record.replaces = old;
  x.ahead = false;
  if (spec->approval != approve::ask) {
    run_entry told;
    told.events = std::move(before);
    self->send(peers.muxer, std::move(told));
    const auto by_choice = decision_of(*spec, x.record);
    return decide_at_once(x.call, seen, by_choice.how, by_choice.by,
                          by_choice.reason, spec->approval == approve::nobody);
  }
  const auto id = x.call.id;
  ask(waiting[id] = std::move(x), std::move(before));
}

/// Events and record of the decision first, then the dispatcher: nothing acts
/// before they are on their way to the journal, in front of the intent.
void proposal_tracker_state::resolve(undecided_call x,
                                     const storage::decision_record& y,
                                     std::optional<changed_call> changed) {
  events::approval_resolved event{y.proposal, x.call.id, y.how,
                                  y.by,       y.reason,  {}};
  event.unasked = spec->approval == approve::nobody &&
                  y.by == spec->approved_by && y.reason == nobody_there;
  approval_decision out{x.call.id,
                        y.how == events::proposal_outcome::approved,
                        denial_text(y),
                        y.how == events::proposal_outcome::expired
                            ? errc::approval_expired
                            : errc::approval_denied,
                        {},
                        {}};
  const bool kept = out.approved && x.ahead;
  if (out.approved && y.arguments.empty()) {
    x.call.basis = out.basis = x.record.basis;
  } else if (out.approved && !changed) {  // withdrawn meanwhile: nothing acts
    event.arguments = y.arguments;
    out.approved = false;
    out.reason = withdrawn;
  } else if (out.approved && changed->call) {
    x.call = std::move(*changed->call);
    x.call.basis = out.basis = y.basis;
  } else if (out.approved) {  // was checked before; rules or tools differ here
    event.how = events::proposal_outcome::denied;
    event.by = itself;
    event.reason = out.reason = bad_approval(changed->call.error());
    out.approved = false;
  }
  if (out.approved && !x.call.edited_from.empty()) {
    event.arguments = x.call.arguments;
    out.edited = x.call;
  }
  run_entry entry;
  entry.events.emplace_back(std::move(event));
  entry.changes.emplace_back(
      decided_record(*spec, x.call, out.approved, out.reason, out.code));
  self->send(peers.muxer, std::move(entry));
  if (kept && out.approved) {
    x.approved = y;
    agreed.insert_or_assign(x.call.id, std::move(x));
  }
  answer(std::move(out));
}

// -- asked ahead --------------------------------------------------------------

/// What it would do depends on an earlier call: asked about when that ended.
void proposal_tracker_state::postpone(const undecided_call& x) {
  approval_decision later{x.call.id};
  later.postponed = true;
  answer(std::move(later));
}

/// Nobody saw what Riffle approved by itself. What it approved by an "always"
/// is looked at again if a call has failed since: that may have been taken
/// back with the answer that gave it.
void proposal_tracker_state::check_again(approval_request& x) {
  const auto id = x.call.id;
  auto known = agreed.extract(id);
  if (!known) known = start.agreed.extract(id);
  const bool in_doubt = x.why == core::ask_reason::doubted && !spec->propose &&
                        spec->approval == approve::ask;
  if (!known && !spec->cause && !in_doubt) return answer({id, true, {}});
  auto& open = waiting[id];
  if (known)
    open = std::move(known.mapped());
  else if (spec->cause)
    open.approved = spec->cause->decided;
  open.doubted = x.why == core::ask_reason::doubted;
  open.resumed = x.why == core::ask_reason::resumed;
  open.call = std::move(x.call);
  open.again = true;
  ledger.on_approved(id);
  look_at_next();
}

void proposal_tracker_state::on_again(const undecided_call& x) {
  approval_decision out{x.call.id, x.approved.has_value(), {}};
  if (out.approved)
    out.basis =
        basis_of(*x.approved, spec->cause ? spec->cause->what : x.record);
  answer(std::move(out));
}

/// Not on record: it is looked at again if the process ends here, too.
void proposal_tracker_state::refuse_resumed(const undecided_call& x,
                                            const call_inspection& seen) {
  const std::string why =
      seen.refused
          ? "may not run by the rules of now (" + seen.failure->message + ")"
      : seen.failure ? "cannot be compared with what was approved (" +
                           seen.failure->message + ")"
                     : "is no longer what was approved: its tool, its program "
                       "or what it works on has changed since";
  answer({x.call.id, false,
          "the runtime stopped while this call was under way, and it " + why +
              "; it does not begin again, and its outcome is unknown: check "
              "before you repeat it",
          errc::interrupted});
}

void proposal_tracker_state::answer(approval_decision x) {
  self->send(peers.dispatcher, std::move(x));
}

// -- approved in another run --------------------------------------------------

void proposal_tracker_state::check_cause(const tool_call& call) {
  auto& open = waiting[call.id];
  open.call = call;
  open.approved = spec->cause->decided;
  ledger.on_approved(call.id);
  look_at_next();
}

void proposal_tracker_state::resolve_cause(const undecided_call& x) {
  approval_decision out{x.call.id, true, {}};
  auto call = x.call;
  call.basis = out.basis = basis_of(*x.approved, spec->cause->what);
  run_entry entry;
  entry.changes.emplace_back(decided_record(*spec, call, true,
                                            "approved by " + x.approved->by,
                                            errc::approval_denied));
  self->send(peers.muxer, std::move(entry));
  answer(std::move(out));
}

void proposal_tracker_state::tell_open_proposal(
    const storage::decision_record& x) {
  auto what = std::move(open_proposals.extract(x.proposal).mapped());
  self->send(peers.inbox, unwatch_proposal{x.proposal});
  run_entry entry;
  entry.events.emplace_back(proposal_event(what, status_of(x.how)));
  self->send(peers.muxer, std::move(entry));
}

}  // namespace riffle
