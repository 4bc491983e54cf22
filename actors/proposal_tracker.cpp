// SPDX-License-Identifier: MIT
#include "actors/proposal_tracker.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/call_check.hpp"
#include "actors/call_records.hpp"
#include "actors/handler.hpp"
#include "actors/proposal_texts.hpp"
#include "runtime/base/digest.hpp"

namespace riffle {

namespace {

constexpr const char* itself = "riffle";

/// Longest wait for what a call would do; then it is asked for without.
constexpr auto preview_limit = std::chrono::seconds{2};
/// Characters of it that are stored and shown.
constexpr std::size_t preview_size = 20'000;

/// Blocks: on the lane. Whatever goes wrong, there is no preview.
std::string make_preview(const tools::tool& tool, const std::string& arguments,
                         const std::filesystem::path& workspace) {
  try {
    bool cut = false;
    auto text =
        cut_text(tool.preview(nlohmann::json::parse(arguments), workspace),
                 preview_size, cut);
    return cut ? text + "\n[the rest is not shown]" : text;
  } catch (...) {
    return {};
  }
}

storage::call_record decided_record(const run_spec& spec, const tool_call& call,
                                    bool approved, const std::string& reason,
                                    errc code) {
  storage::call_record record;
  record.call = call;
  record.run = spec.run;
  record.approved = approved;
  record.decision_reason = reason;
  if (!approved) record.err = error{code, "proposal_tracker", reason};
  return record;
}

}  // namespace

storage::proposal_record proposal_tracker_state::make_record(
    const tool_call& call) const {
  storage::proposal_record x;
  x.id = spec->ids->next<proposal_id>();
  x.session = spec->session;
  x.run = spec->run;
  x.call = call.id;
  x.waits = !spec->propose;
  x.tool = call.tool;
  x.title = call.title;
  x.arguments = call.arguments;
  x.digest = proposal_digest(call.tool, call.arguments);
  x.summary = call.title;
  x.reason = call.eff == effect::mutating
                 ? "`" + call.tool + "` changes something"
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

void proposal_tracker_state::begin(run_peers& x) {
  peers = std::move(x);
  for (auto& record : std::exchange(start.standing, {})) {
    standing_proposal open{std::move(record)};
    on_standing(open);
  }
}

void proposal_tracker_state::on_request(approval_request& x) {
  if (auto known = start.open.extract(x.call.id)) {
    auto& open = waiting[x.call.id] = std::move(known.mapped());
    open.call = std::move(x.call);
    await(open);
    return;
  }
  if (const auto always = start.always.find(x.call.tool);
      always != start.always.end() && spec->approval != approval_choice::none) {
    decide_at_once(x.call, events::decision::approved,
                   "always (" + always->second + ")", {});
  } else if (spec->approval == approval_choice::all) {
    decide_at_once(x.call, events::decision::approved, spec->approved_by, {});
  } else if (spec->approval == approval_choice::none) {
    decide_at_once(x.call, events::decision::denied, spec->approved_by,
                   nobody_there);
  } else {
    const auto id = x.call.id;
    auto record = make_record(x.call);
    auto& open = waiting[id];
    open.call = std::move(x.call);
    open.record = std::move(record);
    want_preview(open.call);
  }
}

void proposal_tracker_state::decide_at_once(const tool_call& call,
                                            events::decision how,
                                            const std::string& by,
                                            const std::string& reason) {
  const bool approved = how == events::decision::approved;
  auto what = make_record(call);
  what.waits = true;
  what.expires = {};
  run_entry entry;
  entry.events.emplace_back(required_event(what));
  entry.events.emplace_back(
      events::approval_resolved{what.id, call.id, how, by, reason, {}});
  entry.changes.emplace_back(
      decided_record(*spec, call, approved, reason, errc::approval_denied));
  storage::decision_record decision{what.id, how,   by,        reason,
                                    {},      false, what.made, {}};
  if (approved) decision.digest = what.digest;
  entry.changes.emplace_back(std::move(what));
  entry.changes.emplace_back(std::move(decision));
  self->send(peers.muxer, std::move(entry));
  answer({call.id, approved, reason});
}

/// The preview may read files, so it is made on the lane; its failure is no
/// failure of the call.
void proposal_tracker_state::want_preview(const tool_call& call) {
  const auto* tool = spec->registry->find(call.tool);
  if (!spec->lane || tool == nullptr) {
    preview_ready nothing{call.id, {}};
    on_preview(nothing);
    return;
  }
  auto workspace =
      std::filesystem::absolute(spec->tool_settings.of(call.tool).workspace);
  auto job = [me = caf::actor_cast<proposal_tracker_actor>(self), tool = *tool,
              id = call.id, arguments = call.arguments,
              workspace = std::move(workspace)] {
    caf::anon_send(
        me, preview_ready{id, make_preview(*tool, arguments, workspace)});
  };
  spec->lane->submit(std::move(job), {spec->run.value, 0}, {});
  self->delayed_send(self, preview_limit, preview_overdue{call.id});
}

void proposal_tracker_state::on_preview(preview_ready& x) {
  const auto i = waiting.find(x.id);
  if (i == waiting.end() || i->second.asked) return;
  i->second.record.preview = std::move(x.text);
  if (spec->propose)
    propose(i->second);
  else
    ask(i->second);
}

void proposal_tracker_state::on_overdue(const preview_overdue& x) {
  preview_ready nothing{x.id, {}};
  on_preview(nothing);
}

void proposal_tracker_state::ask(undecided_call& x) {
  x.asked = true;
  run_entry entry;
  entry.events.emplace_back(required_event(x.record));
  entry.changes.emplace_back(x.record);
  if (x.call.judged) {  // an earlier consent was for another place
    storage::call_record waits;
    waits.call = x.call;
    waits.run = spec->run;
    entry.changes.emplace_back(std::move(waits));
  }
  entry.notice = request_committed{x.call.id};
  self->send(peers.muxer, std::move(entry));
}

/// The call itself ends here; its proposal stays open.
void proposal_tracker_state::propose(undecided_call& x) {
  const auto open = std::move(waiting.extract(x.call.id).mapped());
  const auto reason = proposed(open.record);
  run_entry entry;
  entry.events.emplace_back(
      proposal_event(open.record, events::proposal_status::open));
  entry.changes.emplace_back(open.record);
  entry.changes.emplace_back(
      decided_record(*spec, open.call, false, reason, errc::approval_denied));
  self->send(peers.muxer, std::move(entry));
  self->send(peers.orchestrator, proposal_made{open.record.summary});
  answer({open.call.id, false, reason});
  standing_proposal mine{open.record};
  on_standing(mine);
}

void proposal_tracker_state::on_standing(standing_proposal& x) {
  const auto id = x.record.id;
  standing.insert_or_assign(id, std::move(x.record));
  self->send(peers.desk,
             watch_proposal{id, caf::actor_cast<proposal_tracker_actor>(self)});
}

void proposal_tracker_state::on_committed(const request_committed& x) {
  const auto i = waiting.find(x.id);
  if (i == waiting.end()) return;
  i->second.stored = true;
  await(i->second);
}

/// From here on the decision may come from anywhere.
void proposal_tracker_state::await(const undecided_call& x) {
  const auto& what = x.record;
  ledger.on_request({what.id, what.call, what.digest, what.expires});
  self->send(
      peers.desk,
      watch_proposal{what.id, caf::actor_cast<proposal_tracker_actor>(self)});
  if (x.withdrawn) {
    settle(what, events::decision::cancelled, withdrawn);
  } else if (what.expires) {
    const auto left = std::chrono::microseconds{
        std::max<std::int64_t>(0, what.expires->us - spec->wall().us)};
    self->delayed_send(self, left, expiry_due{what.id});
  }
}

// -- decisions ----------------------------------------------------------------

/// Riffle's own decision takes the same way as a person's: the first that is
/// stored holds.
void proposal_tracker_state::settle(const storage::proposal_record& what,
                                    events::decision how, std::string reason) {
  self->send(
      peers.desk,
      settle_proposal{
          {what.id, how, itself, std::move(reason), {}, false, spec->wall()}});
}

void proposal_tracker_state::on_expiry(const expiry_due& x) {
  if (const auto* open = ledger.find_pending(x.id))
    settle(waiting.at(open->call).record, events::decision::expired, expired);
}

void proposal_tracker_state::on_withdrawn(const approval_withdrawn& x) {
  if (auto known = start.open.extract(x.id)) {
    auto& open = waiting[x.id] = std::move(known.mapped());
    open.withdrawn = true;
    await(open);
    return;
  }
  const auto i = waiting.find(x.id);
  if (i == waiting.end()) return;  // its decision is on its way
  if (!i->second.asked) {
    waiting.erase(i);
    answer({x.id, false, withdrawn});
    return;
  }
  i->second.withdrawn = true;
  if (i->second.stored)
    settle(i->second.record, events::decision::cancelled, withdrawn);
}

void proposal_tracker_state::on_decision(decision_known& x) {
  const auto& y = x.decision;
  if (standing.contains(y.proposal)) {
    tell_standing(y);
    return;
  }
  const auto made =
      ledger.on_decision(y.proposal, y.how, y.by, y.reason, {}, y.arguments);
  if (made.verdict != core::decision_verdict::accepted) return;
  self->send(peers.desk, unwatch_proposal{y.proposal});
  auto open = std::move(waiting.extract(made.holds->call).mapped());
  if (y.always) start.always.insert_or_assign(open.call.tool, y.by);
  ledger.forget(open.call.id);
  resolve(std::move(open), *made.holds, y.digest);
}

/// Events and record of the decision first, then the dispatcher: nothing acts
/// before they are on their way to the journal, in front of the intent.
void proposal_tracker_state::resolve(undecided_call x,
                                     const core::decided_proposal& decided,
                                     const std::string& digest) {
  events::approval_resolved event{decided.id, x.call.id,      decided.how,
                                  decided.by, decided.reason, {}};
  approval_decision out{x.call.id,
                        decided.how == events::decision::approved,
                        denial_text(decided),
                        decided.how == events::decision::expired
                            ? errc::approval_expired
                            : errc::approval_denied,
                        {}};
  std::optional<error> refused;
  if (out.approved && !decided.arguments.empty()) {
    auto edited = edit_call(*spec, x.call, decided.arguments);
    if (edited) {
      event.arguments = edited->arguments;
      x.call = *edited;
      out.edited = std::move(*edited);
    } else {  // was checked before; rules or tools differ here
      refused = std::move(edited.error());
    }
  }
  if (out.approved && !refused) refused = find_other_call(x.call, digest);
  if (refused) {
    event.how = events::decision::denied;
    event.by = itself;
    event.reason = out.reason = bad_approval(*refused);
    event.arguments.clear();
    out.approved = false;
    out.edited.reset();
  }
  run_entry entry;
  entry.events.emplace_back(std::move(event));
  entry.changes.emplace_back(
      decided_record(*spec, x.call, out.approved, out.reason, out.code));
  self->send(peers.muxer, std::move(entry));
  answer(std::move(out));
}

void proposal_tracker_state::answer(approval_decision x) {
  self->send(peers.dispatcher, std::move(x));
}

void proposal_tracker_state::tell_standing(const storage::decision_record& x) {
  auto what = std::move(standing.extract(x.proposal).mapped());
  self->send(peers.desk, unwatch_proposal{x.proposal});
  run_entry entry;
  entry.events.emplace_back(proposal_event(what, status_of(x.how)));
  self->send(peers.muxer, std::move(entry));
}

proposal_tracker_actor::behavior_type proposal_tracker(
    proposal_tracker_actor::stateful_pointer<proposal_tracker_state> self,
    run_spec_ptr spec, tracker_start start) {
  auto& st = self->state;
  st.spec = std::move(spec);
  st.start = std::move(start);
  const auto run = [self](const char* handler, auto f) {
    run_handler(self, self->state.spec->faults, handler, std::move(f));
  };
  return {
      [&st, run](run_peers& x) {
        run("proposal_tracker.run_peers", [&] { st.begin(x); });
      },
      [&st, run](approval_request& x) {
        run("proposal_tracker.approval_request", [&] { st.on_request(x); });
      },
      [&st, run](approval_withdrawn& x) {
        run("proposal_tracker.approval_withdrawn", [&] { st.on_withdrawn(x); });
      },
      [&st, run](standing_proposal& x) {
        run("proposal_tracker.standing_proposal", [&] { st.on_standing(x); });
      },
      [&st, run](request_committed& x) {
        run("proposal_tracker.request_committed", [&] { st.on_committed(x); });
      },
      [&st, run](preview_ready& x) {
        run("proposal_tracker.preview_ready", [&] { st.on_preview(x); });
      },
      [&st, run](preview_overdue& x) {
        run("proposal_tracker.preview_overdue", [&] { st.on_overdue(x); });
      },
      [&st, run](expiry_due& x) {
        run("proposal_tracker.expiry_due", [&] { st.on_expiry(x); });
      },
      [&st, run](decision_known& x) {
        run("proposal_tracker.decision_known", [&] { st.on_decision(x); });
      },
  };
}

}  // namespace riffle
