// SPDX-License-Identifier: MIT
// What the run table wants done: a part of the run registry.
#include <utility>

#include "actors/process/run_registry.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

/// How long the store's answer is listened to: a late one is acted on, too.
/// That it is late is told by `run_deadline`.
constexpr auto heard_for = std::chrono::minutes{24 * 60};
constexpr const char* run_registry_op = "run_registry";

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

/// The journal refuses the run: what its calls are stopped for.
void keep_stopped(run_work& book, const call_attempts& acting) {
  for (const auto& [call, attempt] : acting) {
    call_result stopped;
    stopped.how = outcome::interrupted;
    stopped.attempts = attempt;
    stopped.err = error{errc::interrupted, run_registry_op,
                        "nothing could be saved while this call was under way, "
                        "so it was stopped; its outcome is unknown, check "
                        "before you repeat it"};
    book.keep(call, {attempt, std::move(stopped), {}});
  }
}

}  // namespace

/// One after the other, also those that follow from one of them.
void run_registry_state::apply(core::run_effects effects) {
  for (auto& effect : effects) todo.push_back(std::move(effect));
  if (std::exchange(applying, true)) return;
  while (!todo.empty()) {
    auto next = std::move(todo.front());
    todo.pop_front();
    std::visit([this](auto& x) { act(x); }, next);
  }
  applying = false;
  tell_inbox();
}

/// Who has no run, has nobody who asks something of it.
void run_registry_state::tell_inbox() {
  const bool any = table.owns_any();
  if (std::exchange(told_inbox, any) != any)
    self->send(setup.inbox, runs_here{any});
}

// -- the store ----------------------------------------------------------------

/// The deadline is a timer of our own: an answer must be heard however late it
/// is, else nobody would know that the run is this process's.
void run_registry_state::act(core::ask_store& x) {
  const auto answered = [this, x](opened_run& answer) {
    on_store_answer(x, answer);
  };
  const auto lost = [this, x](caf::error& e) {
    opened_run none{
        nullptr, error{errc::internal, run_registry_op,
                       "the session store failed, so no run can begin", false,
                       self->system().render(e)}};
    on_store_answer(x, none);
  };
  self->delayed_send(self, setup.store_deadline, run_deadline{x.run, x.ticket});
  if (x.fresh) {
    const auto& spec = *askers.at(x.run).spec;
    open_run_request request{to_record(spec), spec.files};
    self->request(setup.store, heard_for, std::move(request))
        .then(answered, lost);
    return;
  }
  adopt_run_request request{x.run, {}};
  for (const auto& [call, attempt] : work_of(x.run)->acting())
    request.acting.insert(call);
  self->request(setup.store, heard_for, std::move(request))
      .then(answered, lost);
}

void run_registry_state::act(core::disown_run& x) {
  self->send(setup.store, disown_request{x.run});
}

void run_registry_state::act(core::answer_asker& x) {
  const auto i = askers.find(x.run);
  if (i == askers.end()) return;
  auto& [spec, who, promise] = i->second;
  if (promise) promise->deliver(run_opened{x.run, spec->session, x.failure});
  promise.reset();
  who.reset();
  // A run that failed to go on goes on as it was, later.
  if (!x.failure || runs.contains(x.run)) askers.erase(i);
}

// -- its actors ---------------------------------------------------------------

/// The entry of a run that begins now: a new one, or that of before.
run_registry_state::entry& run_registry_state::take_over(const run_id& run) {
  auto& mine = runs[run];
  const auto asked = askers.find(run);
  if (asked == askers.end()) return mine;
  auto& [spec, who, promise] = asked->second;
  mine.spec = spec;
  mine.readers.clear();
  if (who) mine.readers.push_back(std::move(who));
  if (!promise) askers.erase(asked);
  return mine;
}

void run_registry_state::act(core::begin_run& x) {
  auto& run = take_over(x.run);
  run.failure.clear();
  if (run.spec->complete && !x.end) return complete_spec(run, x);
  spawn(run, x,
        {std::move(arrived),
         x.fresh,
         {},
         x.end,
         std::exchange(arrived_said, {})});
}

void run_registry_state::spawn(entry& run, const core::begin_run& x,
                               run_start start) {
  const auto book = work_of(x.run);
  start.acting = book->acting();
  run.peers = spawn_run(self->system(), run.spec, std::move(start), book,
                        caf::actor_cast<run_registry_actor>(self), setup);
  watch_actors(run);
  for (const auto& who : run.readers)
    self->send(run.peers.publisher, attach_subscriber{x.run, who});
  self->send(run.peers.orchestrator, run_peers{run.peers});
  keep_deadline(x);
}

void run_registry_state::watch_actors(entry& run) {
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
}

void run_registry_state::keep_deadline(const core::begin_run& x) {
  auto& limit = runs.at(x.run).limit;
  limit = 0;
  if (!x.deadline) return;
  limit = ++last_limit;
  self->scheduled_send(self, *x.deadline, run_deadline{x.run, limit});
}

void run_registry_state::act(core::tell_end& x) {
  auto& run = runs.at(x.run);
  if (run.late) return begin_late(run, std::move(x.how));
  self->send(run.peers.orchestrator, end_run{std::move(x.how)});
}

void run_registry_state::act(core::end_soon& x) {
  self->delayed_send(
      self, cause_grace,
      cancel_run{x.run,
                 {errc::cancelled, run_registry_op, "the runtime is closing"}});
}

void run_registry_state::act(core::stop_actors& x) {
  auto& run = runs.at(x.run);
  if (const auto late = std::exchange(run.late, {})) {  // it has none yet
    late->stop.request_stop();
    return apply(table.on_all_down(x.run, run.failure, now()));
  }
  self->send_exit(run.peers.orchestrator, caf::exit_reason::user_shutdown);
}

// -- its work -----------------------------------------------------------------

/// It stays for some time after its run is forgotten, while something acts.
std::shared_ptr<run_work> run_registry_state::work_of(const run_id& run) {
  auto book = setup.board->find(run);
  if (book) return book;
  book = std::make_shared<run_work>(
      [me = caf::actor_cast<run_registry_actor>(self), run](
          const call_id& call, std::uint32_t attempt) {
        caf::anon_send(me, work_returned{run, call, attempt});
      });
  setup.board->add(run, book);
  return book;
}

/// What waits for a worker never begins; what acts is stopped and waited for.
void run_registry_state::act(core::end_work& x) {
  const auto book = work_of(x.run);
  book->close();
  for (const auto& [tool, pool] : setup.pools)
    self->send(pool, abandon_run{x.run});
  const auto acting = book->acting();
  const auto why = table.why_still(x.run);
  if (why && why->code == errc::storage_unavailable)
    keep_stopped(*book, acting);
  else
    book->let_go_all();  // one of them may be what it failed of
  if (acting.empty()) return apply(table.on_work_ended(x.run, x.ticket));
  clearing.insert_or_assign(x.run, x.ticket);
  self->delayed_send(self, setup.abandon_deadline,
                     run_deadline{x.run, x.ticket});
}

// -- its end ------------------------------------------------------------------

void run_registry_state::act(core::close_readers& x) {
  const auto i = runs.find(x.run);
  if (i == runs.end()) return;
  for (const auto& who : std::exchange(i->second.readers, {}))
    who->closed(x.why);
}

void run_registry_state::act(core::forget_run& x) {
  runs.erase(x.run);
  askers.erase(x.run);
  clearing.erase(x.run);
  const auto book = setup.board->find(x.run);
  if (!book) return;
  book->close();  // what still acts tells when it has ended
  if (book->acting().empty()) setup.board->remove(x.run);
}

void run_registry_state::act(core::probe_later& x) {
  if (x.pause > duration{})
    self->delayed_send(self, x.pause, probe_journal{});
  else
    self->send(self, probe_journal{});
}

void run_registry_state::act(core::all_runs_ended&) {
  for (auto& promise : std::exchange(waiting, {})) promise.deliver(all_ended{});
}

void run_registry_state::act(core::note_run& x) {
  auto text = x.run.value + " " + x.text;
  if (x.why) text += ": " + render_chain(*x.why);
  switch (x.at) {
    case core::note_run::level::info: log_info(run_registry_op, text); break;
    case core::note_run::level::warn: log_warn(run_registry_op, text); break;
    case core::note_run::level::error: log_error(run_registry_op, text); break;
  }
}

}  // namespace riffle
