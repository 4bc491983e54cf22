// SPDX-License-Identifier: MIT
#include "actors/run/plan_executor.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/handler.hpp"
#include "actors/run/recovery.hpp"
#include "actors/run/run_log.hpp"
#include "messages/duration_text.hpp"
#include "runtime/base/trace.hpp"
#include "runtime/storage/last_use.hpp"

namespace riffle {

namespace {

/// A step that failed is tried again soon: nobody is spared by waiting but
/// whom it asks for something.
constexpr auto longest_pause = std::chrono::seconds{30};

storage::run_state to_state(events::run_status x) {
  switch (x) {
    case events::run_status::completed: return storage::run_state::completed;
    case events::run_status::cancelled: return storage::run_state::cancelled;
    default: return storage::run_state::failed;
  }
}

}  // namespace

// -- begin --------------------------------------------------------------------

void plan_executor_state::begin(run_peers& x) {
  peers = std::move(x);
  base = start.snapshot->run;
  // The document stands in a message: a record is stored again and again.
  base.settings = spec->plan->settings;
  const core::plan_limits limits{
      {spec->plan->most_attempts, spec->retry_base, longest_pause}};
  cursor = core::plan_cursor{spec->plan->document, spec->run, limits,
                             spec->random01};
  // Not as a message behind this: by then its first step had begun.
  if (start.end) apply(cursor.on_end_request(*start.end, now()));
  if (spec->time_limit > duration{}) {
    const error why{errc::timeout, "plan",
                    "the plan did not end within its time limit of " +
                        duration_text(spec->time_limit)};
    self->delayed_send(self, spec->time_left(), end_run{{why, false}});
  }
  if (start.fresh || start.snapshot->last_seq == 0)
    begin_new();
  else
    begin_recovered();
  start.snapshot.reset();
}

void plan_executor_state::begin_new() {
  run_entry first;
  first.changes.emplace_back(
      storage::message_record{spec->session,
                              spec->run,
                              0,
                              storage::message_role::user,
                              spec->plan->text,
                              {},
                              {}});
  const auto& kept = spec->plan->kept;
  if (!kept.empty()) take_over(first);
  prelude = std::move(first);
  if (kept.empty()) return apply(cursor.start(now()));
  std::vector<events::run_status> ended;
  for (const auto& x : kept) ended.push_back(x.end.status);
  const core::plan_progress so_far{static_cast<std::uint32_t>(kept.size()), 1,
                                   false, true};
  apply(cursor.recover(so_far, std::move(ended), base.started, spec->wall(),
                       now()));
}

/// What ended in the plan before stands in this one's log, and in its records,
/// in the same commit as the first step of its own.
void plan_executor_state::take_over(run_entry& first) {
  const auto& steps = spec->plan->document.steps;
  first.events.emplace_back(events::plan_started{
      spec->run, static_cast<std::uint32_t>(steps.size())});
  for (const auto& x : spec->plan->kept) {
    const auto& step = steps[sources.size()];
    sources.push_back({x.end.run, 0, x.call});
    first.events.emplace_back(events::plan_step_started{
        x.end.step, step.id, step.instruction, step.tool, x.end.run, 1});
    first.events.emplace_back(x.end);
    first.changes.emplace_back(
        begun_record(*spec, {x.end.step, 1}, sources.back()));
    first.changes.emplace_back(ended_record(*spec, x.end));
  }
}

void plan_executor_state::begin_recovered() {
  auto found = resume_plan(*start.snapshot);
  sources = std::move(found.sources);
  log_run(log_level::info, spec->run,
          "goes on at step " + std::to_string(found.progress.step) +
              " from its journal");
  if (!start.end) storage::note_resumption(base, spec->wall());
  auto open = plan_recovery(*start.snapshot, spec->tool_settings);
  calls = open.progress.tool_calls;
  for (auto& call : open.open)
    if (const auto i = start.acting.find(call.call.id); i != start.acting.end())
      call.acting = i->second;
  self->send(peers.dispatcher, restored_calls{std::move(open.open),
                                              {},
                                              open.calls_begun,
                                              std::move(open.attempts)});
  recovered = start.snapshot.get();
  apply(cursor.recover(found.progress, std::move(found.ended), base.started,
                       spec->wall(), now()));
  recovered = nullptr;
}

// -- what comes in ------------------------------------------------------------

void plan_executor_state::on(settlement_committed& x) {
  if (at != doing::call || x.call.call.id != source().call) return;
  end_step(end_of_call(x.call, spec->publish.output_limit));
}

/// The id of the step's run is on record: it may begin.
void plan_executor_state::on(drain_committed&) {
  if (at != doing::announcing) return;
  if (!end_if_stopped()) prepare();
}

void plan_executor_state::on(end_committed&) {
  self->send(peers.registry, run_ended{spec->run});
  self->quit(caf::exit_reason::user_shutdown);  // takes its peers along
}

void plan_executor_state::on(end_run& x) {
  apply(cursor.on_end_request(std::move(x.request), now()));
}

void plan_executor_state::on(pause_over&) { apply(cursor.on_waited(now())); }

void plan_executor_state::on(answer_fetched& x) {
  apply(cursor.on_answer(std::move(x.text), now()));
}

void plan_executor_state::on(step_due& x) {
  apply(cursor.on_step_due(x.of.place, x.of.attempt, now()));
}

// -- what follows -------------------------------------------------------------

void plan_executor_state::apply(core::plan_effects effects) {
  for (auto& effect : effects) std::visit([this](auto& x) { act(x); }, effect);
}

void plan_executor_state::act(core::record_plan& x) {
  auto entry = std::exchange(prelude, {}).value_or(run_entry{});
  for (auto& body : x.events) {
    if (auto* begun = std::get_if<events::plan_step_started>(&body)) {
      const bool performed = &body == &x.events.back();
      sources.resize(begun->step);
      auto& mine = sources.back();
      mine = {};
      if (performed && begun->tool.empty()) {
        mine.run = spec->ids->next<run_id>();
        share_trace(spec->run, mine.run);
      } else if (performed) {
        mine.call = spec->ids->next<call_id>();
      }
      begun->run = mine.run;
      if (!mine.run.empty()) entry.notice = drain_committed{};
      entry.changes.emplace_back(
          begun_record(*spec, {begun->step, begun->attempt}, mine));
    } else if (auto* done = std::get_if<events::plan_step_finished>(&body)) {
      done->run = sources[done->step - 1].run;
      entry.changes.emplace_back(ended_record(*spec, *done));
    } else if (auto* end = std::get_if<events::plan_finished>(&body)) {
      ended_as = to_state(end->status);
    }
  }
  if (x.last) entry.notice = end_committed{};
  std::ranges::move(x.events, std::back_inserter(entry.events));
  entry.changes.emplace_back(make_record());
  self->send(peers.muxer, std::move(entry));
}

void plan_executor_state::act(core::perform_step& x) {
  const auto limit = spec->plan->document.steps[x.place].timeout;
  if (limit > duration{})
    self->delayed_send(self, limit, step_due{{x.place, x.attempt}});
  if (x.resumed && calls_tool()) return go_on_with_call();
  if (x.resumed) return look();
  if (!calls_tool()) {
    at = doing::announcing;
    return;
  }
  self->send(peers.dispatcher, step_forgotten{});
  prepare();
}

void plan_executor_state::act(core::stop_step& x) {
  switch (at) {
    case doing::call:
      self->send(
          peers.dispatcher,
          drain_request{x.overdue         ? core::drain_reason::step_timed_out
                        : x.how.cancelled ? core::drain_reason::cancelled
                                          : core::drain_reason::timed_out});
      break;
    case doing::run:
      self->send(peers.registry,
                 cancel_run{source().run, x.how.why, x.how.cancelled});
      break;
    default: break;  // looked at when the next answer comes
  }
}

void plan_executor_state::act(core::wait_to_retry& x) {
  self->delayed_send(self, x.delay, pause_over{});
}

void plan_executor_state::act(core::fetch_answer& x) {
  const auto from = x.place ? sources[*x.place] : step_source{};
  submit([me = caf::actor_cast<plan_executor_actor>(self), plan = spec, from] {
    caf::anon_send(me, answer_fetched{whole_output(*plan, from)});
  });
}

storage::run_record plan_executor_state::make_record() const {
  const auto& p = cursor.progress();
  auto record = base;
  record.state = ended_as;
  record.step = p.step;
  record.step_attempt = p.attempt;
  record.turn_committed = p.step_over;
  record.turn_safe = p.attempt_over;
  record.tool_calls = calls;
  return record;
}

plan_executor_actor::behavior_type plan_executor(
    plan_executor_actor::stateful_pointer<plan_executor_state> self,
    run_spec_ptr spec, run_start start) {
  log_exceptions(self);
  auto& st = self->state;
  st.spec = std::move(spec);
  st.start = std::move(start);
  return {
      [self](run_peers& x) {
        run_handler(self, self->state.spec->faults, "plan_executor.run_peers",
                    [&] { self->state.begin(x); });
      },
      [](turn_over&) {},  // there is no model
      handle<settlement_committed>(self, "plan_executor.settlement_committed"),
      handle<drain_committed>(self, "plan_executor.drain_committed"),
      handle<end_committed>(self, "plan_executor.end_committed"),
      [](control_request&) {},  // plans call no control tools
      [](proposal_made&) {},
      handle<end_run>(self, "plan_executor.end_run"),
      [](tell_run&) {
        return run_told{
            error{errc::invalid_request, "run", "a plan asks no model"}};
      },
      handle<pause_over>(self, "plan_executor.pause_over"),
      handle<step_prepared>(self, "plan_executor.step_prepared"),
      handle<step_looked_at>(self, "plan_executor.step_looked_at"),
      handle<answer_fetched>(self, "plan_executor.answer_fetched"),
      handle<step_run_closed>(self, "plan_executor.step_run_closed"),
      handle<step_due>(self, "plan_executor.step_due"),
      handle<look_at_step>(self, "plan_executor.look_at_step"),
  };
}

}  // namespace riffle
