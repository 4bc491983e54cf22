// SPDX-License-Identifier: MIT
#include "actors/run/orchestrator.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/core/context_window.hpp"
#include "actors/core/control_tools.hpp"
#include "actors/core/plan.hpp"
#include "actors/handler.hpp"
#include "actors/run/recovery.hpp"
#include "actors/run/run_log.hpp"
#include "actors/tools/call_records.hpp"
#include "actors/tools/proposal_texts.hpp"
#include "messages/duration_text.hpp"
#include "runtime/base/text.hpp"
#include "runtime/storage/last_use.hpp"

namespace riffle {

namespace {

/// With their bytes, as far as they are kept.
shown_files with_bytes(const std::vector<attachment>& all,
                       const storage::kept_files& kept) {
  shown_files out;
  for (const auto& x : all) {
    const auto found = kept.find(x.digest);
    out.push_back({x, found == kept.end() ? nullptr : found->second});
  }
  return out;
}

/// The agent's own, then what is told of where it works.
std::string whole_prompt(const run_spec& spec,
                         const storage::kept_files& kept) {
  auto out = spec.agent.system_prompt;
  const auto told = kept.find(spec.surroundings);
  if (told == kept.end()) return out;
  return out + (out.empty() ? "" : "\n\n") + *told->second;
}

}  // namespace

// -- begin --------------------------------------------------------------------

void orchestrator_state::on(run_peers& x) {
  peers = std::move(x);
  base = start.snapshot->run;
  machine = core::step_machine{spec->step_limits(), spec->random01};
  plan = session_plan(start.snapshot->session);
  take_phase();
  chat = asked_models{spec};
  const bool anew = begins_anew();
  if (!anew) say_waited();
  if (const auto prompt = whole_prompt(*spec, start.snapshot->files);
      !prompt.empty())
    chat.say_system(prompt);
  remember_session();
  remember_proposals();
  if (spec->time_limit > duration{}) {
    const error why{errc::timeout, "run",
                    "the run did not end within its time limit of " +
                        duration_text(spec->time_limit) + " (--timeout)"};
    if (spec->spent >= spec->time_limit)  // all of it was waited for tools
      start.end = start.end.value_or(core::end_request{why, false});
    self->delayed_send(self, spec->time_left(), end_run{{why, false}});
  }
  if (anew)
    begin_fresh();
  else
    begin_recovered();
  start.snapshot.reset();
}

/// Also where its log says that it waited, and no more.
bool orchestrator_state::begins_anew() const {
  const auto& known = *start.snapshot;
  return start.fresh || known.last_seq == 0 ||
         (known.run.step == 0 &&
          std::ranges::none_of(known.session.messages, [&](const auto& x) {
            return x.run == spec->run;
          }));
}

/// Of a spec that never became whole it is told already.
void orchestrator_state::say_waited() {
  if (!spec->waited.empty() && !spec->complete) say_status(spec->waited);
}

/// The session is in a phase; a new run may begin another one.
void orchestrator_state::take_phase() {
  chosen_phase = begins_anew() && !spec->phase.empty()
                     ? spec->phase
                     : session_phase(start.snapshot->session);
  if (!chosen_phase.empty()) machine.enter(chosen_phase);
}

void orchestrator_state::begin_fresh() {
  run_entry entry;
  if (start.snapshot->last_seq == 0)
    entry.events.emplace_back(started_event(*spec, base));
  entry.changes.emplace_back(make_record(machine.progress()));
  const auto hear = [&](std::string text, std::vector<attachment> files) {
    chat.say_user(text, with_bytes(files, start.snapshot->files));
    entry.changes.emplace_back(
        storage::message_record{.session = spec->session,
                                .run = spec->run,
                                .text = std::move(text),
                                .attachments = std::move(files)});
  };
  chat.begin_task();
  if (auto note =
          decision_note(start.snapshot->session, spec->run, spec->wall());
      !note.empty())
    hear(std::move(note), {});
  hear(spec->question(), spec->attachments);
  if (spec->cause) {
    prelude = std::move(entry);
    begin_cause();
    if (start.end) self->send(self, end_run{*start.end});
  } else {
    self->send(peers.muxer, std::move(entry));
    say_waited();
    apply(start.end ? machine.on_end_request(*start.end, now())
                    : machine.start(now()));
  }
}

void orchestrator_state::begin_recovered() {
  auto found =
      plan_recovery(*start.snapshot, spec->tool_settings, spec->answer_rule());
  log_run(log_level::info, spec->run,
          "goes on at step " + std::to_string(found.progress.step) +
              " from its journal");
  if (!start.end) storage::note_resumption(base, spec->wall());
  for (const auto& step : earlier_steps(*start.snapshot, spec->tool_settings))
    machine.note_step(step);
  for (auto& open : found.open)
    if (const auto i = start.acting.find(open.call.id); i != start.acting.end())
      open.acting = i->second;
  self->send(peers.dispatcher,
             restored_calls{std::move(found.open), std::move(found.finished),
                            found.calls_begun, std::move(found.attempts)});
  machine.recall(std::move(start.said));
  auto next =
      machine.recover(found.progress, std::move(found.calls), found.settled,
                      std::move(found.text), base.started, spec->wall(), now());
  if (start.end)
    next = machine.end_recovered(std::move(next), *start.end, now());
  apply(std::move(next));
}

/// Says what was said before, and makes room where a request was made: so the
/// next one is the same as it would have been without an interruption.
void orchestrator_state::remember_session() {
  const auto& session = start.snapshot->session;
  const auto before = session_summary_of(session).value_or(summed_up_runs{});
  if (!before.text.empty()) chat.say_summary(before.text);
  for (const auto& call : session.calls)
    if (call.stage == storage::call_stage::settled &&
        !before.runs.contains(call.run))
      chat.settle(call, with_bytes(call.attachments, start.snapshot->files));
  const run_id* task = nullptr;
  for (const auto& m : session.messages) {
    if (before.runs.contains(m.run)) continue;
    if (task == nullptr || *task != m.run) chat.begin_task();
    task = &m.run;
    if (m.role == storage::message_role::user) {
      if (m.run == spec->run && m.step > 0)
        told_tokens += core::estimate_tokens(m.text);
      chat.say_user(m.text, with_bytes(m.attachments, start.snapshot->files));
    } else {
      chat.compact();
      chat.say_model({true, m.text, m.reasoning, m.calls, m.state});
    }
  }
}

// -- what comes in ------------------------------------------------------------

/// A model that did not begin to answer may be asked in another way.
void orchestrator_state::on(turn_over& x) {
  asking = {};
  auto& ended = x.turn;
  // Some say what they read before they say that they are overloaded.
  const bool began = ended.shown || !ended.calls.empty() ||
                     !ended.text.empty() || !ended.reasoning.empty();
  if (ended.failure && !began && machine.phase_name() == "streaming")
    if (const auto change = chat.try_again(*ended.failure)) {
      say_status(*change);
      apply(machine.on_asked_anew(ended));
      return ask();
    }
  if (ended.failure) ended.failure = with_way_out(std::move(*ended.failure));
  if (!ended.usage.estimated && ended.usage.input_tokens > 0)
    chat.on_counted(ended.usage.input_tokens);
  apply(machine.on_turn_over(std::move(ended), now()));
}

void orchestrator_state::on(settlement_committed& x) {
  auto settled = to_settled(x.call, spec->tool_settings);
  settled.answer =
      spec->cause ? told_without_note(x.call) : std::move(x.answer);
  storage::kept_files kept;
  for (auto& file : x.files)
    kept.emplace(std::move(file.digest), std::move(file.bytes));
  const auto files = with_bytes(x.call.attachments, kept);
  chat.settle(std::move(x.call), files);
  apply(machine.on_settled(std::move(settled), now()));
}

void orchestrator_state::on(control_request& x) {
  const auto known = proposed.find(x.call.id);
  auto done = core::run_control(
      x.call, plan,
      known == proposed.end() ? spec->ids->next<proposal_id>() : known->second,
      spec->answer_rule());
  if (known != proposed.end()) done.events.clear();  // they are in the log
  if (done.plan) plan = std::move(*done.plan);
  if (done.phase) {
    chosen_phase = *done.phase;
    machine.enter(std::move(*done.phase));
  }
  // What it did is stored together with its result, so that after a crash it
  // is done once.
  run_entry entry;
  if (!done.events.empty()) {
    record_proposals(done.events, x.call.id, entry);
    entry.events = std::move(done.events);
    entry.changes.emplace_back(make_record(machine.progress()));
  }
  self->send(
      peers.dispatcher,
      control_done{x.call.id, x.attempt, std::move(done.result),
                   std::move(done.answer).value_or(""), std::move(entry)});
}

/// Of a task nothing is taken out to make room, so what is said beside it, in
/// all, may have a quarter of the model's window and no more.
run_told orchestrator_state::on(tell_run& x) {
  constexpr std::uint64_t parts = 4;
  const auto window = chat.spec()->model.context_window;
  const auto size = core::estimate_tokens(x.text);
  if (window > 0 && told_tokens + size > window / parts)
    return {error{errc::invalid_request, "run",
                  "that is too much to be said beside the task: " +
                      short_count(told_tokens + size) + " tokens of the " +
                      short_count(window / parts) +
                      " that a quarter of the model's window has"}};
  const auto waited = machine.heard();
  auto refused = machine.hear(std::move(x.text));
  if (machine.heard() > waited) told_tokens += size;
  return {std::move(refused)};
}

void orchestrator_state::on(end_committed&) {
  self->send(peers.registry, run_ended{spec->run});
  self->quit(caf::exit_reason::user_shutdown);  // takes its peers along
}

// -- what follows -------------------------------------------------------------

void orchestrator_state::apply(core::step_effects effects) {
  const auto before = std::exchange(phase, machine.phase_name());
  if (before != phase && log_enabled(log_level::debug))
    log_run(log_level::debug, spec->run,
            std::string{before} + " -> " + std::string{phase});
  for (auto& effect : effects) std::visit([this](auto& x) { act(x); }, effect);
}

void orchestrator_state::act(core::record_step& x) {
  auto entry = std::exchange(prelude, {}).value_or(run_entry{});
  if (x.message) {
    auto& state = x.message->state;
    if (!state.text.empty() || !x.message->reasoning.empty())
      state.maker = chat.spec()->maker;
    entry.changes.emplace_back(storage::message_record{
        spec->session, spec->run, x.progress.step,
        x.message->from_model ? storage::message_role::assistant
                              : storage::message_role::user,
        x.message->text, x.message->reasoning, x.message->calls, state,
        x.message->from_model && x.progress.turn_paused});
    if (x.message->from_model)
      chat.say_model(*x.message);
    else
      chat.say_user(x.message->text);
  }
  if (x.last) {
    add_inline_proposals(x, entry);
    entry.notice = end_committed{};
    const auto& end = std::get<events::run_finished>(x.events.back());
    if (x.message)  // what was said before the end came
      entry.changes.emplace_back(storage::message_record{
          spec->session, spec->run, x.progress.step,
          storage::message_role::user, cut_note(end.err.value_or(error{}))});
    switch (end.status) {
      case events::run_status::completed:
        ended_as = storage::run_state::completed;
        break;
      case events::run_status::failed:
        ended_as = storage::run_state::failed;
        break;
      case events::run_status::cancelled:
        ended_as = storage::run_state::cancelled;
        break;
    }
  }
  std::ranges::move(x.events, std::back_inserter(entry.events));
  entry.changes.emplace_back(make_record(x.progress));
  self->send(peers.muxer, std::move(entry));
  if (only_call)
    self->send(peers.dispatcher, parsed_calls{{*std::exchange(only_call, {})}});
}

void orchestrator_state::act(core::open_turn& x) {
  turn = x;
  chat.begin_turn();
  ask();
}

void orchestrator_state::ask() {
  if (chat.completes_by_tool()) machine.end_by_tool();
  chat.ask_to_complete(machine.must_complete());
  if (const auto removed = chat.compact())
    say_status(std::string{core::room_was_made} + core::room_text(removed));
  const auto note = core::plan_note(plan);
  const auto window = chat.spec()->model.context_window;
  auto why = machine.cannot_ask(chat.tokens(note));
  if (const auto about = chat.estimate(note); window > 0 && about > window)
    why = context_full(about, window, chat.spec()->agent.model);
  if (why) return apply(machine.refuse_turn(std::move(*why), now()));
  asking = spawn_turn(self, chat.spec(), turn, chat.request(note), peers);
}

void orchestrator_state::act(core::stop_turn&) {
  self->send(asking.consumer, stop_asking{});
  self->send(asking.parser, stop_asking{});
}

void orchestrator_state::act(core::open_gate& x) {
  self->send(peers.dispatcher, gate_opened{x.safe});
}

void orchestrator_state::act(core::drain_calls& x) {
  self->send(peers.dispatcher, drain_request{x.why});
}

void orchestrator_state::act(core::forget_calls&) {
  self->send(peers.dispatcher, step_forgotten{});
}

void orchestrator_state::act(core::wait_for& x) {
  self->delayed_send(self, x.delay, pause_over{});
}

storage::run_record orchestrator_state::make_record(
    const core::run_progress& p) const {
  auto record = base;
  record.state = ended_as;
  record.step = p.step;
  record.step_attempt = p.attempt;
  record.turn_committed = p.turn_committed;
  record.turn_safe = p.turn_safe;
  record.tool_calls = p.tool_calls;
  record.usage = p.usage;
  record.recoveries = p.recoveries;
  record.reminders = p.reminders;
  record.plan = plan;
  record.phase = chosen_phase;
  return record;
}

orchestrator_actor::behavior_type orchestrator(
    orchestrator_actor::stateful_pointer<orchestrator_state> self,
    run_spec_ptr spec, run_start start, turn_spawner spawn_turn) {
  log_exceptions(self);
  auto& st = self->state;
  st.spec = std::move(spec);
  st.start = std::move(start);
  st.spawn_turn = std::move(spawn_turn);
  return {
      handle<run_peers>(self, "orchestrator.run_peers"),
      handle<turn_over>(self, "orchestrator.turn_over"),
      handle<settlement_committed>(self, "orchestrator.settlement_committed"),
      handle<drain_committed>(self, "orchestrator.drain_committed"),
      handle<end_committed>(self, "orchestrator.end_committed"),
      handle<control_request>(self, "orchestrator.control_request"),
      handle<proposal_made>(self, "orchestrator.proposal_made"),
      handle<end_run>(self, "orchestrator.end_run"),
      handle_request<run_told, tell_run>(self, "orchestrator.tell"),
      handle<pause_over>(self, "orchestrator.pause_over"),
  };
}

}  // namespace riffle
