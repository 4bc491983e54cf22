// SPDX-License-Identifier: MIT
#include "actors/run_registry.hpp"

#include <utility>

#include "runtime/base/log.hpp"

namespace riffle {

namespace {

constexpr const char* op = "run_registry";

/// Less than a runtime waits for the end of its runs.
constexpr auto cause_grace = std::chrono::seconds{3};

storage::run_record to_record(const run_spec& spec) {
  storage::run_record record;
  record.id = spec.run;
  record.session = spec.session;
  record.task = spec.task;
  record.agent = spec.agent_name;
  record.model = spec.model.model;
  record.settings = spec.settings;
  record.started = spec.wall();
  if (spec.cause) record.cause = spec.cause->what.id;
  return record;
}

run_opened refused(const run_spec& spec, error why) {
  return {spec.run, spec.session, std::move(why)};
}

}  // namespace

// -- start --------------------------------------------------------------------

caf::result<run_opened> run_registry_state::on_start(start_run& x) {
  if (closing)
    return refused(*x.spec, {errc::cancelled, op, "the runtime is closing"});
  if (setup.max_runs > 0 && runs.size() + opening >= setup.max_runs)
    return refused(*x.spec,
                   {errc::budget_exceeded, op,
                    "there are " + std::to_string(setup.max_runs) +
                        " runs already; raise runtime.max_runs or wait"});
  auto promise = self->make_response_promise<run_opened>();
  open(x.spec, x.who, promise, true);
  return promise;
}

caf::result<run_opened> run_registry_state::on_resume(resume_run& x) {
  if (closing || runs.contains(x.spec->run) || !claim_parked(x.spec->run))
    return refused(*x.spec, {errc::session_busy, op,
                             "the run is under way in this process"});
  auto promise = self->make_response_promise<run_opened>();
  std::optional<end_run> end;
  if (x.end) end = end_run{std::move(*x.end)};
  open(x.spec, x.who, promise, false, std::move(end));
  return promise;
}

void run_registry_state::open(const run_spec_ptr& spec,
                              const subscriber_ptr& who, opened_promise promise,
                              bool fresh, std::optional<end_run> end) {
  ++opening;
  const auto opened = [this, spec, who, promise, fresh,
                       end](opened_run& answer) mutable {
    --opening;
    if (answer.failure) {
      return_parked(spec->run);
      promise.deliver(refused(*spec, std::move(*answer.failure)));
      answer_shut_down();
      return;
    }
    entry run{spec,
              {},
              {},
              {},
              core::restart_policy{setup.supervision.intensity,
                                   setup.supervision.period}};
    if (who) run.readers.push_back(who);
    run.end = std::move(end);
    if (const auto left = parked.extract(spec->run); left && !run.end)
      run.end = std::move(left.mapped().end);
    auto& mine = runs.insert_or_assign(spec->run, std::move(run)).first->second;
    begin(mine, std::move(answer.snapshot), fresh);
    tell_desk();
    promise.deliver(run_opened{spec->run, spec->session, {}});
    if (closing) end_for_closing(mine);
  };
  const auto lost = [this, spec, promise](caf::error& e) mutable {
    --opening;
    return_parked(spec->run);
    promise.deliver(refused(
        *spec, {errc::storage_unavailable, op,
                "the store did not answer: " + self->system().render(e)}));
    answer_shut_down();
  };
  if (fresh)
    self->request(setup.store, setup.store_deadline,
                  open_run_request{to_record(*spec)})
        .then(opened, lost);
  else
    self->request(setup.store, setup.store_deadline,
                  adopt_run_request{spec->run})
        .then(opened, lost);
}

void run_registry_state::begin(entry& run,
                               std::shared_ptr<storage::run_snapshot> snapshot,
                               bool fresh) {
  run.peers = spawn_run(self->system(), run.spec, std::move(snapshot), fresh,
                        caf::actor_cast<run_registry_actor>(self), setup);
  const auto watch = [&](const auto& actor) {
    self->monitor(actor);
    run.alive.insert(actor.address());
    owners.emplace(actor.address(), run.spec->run);
  };
  watch(run.peers.publisher);
  watch(run.peers.orchestrator);
  watch(run.peers.dispatcher);
  watch(run.peers.muxer);
  watch(run.peers.tracker);
  for (const auto& who : run.readers)
    self->send(run.peers.publisher, attach_subscriber{run.spec->run, who});
  self->send(run.peers.orchestrator, run_peers{run.peers});
  if (run.end) self->send(run.peers.orchestrator, end_run{*run.end});
  keep_deadline(run);
}

/// A run that starts again, or stood still, has no more time than at first.
void run_registry_state::keep_deadline(entry& run) {
  const auto limit = run.spec->time_limit;
  if (limit <= duration{}) return;
  if (!run.deadline) {
    run.deadline = self->clock().now() + limit;
    return;
  }
  self->scheduled_send(self, *run.deadline,
                       cancel_run{run.spec->run,
                                  {errc::timeout, "run",
                                   "the run did not end within its time limit"},
                                  false});
}

// -- while it runs ------------------------------------------------------------

void run_registry_state::on_attach(attach_subscriber& x) {
  const auto i = runs.find(x.run);
  if (i == runs.end() || i->second.broken) {
    const auto why = why_parked(x.run);
    x.who->closed(why);
    return;
  }
  auto& readers = i->second.readers;
  if (std::ranges::find(readers, x.who) == readers.end())
    readers.push_back(x.who);
  self->send(i->second.peers.publisher, std::move(x));
}

void run_registry_state::on_cancel(cancel_run& x) {
  if (const auto p = parked.find(x.run); p != parked.end() && !p->second.end)
    p->second.end = end_run{{x.why, x.cancelled}};
  const auto i = runs.find(x.run);
  if (i == runs.end() || i->second.end) return;
  i->second.end = end_run{{std::move(x.why), x.cancelled}};
  self->send(i->second.peers.orchestrator, end_run{*i->second.end});
}

void run_registry_state::on_cancel(cancel_call& x) {
  const auto i = runs.find(x.run);
  if (i != runs.end()) self->send(i->second.peers.dispatcher, std::move(x));
}

void run_registry_state::on_broken(run_broken& x) {
  const auto i = runs.find(x.run);
  if (i == runs.end()) return;
  if (!i->second.broken) i->second.broken = std::move(x.why);
  self->send_exit(i->second.peers.orchestrator,
                  caf::exit_reason::user_shutdown);
}

// -- the end, or another try --------------------------------------------------

void run_registry_state::on_down(const caf::down_msg& x) {
  if (on_pool_down(x)) return;
  const auto owner = owners.find(x.source);
  if (owner == owners.end()) return;
  const auto id = owner->second;
  owners.erase(owner);
  auto& run = runs.at(id);
  run.alive.erase(x.source);
  if (run.failure.empty()) run.failure = self->system().render(x.reason);
  if (run.alive.empty()) all_down(id);
}

void run_registry_state::all_down(const run_id& id) {
  auto& run = runs.at(id);
  if (!run.ending && !run.broken) {
    restart(id);
    return;
  }
  if (run.broken)
    stand_still(id, *run.broken);
  else
    all_ended_well(id);
}

void run_registry_state::all_ended_well(const run_id& id) {
  for (const auto& who : runs.at(id).readers) who->closed({});
  runs.erase(id);
  answer_shut_down();
}

void run_registry_state::restart(const run_id& id) {
  auto& run = runs.at(id);
  log_warn(op, id.value + " failed: " + run.failure);
  if (!run.restarts.allow(self->clock().now())) {
    const error why{errc::internal, op,
                    "the run failed too often: " + run.failure};
    if (std::exchange(run.last_try, true)) {
      give_up(id, why);
      return;
    }
    run.end = end_run{{why, false}};  // settle what is open, then end
  }
  // Its work must have ended before its calls are settled.
  end_work_of(id, [this, id] { adopt_again(id); });
}

void run_registry_state::end_work_of(const run_id& id,
                                     std::function<void()> then) {
  auto left = std::make_shared<std::size_t>(setup.pools.size());
  if (*left == 0) return then();
  const auto done = [left, then = std::move(then)] {
    if (--*left == 0) then();
  };
  for (const auto& [tool, pool] : setup.pools)
    self->request(pool, setup.abandon_deadline, abandon_run{id})
        .then([done](run_abandoned&) { done(); },
              [done](caf::error&) { done(); });
}

void run_registry_state::adopt_again(const run_id& id) {
  self->request(setup.store, setup.store_deadline, adopt_run_request{id})
      .then(
          [this, id](opened_run& answer) {
            const auto i = runs.find(id);
            if (i == runs.end()) return;
            // Its last event was stored before the failure: that was its end.
            if (answer.failure &&
                answer.failure->code == errc::invalid_request) {
              all_ended_well(id);
              return;
            }
            if (answer.failure) {
              stand_still(id, *answer.failure);
              return;
            }
            i->second.failure.clear();
            begin(i->second, std::move(answer.snapshot), false);
          },
          [this, id](caf::error& e) {
            give_up(id,
                    {errc::storage_unavailable, op, self->system().render(e)});
          });
}

void run_registry_state::give_up(const run_id& id, const error& why) {
  const auto i = runs.find(id);
  if (i == runs.end()) return;
  log_error(op, id.value + ": " + render_chain(why));
  for (const auto& who : i->second.readers) who->closed(why);
  runs.erase(i);
  answer_shut_down();
}

caf::result<all_ended> run_registry_state::on_shut_down() {
  closing = true;
  if (runs.empty() && opening == 0) return all_ended{};
  auto promise = self->make_response_promise<all_ended>();
  waiting.push_back(promise);
  for (auto& [id, run] : runs) end_for_closing(run);
  return promise;
}

/// What a person approved gets a moment to act, also if it began only now.
void run_registry_state::end_for_closing(entry& run) {
  cancel_run end{run.spec->run,
                 {errc::cancelled, op, "the runtime is closing"}};
  if (run.spec->cause)
    self->delayed_send(self, cause_grace, std::move(end));
  else
    on_cancel(end);
}

/// Who has no run, has nobody who asks something of it.
void run_registry_state::tell_desk() {
  const bool any = !runs.empty() || !parked.empty();
  if (std::exchange(told_desk, any) != any)
    self->send(setup.desk, runs_here{any});
}

void run_registry_state::answer_shut_down() {
  tell_desk();
  if (!closing || !runs.empty() || opening > 0) return;
  for (auto& promise : std::exchange(waiting, {})) promise.deliver(all_ended{});
}

void run_registry_state::on_exit(caf::exit_msg& x) {
  for (auto& [id, run] : runs)
    self->send_exit(run.peers.orchestrator, x.reason);
  self->quit(std::move(x.reason));
}

run_registry_actor::behavior_type run_registry(
    run_registry_actor::stateful_pointer<run_registry_state> self,
    registry_setup setup) {
  auto& st = self->state;
  st.setup = std::move(setup);
  self->set_down_handler([&st](caf::down_msg& x) { st.on_down(x); });
  // Runs that did not end in time go with their registry; the journal keeps
  // them for the next process.
  self->set_exit_handler([&st](caf::exit_msg& x) { st.on_exit(x); });
  st.watch_pools();
  return {
      [&st](start_run& x) { return st.on_start(x); },
      [&st](resume_run& x) { return st.on_resume(x); },
      [&st](attach_subscriber& x) { st.on_attach(x); },
      [&st](cancel_run& x) { st.on_cancel(x); },
      [&st](cancel_call& x) { st.on_cancel(x); },
      [&st](run_ended& x) {
        if (auto i = st.runs.find(x.run); i != st.runs.end())
          i->second.ending = true;
      },
      [&st](run_broken& x) { st.on_broken(x); },
      [&st](probe_journal&) { st.on_probe(); },
      [&st](const revive_pool& x) {
        st.replace_pool(x.tool, "it cooled down");
      },
      [&st](shut_down&) { return st.on_shut_down(); },
  };
}

}  // namespace riffle
