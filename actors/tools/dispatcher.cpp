// SPDX-License-Identifier: MIT
#include "actors/tools/dispatcher.hpp"

#include <algorithm>
#include <iterator>

#include "actors/cluster/node_board.hpp"
#include "actors/handler.hpp"
#include "actors/run/run_log.hpp"
#include "actors/tools/call_check.hpp"
#include "actors/tools/call_records.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle {

namespace {

/// Calls that are taken in before other messages are looked at.
constexpr std::size_t calls_at_once = 64;

/// A call that waits no longer for a worker is not told to wait.
constexpr duration wait_before_told = std::chrono::seconds{1};

storage::call_record make_record(const run_spec& spec, tool_call call,
                                 storage::call_stage stage,
                                 std::uint32_t attempt, bool announced) {
  storage::call_record record;
  record.call = std::move(call);
  record.run = spec.run;
  record.stage = stage;
  record.attempt = attempt;
  record.announced = announced;
  return record;
}

/// What a control tool did, before the event that settles its call.
void join(run_entry& settlement, run_entry more) {
  auto& events = settlement.events;
  events.insert(events.end() - 1, std::make_move_iterator(more.events.begin()),
                std::make_move_iterator(more.events.end()));
  std::ranges::move(more.changes, std::back_inserter(settlement.changes));
}

}  // namespace

// -- what comes in ------------------------------------------------------------

void dispatcher_state::on(restored_calls& x) {
  budget = core::call_budget{spec->agent.budget.tool_calls, x.calls_begun};
  for (const auto& open : x.open)
    if (!open.begun && open.attempt == 0 && !open.call.control)
      static_cast<void>(budget.reserve(open.call.id));
  for (auto& [id, all] : x.attempts) notes[id].attempts = std::move(all);
  for (auto& open : x.open) take_kept(open);
  for (auto& [id, of] : notes) end_attempt(id, "the runtime that ran it ended");
  for (const auto& open : x.open)
    if (!open.call.node.empty()) notes[open.call.id].told_node = open.call.node;
  for (auto& open : x.open)
    if (!open.call.judged && !open.call.control && !open.call.rejection)
      open.call.judged.emplace();  // the rules of now, whatever they were
  queue.restore(std::move(x.open), std::move(x.finished));
}

// -- what follows -------------------------------------------------------------

void dispatcher_state::apply(core::dispatch_effects effects) {
  for (auto& effect : effects) std::visit([this](auto& x) { act(x); }, effect);
  schedule_tick();
}

void dispatcher_state::act(core::request_approval& x) {
  self->send(peers.tracker, approval_request{std::move(x.call), x.why});
}

void dispatcher_state::act(core::note_waiting& x) {
  run_entry entry;
  entry.changes.emplace_back(make_record(
      *spec, std::move(x.call), storage::call_stage::waiting, 0, false));
  self->send(peers.muxer, std::move(entry));
}

/// With every attempt, and stored with it.
void dispatcher_state::add_basis(tool_call& call) const {
  const auto of = notes.find(call.id);
  if (of != notes.end() && !of->second.basis.empty())
    call.basis = of->second.basis;
}

void dispatcher_state::act(core::begin_call& x) {
  add_basis(x.call);
  place(x.call);
  const auto id = x.call.id;
  queue.on_placed(id, !x.call.node.empty());
  const auto stage = x.await_commit ? storage::call_stage::intent
                                    : storage::call_stage::running;
  budget.on_begun(id);
  meter_begin(x.call);
  run_entry entry;
  if (x.announce) entry.events.emplace_back(call_event(x.call, true));
  tell_place(x, entry);
  note_attempt(id, x.attempt);
  auto record = make_record(*spec, std::move(x.call), stage, x.attempt, true);
  record.attempts = notes[id].attempts;
  entry.changes.emplace_back(std::move(record));
  if (x.await_commit) entry.notice = intent_committed{id, x.attempt};
  self->send(peers.muxer, call_begun{id, x.attempt, std::move(entry)});
}

void dispatcher_state::act(core::start_work& x) {
  add_basis(x.call);
  const auto id = x.call.id;
  const auto attempt = x.attempt;
  if (const auto& where = notes[id].node) {
    if (!*where) return answer_unplaced(id, attempt, where->error(), false);
    x.call.node = **where;
  }
  const auto key = pool_key(x.call.tool, x.call.node);
  const auto pool = peers.pools.find(key);
  if (pool == peers.pools.end())
    return answer_unplaced(
        id, attempt,
        {errc::tool_unavailable, "dispatcher",
         x.call.node.empty()
             ? "no worker serves the tool `" + x.call.tool + "`"
             : "the node " + x.call.node + " left before it began",
         true},
        !x.call.node.empty());
  peers.work->hand_over(peers.epoch, id, attempt);
  at_pools.insert_or_assign(id,
                            handed_over{key, attempt, pool->second.address()});
  work::assignment task;
  task.run = spec->run;
  task.epoch = peers.epoch;
  task.call = std::move(x.call);
  task.attempt = attempt;
  task.state = session_state;
  task.files = {spec->file_types, spec->file_limits.max_file_bytes};
  task.workspace = spec->workspace.string();
  self->send(pool->second, std::move(task),
             work_listeners{caf::actor_cast<work_listener>(self), peers.muxer});
}

void dispatcher_state::act(core::start_control& x) {
  self->send(peers.orchestrator, control_request{std::move(x.call), x.attempt});
}

void dispatcher_state::act(core::stop_work& x) {
  const auto at = at_pools.find(x.call);
  const auto& key = at == at_pools.end() ? x.tool : at->second.tool;
  if (const auto pool = peers.pools.find(key); pool != peers.pools.end())
    self->send(pool->second, work::stop{x.call, x.attempt});
}

void dispatcher_state::act(core::cancel_approval& x) {
  self->send(peers.tracker, approval_withdrawn{x.call});
}

void dispatcher_state::act(core::retry_call& x) {
  if (const auto& at = notes[x.call.id].node; at && !at->value_or("").empty()) {
    const auto node = "node " + **at;
    if (x.reason.find(node) == std::string::npos)
      x.reason = "on " + node + ": " + x.reason;
  }
  end_attempt(x.call.id, x.reason);
  run_entry entry;
  entry.events.emplace_back(events::retry{
      events::retry_what::tool, x.call.id, x.failed_attempt, x.max_attempts,
      static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(x.delay)
              .count()),
      std::move(x.reason)});
  self->send(peers.muxer, std::move(entry));
}

void dispatcher_state::act(core::settle_call& x) {
  const auto id = x.call.id;
  keep(x);
  std::string lost;
  if (x.result.err && x.result.how != outcome::failed)
    lost = x.result.err->message;
  end_attempt(id, lost);
  auto extras =
      arriving.of == id ? std::exchange(arriving, {}) : result_extras{};
  const auto kept = notes.extract(id);
  auto of = kept ? std::move(kept.mapped()) : call_notes{};
  run_entry values;
  auto& set = of.state.empty() ? extras.state : of.state;
  if (x.result.how == outcome::ok) add_state(std::move(set), values);
  if (x.result.attempts > 0) name_place(of, x.result);
  if (of.node) {
    x.call.node = of.node->value_or("");
    spec->nodes->release(id);
  }
  auto entry = settlement_entry(
      *spec, std::move(x.call), std::move(x.result), x.announced, x.attempt,
      std::move(extras.answer), std::move(of.attempts));
  std::ranges::move(values.changes, std::back_inserter(entry.changes));
  budget.on_settled(id);
  clock.on_settled(id);
  join(entry, std::move(extras.more));
  self->send(peers.muxer,
             call_settled{id, x.attempt, x.last_progress, std::move(entry)});
}

void dispatcher_state::note_attempt(const call_id& id, std::uint32_t number) {
  notes[id].attempts.push_back({number, spec->wall(), {}, {}});
}

void dispatcher_state::end_attempt(const call_id& id, const std::string& lost) {
  const auto of = notes.find(id);
  if (of == notes.end() || of->second.attempts.empty()) return;
  auto& last = of->second.attempts.back();
  if (last.ended) return;
  last.ended = spec->wall();
  last.lost = lost;
}

/// With the settlement, so that a call has its result and its values, or
/// neither.
void dispatcher_state::add_state(tools::state_values set, run_entry& entry) {
  tools::apply_state(session_state, set);
  for (auto& [key, value] : set)
    entry.changes.emplace_back(
        storage::state_value{spec->session, key, std::move(value)});
}

void dispatcher_state::act(core::calls_drained&) {
  run_entry entry;
  entry.notice = drain_committed{};
  self->send(peers.muxer, std::move(entry));
}

/// Rules may look at the file system, so they do it where calls are looked at.
void dispatcher_state::act(core::judge_start& x) {
  const auto priority = x.call.limits.priority;
  auto job = [me = caf::actor_cast<dispatcher_actor>(self), about = spec,
              call = std::move(x.call)] {
    caf::anon_send(me, call_judged{call.id, judge(*about, call)});
  };
  if (!spec->looks) return job();
  spec->looks->submit(std::move(job), {spec->run.value, priority}, {});
}

void dispatcher_state::schedule_tick() {
  const auto due = queue.due();
  if (!due || (next_tick && *next_tick <= *due)) return;
  next_tick = due;
  self->scheduled_send(self, *due, tick{});
}

// -- handlers -----------------------------------------------------------------

void dispatcher_state::take_in(from_parser x) {
  incoming.push_back(std::move(x));
  if (incoming.size() > 1) return;  // a message is on its way
  more_calls first;
  on(first);
}

void dispatcher_state::on(more_calls&) {
  while (!incoming.empty()) {
    const bool done =
        std::visit([this](auto& x) { return work_on(x); }, incoming.front());
    if (!done) return self->send(self, more_calls{});
    incoming.pop_front();
    taken_in = 0;
  }
}

bool dispatcher_state::work_on(parsed_calls& x) {
  const auto end = std::min(x.calls.size(), taken_in + calls_at_once);
  for (; taken_in < end; ++taken_in) {
    auto& call = x.calls[taken_in];
    asked.push_back({call.id, call.tool + " " + call.arguments});
    if (!call.rejection && !call.control && !budget.reserve(call.id))
      call.rejection = budget.refusal();
    if (metrics_are_read()) clock.on_ready(call.id, now());
    apply(queue.on_call(std::move(call), now()));
  }
  return taken_in == x.calls.size();
}

bool dispatcher_state::work_on(malformed_call& x) {
  apply(queue.on_malformed(x.id, std::move(x.why), now()));
  return true;
}

/// The turn passes through here so that all its calls are known, and on
/// record, before the orchestrator hears of its end.
bool dispatcher_state::work_on(turn_over& x) {
  x.turn.calls = std::exchange(asked, {});
  for (const auto early : clock.on_turn_over(now()))
    measure(metric::head_start, std::chrono::duration<double>(early).count(),
            {});
  self->send(peers.orchestrator, std::move(x));
  return true;
}

void dispatcher_state::on(gate_opened& x) {
  apply(queue.on_gate(x.safe, now()));
}

void dispatcher_state::on(cancel_call& x) {
  apply(queue.on_cancel(x.id, now(), x.by));
}

void dispatcher_state::on(drain_request& x) {
  apply(queue.on_drain(x.why, now()));
}

void dispatcher_state::on(step_forgotten&) {
  asked.clear();
  clock.on_next_turn();
  queue.on_next_step();
}

void dispatcher_state::on(approval_decision& x) {
  if (x.postponed) return apply(queue.on_postponed(x.id, now()));
  if (metrics_are_read() && x.approved) clock.on_ready(x.id, now());
  if (!x.basis.empty()) notes[x.id].basis = std::move(x.basis);
  if (x.edited)
    apply(queue.on_edited(std::move(*x.edited), now()));
  else
    apply(queue.on_decision(x.id, x.approved, std::move(x.reason), now(),
                            x.code));
}

void dispatcher_state::on(call_judged& x) {
  apply(queue.on_judged(x.id, std::move(x.how), now()));
}

void dispatcher_state::on(intent_committed& x) {
  apply(queue.on_intent_committed(x.id, x.attempt, now()));
}

void dispatcher_state::on(work::started& x) {
  apply(queue.on_started(x.id, x.attempt, now()));
}

void dispatcher_state::on(work_progressed& x) {
  queue.on_progress(x.id, x.attempt, now());
}

void dispatcher_state::on(tick&) {
  if (next_tick && now() < *next_tick) return;  // an earlier one took its place
  next_tick.reset();
  apply(queue.tick(now()));
}

dispatcher_actor::behavior_type dispatcher(
    dispatcher_actor::stateful_pointer<dispatcher_state> self,
    run_spec_ptr spec, tools::state_values session_state) {
  log_exceptions(self);
  auto& st = self->state;
  st.session_state = std::move(session_state);
  st.spec = std::move(spec);
  auto& limits = st.limits;
  limits.max_in_flight = st.spec->agent.max_calls_in_flight;
  limits.retry_base = st.spec->retry_base;
  if (st.spec->nodes)
    limits.abandon_at_node =
        std::max(limits.abandon_after, st.spec->nodes->timeout());
  limits.ask_ahead =
      st.spec->approval == approve::ask && !st.spec->propose && !st.spec->cause;
  limits.tell_after = wait_before_told;
  st.queue = core::dispatch_queue{limits};
  st.budget = core::call_budget{st.spec->agent.budget.tool_calls};
  return {handle<run_peers>(self, "dispatcher.run_peers"),
          handle<restored_calls>(self, "dispatcher.restored_calls"),
          handle<parsed_calls>(self, "dispatcher.parsed_calls"),
          handle<more_calls>(self, "dispatcher.more_calls"),
          handle<malformed_call>(self, "dispatcher.malformed_call"),
          handle<turn_over>(self, "dispatcher.turn_over"),
          handle<gate_opened>(self, "dispatcher.gate_opened"),
          handle<cancel_call>(self, "dispatcher.cancel_call"),
          handle<drain_request>(self, "dispatcher.drain_request"),
          handle<step_forgotten>(self, "dispatcher.step_forgotten"),
          handle<approval_decision>(self, "dispatcher.approval_decision"),
          handle<intent_committed>(self, "dispatcher.intent_committed"),
          handle<call_judged>(self, "dispatcher.call_judged"),
          handle<work::started>(self, "dispatcher.work_started"),
          handle<work_progressed>(self, "dispatcher.work_progressed"),
          handle<work::done>(self, "dispatcher.work_done"),
          handle<work::lost>(self, "dispatcher.work_lost"),
          handle<control_done>(self, "dispatcher.control_done"),
          handle<work_returned>(self, "dispatcher.work_returned"),
          handle<pool_replaced>(self, "dispatcher.pool_replaced"),
          handle<pool_of_node>(self, "dispatcher.pool_of_node"),
          handle<orphan_due>(self, "dispatcher.orphan_due"),
          handle<tick>(self, "dispatcher.tick")};
}

}  // namespace riffle
