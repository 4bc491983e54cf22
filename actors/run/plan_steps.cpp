// SPDX-License-Identifier: MIT
// How a plan executor performs a step: the other half of it.
#include <algorithm>
#include <atomic>
#include <utility>

#include "actors/run/plan_executor.hpp"
#include "actors/run/run_log.hpp"
#include "actors/tools/call_check.hpp"

namespace riffle {

namespace {

constexpr const char* plan_op = "plan";

/// Pause before a run that is somebody else's, or that the journal does not
/// give, is looked at again.
constexpr auto between_looks = std::chrono::milliseconds{500};

/// Longest wait for the registry's answer; covers the store's own deadline.
constexpr auto answer_deadline = std::chrono::seconds{90};

/// Waits for the end of a run. What it is offered it does not keep: the end is
/// read from the journal.
class step_watch final : public subscriber {
 public:
  step_watch(run_id run, plan_executor_actor to)
      : run_{std::move(run)}, to_{std::move(to)} {}

  std::uint64_t position() const override { return position_; }
  bool offer(const storage::event_block& block) override {
    before_last_ = block.first_seq - 1;
    position_ = block.last_seq;
    return true;
  }
  void behind() override {}  // it is told of the end all the same
  void closed(const std::optional<error>&) override {
    if (const auto to = std::exchange(to_, {}))
      caf::anon_send(to, step_run_closed{run_, before_last_});
  }

 private:
  const run_id run_;
  plan_executor_actor to_;
  std::atomic<std::uint64_t> position_ = 0;
  std::atomic<std::uint64_t> before_last_ = 0;
};

subscriber_ptr watch_for(plan_executor_actor::pointer self, const run_id& run) {
  return std::make_shared<step_watch>(
      run, caf::actor_cast<plan_executor_actor>(self));
}

/// The journal may come back. What was cancelled is told so by a process that
/// ends: whoever resumes the plan goes on with the step.
bool may_pass(errc code) {
  return code == errc::storage_unavailable || code == errc::cancelled;
}

error silent_registry() {
  return {errc::storage_unavailable, plan_op,
          "the run registry did not answer in time"};
}

}  // namespace

void plan_executor_state::submit(std::function<void()> job) const {
  if (!spec->looks) return job();
  spec->looks->submit(std::move(job), {spec->run.value, 0}, {});
}

void plan_executor_state::end_step(core::step_end end) {
  at = doing::nothing;
  complained = false;
  apply(cursor.on_step_ended(std::move(end), now()));
}

bool plan_executor_state::end_if_stopped() {
  if (!cursor.stopping()) return false;
  end_step({events::run_status::failed, cursor.stopping()->why});
  return true;
}

// -- what it is to do ---------------------------------------------------------

/// Elsewhere: outputs of earlier steps may be long, specs are made from files,
/// and rules about places look at the file system.
void plan_executor_state::prepare() {
  at = doing::preparing;
  const auto place = cursor.place();
  const auto& step = spec->plan->document.steps[place];
  const auto of = current();
  const auto number = cursor.progress().step;
  if (calls_tool() && step.refers_to.empty() &&
      !takes_a_look(*spec, step.tool)) {
    step_prepared done{of, prepare_step(*spec, place, number, sources)};
    return on(done);
  }
  // Only what it needs: there may be thousands.
  std::vector<step_source> needed(place + 1);
  for (const auto other : step.refers_to) needed[other] = sources[other];
  needed[place] = source();
  submit([me = caf::actor_cast<plan_executor_actor>(self), plan = spec, of,
          number, needed = std::move(needed)] {
    caf::anon_send(
        me, step_prepared{of, prepare_step(*plan, of.place, number, needed)});
  });
}

void plan_executor_state::on(step_prepared& x) {
  if (at != doing::preparing || x.of != current()) return;
  if (end_if_stopped()) return;
  if (!x.what) {
    const auto& why = x.what.error();
    return end_step({events::run_status::failed,
                     error{errc::step_execution_error, plan_op, why.message}});
  }
  if (x.what->run)
    begin_run(x.what->run);
  else
    begin_call(std::move(x.what->call));
}

// -- a call -------------------------------------------------------------------

void plan_executor_state::begin_call(tool_call call) {
  at = doing::call;
  ++calls;
  storage::call_record record;
  record.call = call;
  record.run = spec->run;
  run_entry entry;
  entry.changes.emplace_back(std::move(record));
  self->send(peers.muxer, std::move(entry));
  self->send(peers.dispatcher, parsed_calls{{std::move(call)}});
  self->send(peers.dispatcher, gate_opened{true});
}

/// After a crash: the call is not on record, or settled, or it goes on.
void plan_executor_state::go_on_with_call() {
  const auto& all = recovered->session.calls;
  const auto found =
      std::ranges::find_if(all, [&](const storage::call_record& x) {
        return x.call.id == source().call;
      });
  if (found == all.end()) {
    if (!end_if_stopped()) prepare();
    return;
  }
  at = doing::call;
  if (found->stage == storage::call_stage::settled)
    return end_step(end_of_call(*found, spec->publish.output_limit));
  // One that shall end is drained instead.
  if (!cursor.stopping()) self->send(peers.dispatcher, gate_opened{true});
}

// -- a run --------------------------------------------------------------------

void plan_executor_state::begin_run(const run_spec_ptr& step) {
  at = doing::opening;
  attached = false;
  self->request(peers.registry, answer_deadline,
                start_run{step, watch_for(self, step->run)})
      .then([this](const run_opened& x) { on_opened(x, false); },
            [this](caf::error&) { on_trouble(silent_registry(), true); });
}

/// Whoever has it now lets go of it, or ends it.
void plan_executor_state::resume_run_of_step(const run_spec_ptr& step) {
  at = doing::opening;
  attached = false;
  self->request(peers.registry, answer_deadline,
                resume_run{step, watch_for(self, step->run), cursor.stopping()})
      .then([this](const run_opened& x) { on_opened(x, true); },
            [this](caf::error&) { on_trouble(silent_registry(), true); });
}

void plan_executor_state::on_opened(const run_opened& x, bool resumed) {
  if (at != doing::opening || x.run != source().run) return;
  if (!x.failure) return follow_run();
  const auto code = x.failure->code;
  if (!resumed && code != errc::storage_unavailable)
    return end_step(
        {events::run_status::failed,
         error{errc::step_execution_error, plan_op,
               std::string{to_string(code)} + ": " + x.failure->message}});
  if (code == errc::session_busy) {
    // It is under way, here or elsewhere: here its end is told.
    attached = true;
    follow_run();
    self->send(peers.registry,
               attach_subscriber{source().run, watch_for(self, source().run)});
    return;
  }
  // It has ended, or is gone, since it was looked at.
  if (code == errc::invalid_request || code == errc::not_found)
    return look_later();
  // Internal: what a dead process left behind still acts.
  on_trouble(*x.failure, may_pass(code) || code == errc::internal);
}

/// Its run cannot be had. Unless that may pass, and nobody wants its end, the
/// step ends, and with it what of the run is in this process.
void plan_executor_state::on_trouble(const error& why, bool passes) {
  if (!std::exchange(complained, true))
    log_run(log_level::warn, source().run,
            "of plan " + spec->run.value +
                " cannot be followed: " + render_chain(why));
  const auto& stop = cursor.stopping();
  if (passes && !stop) return look_later();
  self->send(peers.registry,
             stop ? cancel_run{source().run, stop->why, stop->cancelled}
                  : cancel_run{source().run,
                               {errc::cancelled, plan_op,
                                "its plan has given it up"}});
  if (!end_if_stopped())
    end_step({events::run_status::failed,
              error{errc::step_execution_error, plan_op, why.message}});
}

void plan_executor_state::follow_run() {
  at = doing::run;
  if (const auto& how = cursor.stopping())
    self->send(peers.registry,
               cancel_run{source().run, how->why, how->cancelled});
}

void plan_executor_state::on(step_run_closed& x) {
  if (at != doing::run || x.run != source().run) return;
  source().seq = std::max(source().seq, x.seq);
  // Of a run that does not go on an attached watch is closed at once, so this
  // would come back without a pause.
  attached ? look_later() : look();
}

void plan_executor_state::look() {
  at = doing::looking;
  submit([me = caf::actor_cast<plan_executor_actor>(self), plan = spec,
          of = current(), from = source()] {
    caf::anon_send(me,
                   step_looked_at{of, look_at_run(*plan, from.run, from.seq)});
  });
}

void plan_executor_state::look_later() {
  at = doing::looking;
  self->delayed_send(self, between_looks, look_at_step{current()});
}

void plan_executor_state::on(look_at_step& x) {
  if (at == doing::looking && x.of == current()) look();
}

void plan_executor_state::on(step_looked_at& x) {
  if (at != doing::looking || x.of != current()) return;
  if (!x.what) return on_trouble(x.what.error(), may_pass(x.what.error().code));
  using state = step_run_look::state;
  switch (x.what->at) {
    case state::ended:
      source().seq = x.what->seq;
      return end_step(std::move(x.what->end));
    case state::missing:
      if (!end_if_stopped()) prepare();
      return;
    case state::active: return resume_run_of_step(x.what->spec);
  }
}

}  // namespace riffle
