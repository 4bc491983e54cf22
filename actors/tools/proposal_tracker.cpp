// SPDX-License-Identifier: MIT
// Who is asked about a call, and what.
#include "actors/tools/proposal_tracker.hpp"

#include <algorithm>
#include <utility>

#include "actors/handler.hpp"
#include "actors/tools/call_records.hpp"
#include "actors/tools/look_limits.hpp"
#include "actors/tools/proposal_texts.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

constexpr const char* proposal_tracker_op = "proposal_tracker";

/// Why a call is looked at, and as what.
struct look {
  tool_call call;
  bool grants = false;      ///< whether one covers it
  std::string arguments{};  ///< of the approval that it is looked at for
  bool is_changed = false;  ///< `call` has them already …
  std::string shown = {};   ///< … instead of these
};

call_inspected take_look(const run_spec& spec, look x, std::uint32_t round) {
  call_inspected out{x.call.id, round, {}};
  if (x.arguments.empty()) {
    out.what = inspect_call(spec, x.call, x.grants);
  } else if (!x.is_changed) {
    out.what = inspect_call(spec, x.call, false);
    out.changed = inspect_changed(spec, x.call, x.arguments);
  } else {
    out.changed = changed_call{x.call, inspect_call(spec, x.call, false)};
    x.call.arguments = std::move(x.shown);
    out.what = inspect_call(spec, x.call, false);
  }
  return out;
}

}  // namespace

storage::proposal_record proposal_tracker_state::make_record(
    const tool_call& call, const call_inspection& seen) const {
  storage::proposal_record x;
  x.id = spec->ids->next<proposal_id>();
  x.session = spec->session;
  x.run = spec->run;
  x.call = call.id;
  x.waits = !spec->propose && !spec->cause;
  x.tool = call.tool;
  x.title = call.title;
  x.arguments = call.arguments;
  x.folder = spec->folder;
  x.definition = seen.definition;
  x.preview = seen.preview.text;
  x.basis = seen.preview.basis;
  x.can_always = seen.can_always;
  x.pattern = seen.pattern;
  x.digest = proposal_digest(x.tool, x.arguments, x.definition, x.basis);
  x.summary = call.title;
  const bool no_rules = spec->tool_settings.of(call.tool).rules.empty();
  x.reason =
      call.eff == effect::mutating ? "`" + call.tool + "` changes something"
      : no_rules ? "you are asked before each call of `" + call.tool + "`"
                 : "a rule asks before this call of `" + call.tool + "`";
  x.made = spec->wall();
  if (spec->expire_after > duration{})
    x.expires = wall_time{x.made.us +
                          std::chrono::duration_cast<std::chrono::microseconds>(
                              spec->expire_after)
                              .count()};
  return x;
}

// -- requests -----------------------------------------------------------------

void proposal_tracker_state::on(run_peers& x) {
  peers = std::move(x);
  for (auto& record : std::exchange(start.open_proposals, {})) {
    open_proposal open{std::move(record)};
    on(open);
  }
}

void proposal_tracker_state::on(approval_request& x) {
  const bool ahead = x.why == core::ask_reason::ahead;
  if (x.why >= core::ask_reason::again) return check_again(x);
  if (x.why == core::ask_reason::anew) {
    ledger.on_resumed(x.call.id);
    look_at_next();
  } else if (auto known = start.open.extract(x.call.id)) {
    auto& open = waiting[x.call.id] = std::move(known.mapped());
    open.call = std::move(x.call);
    open.ahead = ahead;
    await(open, ledger.on_restored(open.call.id, open.record.id, false));
    ledger.on_resumed(open.call.id);
    look_at_next();
  } else if (spec->cause) {
    check_cause(x.call);
  } else if (spec->approval == approve::all) {
    decide_at_once(x.call, {}, events::proposal_outcome::approved,
                   spec->approved_by, {});
  } else if (spec->approval == approve::none) {
    decide_at_once(x.call, {}, events::proposal_outcome::denied,
                   spec->approved_by, not_allowed);
  } else {
    auto& open = waiting[x.call.id];
    open.call = std::move(x.call);
    open.ahead = ahead;
    order.on_request(open.call.id);
    ledger.on_request(open.call.id);
    look_at_next();
  }
}

void proposal_tracker_state::decide_at_once(const tool_call& call,
                                            const call_inspection& seen,
                                            events::proposal_outcome how,
                                            const std::string& by,
                                            const std::string& reason,
                                            bool unasked) {
  const bool approved = how == events::proposal_outcome::approved;
  auto what = make_record(call, seen);
  what.waits = true;
  what.expires = {};
  run_entry entry;
  entry.events.emplace_back(required_event(what));
  entry.events.emplace_back(events::approval_resolved{
      what.id, call.id, how, by, reason, {}, unasked});
  entry.changes.emplace_back(
      decided_record(*spec, call, approved, reason, errc::approval_denied));
  storage::decision_record decision{
      what.id, how, by, reason, {}, always_scope::none, what.made, {}};
  if (approved) decision.digest = what.digest;
  entry.changes.emplace_back(std::move(what));
  entry.changes.emplace_back(std::move(decision));
  self->send(peers.muxer, std::move(entry));
  answer({call.id, approved, reason});
}

undecided_call proposal_tracker_state::take(const call_id& id) {
  ledger.on_end(id);
  return std::move(waiting.extract(id).mapped());
}

/// It may read files and ask the tool, so it is done on a thread of its own
/// kind: those of the tools may be busy for as long as their calls run.
void proposal_tracker_state::look_at_next() {
  for (const auto& x : ledger.next_looks()) submit_look(x);
}

void proposal_tracker_state::submit_look(const core::call_look& x) {
  const auto& of = waiting.at(x.call);
  const bool asked = !of.record.id.value.empty();
  look what{of.call, !of.approved && !asked};
  // What begins again was compared with what was shown when it was decided.
  if (of.approved && !of.again) what.arguments = of.approved->arguments;
  if (spec->cause) {  // the run has the approved arguments already
    what.is_changed = true;
    what.shown = spec->cause->what.arguments;
  }
  auto job = [me = caf::actor_cast<proposal_tracker_actor>(self), spec = spec,
              what = std::move(what), round = x.round] {
    caf::anon_send(me, take_look(*spec, what, round));
  };
  if (!spec->looks) return job();
  self->delayed_send(self, look_late,
                     inspection_overdue{x.call, x.round, false});
  self->delayed_send(self, look_limit,
                     inspection_overdue{x.call, x.round, true});
  spec->looks->submit(std::move(job), {spec->run.value, 0}, {});
}

void proposal_tracker_state::on(call_inspected& x) {
  switch (ledger.on_seen({x.id, x.round})) {
    case core::look_result::late: break;
    case core::look_result::first:
      on_first_looks(order.on_seen(x.id, std::move(x.what)));
      break;
    case core::look_result::restored:
      on_restored_look(waiting.at(x.id), x.what);
      break;
    case core::look_result::again: on_second_look(x); break;
  }
  look_at_next();
}

void proposal_tracker_state::on_first_looks(
    const core::ask_order<call_inspection>::ready& seen) {
  for (const auto& [id, what] : seen) {
    const auto i = waiting.find(id);
    if (i != waiting.end()) on_first_look(take(id), what);
  }
}

void proposal_tracker_state::on(const inspection_overdue& x) {
  const bool awaited = ledger.awaits({x.id, x.round});
  if (x.last) {
    call_inspected nothing{x.id, x.round, {}};
    if (awaited)
      nothing.what.failure =
          not_looked_at(proposal_tracker_op, waiting.at(x.id).call.tool);
    on(nothing);
  } else if (awaited && waiting.at(x.id).record.id.value.empty()) {
    log_warn(proposal_tracker_op,
             "a call of `" + waiting.at(x.id).call.tool +
                 "` cannot be looked at yet; nobody is asked about it "
                 "before");
    on_first_looks(order.on_skip(x.id));
  }
}

/// On record, so that it ends in the same way after a crash.
void proposal_tracker_state::refuse(const undecided_call& x, const error& why,
                                    std::vector<events::body> before) {
  run_entry entry;
  entry.events = std::move(before);
  entry.changes.emplace_back(
      decided_record(*spec, x.call, false, why.message, why.code));
  self->send(peers.muxer, std::move(entry));
  answer({x.call.id, false, why.message, why.code});
}

void proposal_tracker_state::on_first_look(undecided_call x,
                                           const call_inspection& seen) {
  // So far as "this very call" reaches depends on what it acts on, too.
  const bool depends =
      seen.granted && (seen.granted->scope == always_scope::call ||
                       seen.granted->definition != seen.definition);
  // Of what names no content nobody could say later that it has changed.
  const bool blind = !seen.granted && seen.blind;
  if (x.ahead && (seen.failure || depends || blind)) return postpone(x);
  if (seen.failure) return refuse(x, *seen.failure);
  if (seen.granted) {
    decide_at_once(x.call, seen, events::proposal_outcome::approved,
                   "always (" + seen.granted->by + ")",
                   grant_text(*seen.granted));
    return;
  }
  if (spec->approval == approve::nobody) {
    decide_at_once(x.call, seen, events::proposal_outcome::denied,
                   spec->approved_by, nobody_there, true);
    return;
  }
  x.record = make_record(x.call, seen);
  if (spec->propose) {
    propose(x, proposed(x.record));
    return;
  }
  const auto id = x.call.id;
  ask(waiting[id] = std::move(x));
}

void proposal_tracker_state::ask(const undecided_call& x,
                                 std::vector<events::body> before) {
  ledger.on_asked(x.call.id, x.record.id);
  run_entry entry;
  entry.events = std::move(before);
  entry.events.emplace_back(required_event(x.record));
  entry.changes.emplace_back(x.record);
  // An earlier consent was for another thing.
  if (x.call.judged || x.again || !x.call.edited_from.empty()) {
    storage::call_record waits;
    waits.call = x.call;
    waits.run = spec->run;
    entry.changes.emplace_back(std::move(waits));
  }
  entry.notice = request_committed{x.call.id};
  self->send(peers.muxer, std::move(entry));
  waiting.at(x.call.id).again = false;
  waiting.at(x.call.id).doubted = false;
}

/// The call itself ends here; its proposal stays open.
void proposal_tracker_state::propose(const undecided_call& x,
                                     const std::string& reason) {
  run_entry entry;
  entry.events.emplace_back(
      proposal_event(x.record, events::proposal_status::open));
  entry.changes.emplace_back(x.record);
  entry.changes.emplace_back(
      decided_record(*spec, x.call, false, reason, errc::approval_denied));
  self->send(peers.muxer, std::move(entry));
  self->send(peers.orchestrator, proposal_made{x.record.summary});
  answer({x.call.id, false, reason});
  open_proposal mine{x.record};
  on(mine);
}

void proposal_tracker_state::on(open_proposal& x) {
  const auto id = x.record.id;
  open_proposals.insert_or_assign(id, std::move(x.record));
  self->send(peers.inbox,
             watch_proposal{id, caf::actor_cast<proposal_tracker_actor>(self)});
}

void proposal_tracker_state::on(const request_committed& x) {
  const auto how = ledger.on_stored(x.id);
  if (how != core::stored_move::none) await(waiting.at(x.id), how);
}

/// From here on the decision may come from anywhere.
void proposal_tracker_state::await(const undecided_call& x,
                                   core::stored_move how) {
  const auto& what = x.record;
  self->send(
      peers.inbox,
      watch_proposal{what.id, caf::actor_cast<proposal_tracker_actor>(self)});
  if (how == core::stored_move::cancel) {
    settle(what, events::proposal_outcome::cancelled, withdrawn);
  } else if (what.expires) {
    const duration left = std::chrono::microseconds{
        std::max<std::int64_t>(0, what.expires->us - spec->wall().us)};
    look_for_expiry({what.id, self->clock().now() + left});
  }
}

/// Everybody else goes by the wall clock, which may be set, and goes on while
/// the machine sleeps: it is looked at now and then.
void proposal_tracker_state::look_for_expiry(const expiry_due& x) {
  constexpr duration longest = std::chrono::seconds{30};
  const duration left = x.due - self->clock().now();
  self->delayed_send(self, std::clamp(left, duration{}, longest),
                     expiry_due{x.id, x.due});
}

proposal_tracker_actor::behavior_type proposal_tracker(
    proposal_tracker_actor::stateful_pointer<proposal_tracker_state> self,
    run_spec_ptr spec, tracker_start start) {
  log_exceptions(self);
  auto& st = self->state;
  st.spec = std::move(spec);
  st.start = std::move(start);
  return {
      handle<run_peers>(self, "proposal_tracker.run_peers"),
      handle<approval_request>(self, "proposal_tracker.approval_request"),
      handle<approval_withdrawn>(self, "proposal_tracker.approval_withdrawn"),
      handle<open_proposal>(self, "proposal_tracker.open_proposal"),
      handle<request_committed>(self, "proposal_tracker.request_committed"),
      handle<call_inspected>(self, "proposal_tracker.call_inspected"),
      handle<inspection_overdue>(self, "proposal_tracker.inspection_overdue"),
      handle<expiry_due>(self, "proposal_tracker.expiry_due"),
      handle<decision_known>(self, "proposal_tracker.decision_known"),
  };
}

}  // namespace riffle
