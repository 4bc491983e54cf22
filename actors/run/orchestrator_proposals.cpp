// SPDX-License-Identifier: MIT
// Proposals that nobody waits for, and the run that an approval causes.
#include <utility>

#include "actors/core/inline_proposals.hpp"
#include "actors/run/orchestrator.hpp"

namespace riffle {

/// A run that goes on after a crash has made its proposals already.
void orchestrator_state::remember_proposals() {
  for (const auto& x : start.snapshot->session.proposals) {
    if (x.what.run != spec->run || x.what.waits) continue;
    machine.note_proposal(x.what.summary);
    if (x.what.source == events::proposal_source::seek_approval)
      proposed.emplace(x.what.call, x.what.id);
  }
}

void orchestrator_state::on(proposal_made& x) {
  machine.note_proposal(std::move(x.summary));
}

storage::proposal_record orchestrator_state::to_record(
    const events::proposal& x, const call_id& call) const {
  storage::proposal_record record;
  record.id = x.id;
  record.session = spec->session;
  record.run = spec->run;
  record.call = call;
  record.source = x.source;
  record.summary = x.summary;
  record.title = "Proposal";
  record.reason = "the model asks for a decision";
  record.made = spec->wall();
  const auto after =
      std::chrono::duration_cast<std::chrono::microseconds>(spec->expire_after);
  if (after.count() > 0)
    record.expires = wall_time{record.made.us + after.count()};
  return record;
}

/// Events and rows of a control tool's proposals, in one commit.
void orchestrator_state::record_proposals(std::vector<events::body>& events,
                                          const call_id& call,
                                          run_entry& entry) {
  for (const auto& body : events) {
    const auto* x = std::get_if<events::proposal>(&body);
    if (x == nullptr) continue;
    auto record = to_record(*x, call);
    machine.note_proposal(x->summary);
    entry.changes.emplace_back(record);
    self->send(peers.tracker, open_proposal{std::move(record)});
  }
}

/// What the model wrote into its answer, if no tool proposed anything in this
/// run; once, since the answer is recorded once.
void orchestrator_state::add_inline_proposals(core::record_step& x,
                                              run_entry& entry) {
  if (machine.has_proposals() || spec->cause) return;
  const auto answer = std::ranges::find_if(x.events, [](const auto& body) {
    return std::holds_alternative<events::final_answer>(body);
  });
  if (answer == x.events.end()) return;
  for (auto& summary : core::find_inline_proposals(
           std::get<events::final_answer>(*answer).content)) {
    events::proposal made{spec->ids->next<proposal_id>(),
                          events::proposal_source::inline_text,
                          std::move(summary), events::proposal_status::open};
    entry.changes.emplace_back(to_record(made, {}));
    entry.events.emplace_back(std::move(made));
  }
}

/// The approved call takes the place of a model's turn. It is a new call: the
/// proposed one was settled in its own run.
void orchestrator_state::begin_cause() {
  auto call = spec->caused_call.value();
  storage::call_record record;
  record.call = call;
  record.run = spec->run;
  prelude->changes.emplace_back(std::move(record));
  core::asked_call asked{call.id, call.tool + " " + call.arguments};
  only_call = std::move(call);
  apply(machine.start_with(std::move(asked), now()));
}

void orchestrator_state::say_status(std::string text) {
  run_entry entry;
  entry.events.emplace_back(events::status{std::move(text)});
  self->send(peers.muxer, std::move(entry));
}

}  // namespace riffle
