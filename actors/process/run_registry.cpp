// SPDX-License-Identifier: MIT
#include "actors/process/run_registry.hpp"

#include <algorithm>
#include <utility>

#include "actors/handler.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

// -- start --------------------------------------------------------------------

caf::result<run_opened> run_registry_state::on(start_run& x) {
  return ask({x.spec->run, true, x.spec->cause.has_value(), x.spec->time_left(),
              std::move(x.end), x.spec->within_plan},
             x.spec, x.who);
}

caf::result<run_opened> run_registry_state::on(resume_run& x) {
  return ask({x.spec->run, false, x.spec->cause.has_value(),
              x.spec->time_left(), std::move(x.end), x.spec->within_plan},
             x.spec, x.who);
}

caf::result<run_opened> run_registry_state::ask(core::asked_run what,
                                                const run_spec_ptr& spec,
                                                const subscriber_ptr& who) {
  if (auto why = table.find_refusal(what))
    return run_opened{spec->run, spec->session, std::move(*why)};
  auto promise = self->make_response_promise<run_opened>();
  askers.insert_or_assign(spec->run, asker{spec, who, promise});
  if (const auto i = runs.find(spec->run); i != runs.end()) i->second.limit = 0;
  apply(table.on_asked(std::move(what)));
  return promise;
}

void run_registry_state::on_store_answer(const core::ask_store& asked,
                                         opened_run& answer) {
  if (answer.failure)
    return apply(
        table.on_refused(asked.run, asked.ticket, std::move(*answer.failure)));
  arrived = std::move(answer.snapshot);
  arrived_said = std::move(answer.said);
  apply(table.on_opened(asked.run, asked.ticket, now()));
  arrived.reset();
}

/// Who asked is not told anything any more, and does not read.
void run_registry_state::on(const withdraw_run& x) {
  if (const auto i = askers.find(x.run); i != askers.end())
    i->second.who.reset();
  if (const auto i = runs.find(x.run); i != runs.end())
    std::erase(i->second.readers, x.who);
  apply(table.on_withdrawn(x.run));
}

// -- while it runs ------------------------------------------------------------

void run_registry_state::on(attach_subscriber& x) {
  const auto i = runs.find(x.run);
  const auto why = table.why_still(x.run);
  if (i == runs.end() || why) {
    x.who->closed(why);
    return;
  }
  auto& readers = i->second.readers;
  if (const auto& late = i->second.late;
      late && x.who->position() < late->written_seq)
    x.who->behind();
  std::erase_if(readers, [](const auto& who) { return who->gone(); });
  if (std::ranges::find(readers, x.who) == readers.end())
    readers.push_back(x.who);
  // One that has no actors yet gets its readers with them.
  if (!i->second.late) self->send(i->second.peers.publisher, std::move(x));
}

void run_registry_state::on(cancel_run& x) {
  apply(table.on_cancel(x.run, {std::move(x.why), x.cancelled}));
}

void run_registry_state::on(cancel_call& x) {
  const auto i = runs.find(x.run);
  if (i != runs.end() && !i->second.late)
    self->send(i->second.peers.dispatcher, std::move(x));
}

caf::result<run_told> run_registry_state::on(tell_run& x) {
  const auto refused = [](const char* why) {
    return run_told{error{errc::invalid_request, "run", why}};
  };
  const auto i = runs.find(x.run);
  if (i == runs.end() || table.why_still(x.run))
    return refused("the run does not work in this process");
  if (i->second.late)
    return refused("the run has not begun to work: it waits for its tools");
  return self->delegate(i->second.peers.orchestrator, std::move(x));
}

/// Of a time limit that counts no more, since the run was resumed, there is
/// nothing to say: no question has its ticket.
void run_registry_state::on(const run_deadline& x) {
  const auto i = runs.find(x.run);
  if (i == runs.end() || i->second.limit == 0 || i->second.limit != x.ticket)
    return apply(table.on_deadline(x.run, x.ticket));
  apply(table.on_cancel(x.run, {{errc::timeout, "run",
                                 "the run did not end within its time limit"},
                                false}));
}

/// Work ended that outlived its actors, or that they gave up.
void run_registry_state::on(const work_returned& x) {
  const auto book = setup.board->find(x.run);
  if (!book) return;
  if (const auto i = runs.find(x.run); i != runs.end() && !i->second.late)
    self->send(i->second.peers.dispatcher, work_returned{x});
  if (!book->acting().empty()) return;
  const auto ticket = clearing.extract(x.run);
  if (ticket) apply(table.on_work_ended(x.run, ticket.mapped()));
  if (!runs.contains(x.run) && !askers.contains(x.run))
    setup.board->remove(x.run);
}

void run_registry_state::on(const run_ended& x) { table.on_ending(x.run); }

void run_registry_state::on(run_broken& x) {
  apply(table.on_broken(x.run, std::move(x.why)));
}

void run_registry_state::on(const probe_journal&) { apply(table.on_probe()); }

// -- the end ------------------------------------------------------------------

void run_registry_state::on_down(const caf::down_msg& x) {
  if (on_pool_down(x)) return;
  const auto owner = owners.extract(x.source);
  if (!owner) return;
  const auto& id = owner.mapped();
  auto& run = runs.at(id);
  run.alive.erase(x.source);
  if (run.failure.empty()) run.failure = self->system().render(x.reason);
  if (run.alive.empty()) apply(table.on_all_down(id, run.failure, now()));
}

caf::result<all_ended> run_registry_state::on(shut_down&) {
  auto promise = self->make_response_promise<all_ended>();
  waiting.push_back(promise);
  apply(table.on_shut_down());
  return promise;
}

/// Nobody is left who would end its runs, nor who would hear of their end.
run_registry_state::~run_registry_state() {
  for (auto& [id, run] : runs) {
    if (run.late) run.late->stop.request_stop();
    if (!run.alive.empty())
      caf::anon_send_exit(run.peers.orchestrator,
                          caf::exit_reason::user_shutdown);
  }
}

void run_registry_state::on_exit(caf::exit_msg& x) {
  for (auto& [id, run] : runs) {
    if (run.late)
      run.late->stop.request_stop();
    else
      self->send_exit(run.peers.orchestrator, x.reason);
  }
  self->quit(std::move(x.reason));
}

run_registry_actor::behavior_type run_registry(
    run_registry_actor::stateful_pointer<run_registry_state> self,
    registry_setup setup) {
  auto& st = self->state;
  st.setup = std::move(setup);
  st.table = core::run_table{{st.setup.max_runs, st.setup.supervision.intensity,
                              st.setup.supervision.period, st.setup.probe_base,
                              st.setup.probe_cap}};
  log_exceptions(self);
  self->set_down_handler([&st, self](caf::down_msg& x) {
    run_handler(self, st.setup.faults, "run_registry.down",
                [&] { st.on_down(x); });
  });
  // Runs that did not end in time go with their registry; the journal keeps
  // them for the next process.
  self->set_exit_handler([&st](caf::exit_msg& x) { st.on_exit(x); });
  st.watch_pools();
  return {
      handle_request<run_opened, start_run>(self, "run_registry.start"),
      handle_request<run_opened, resume_run>(self, "run_registry.resume"),
      handle<withdraw_run>(self, "run_registry.withdraw"),
      handle<attach_subscriber>(self, "run_registry.attach"),
      handle<cancel_run>(self, "run_registry.cancel"),
      handle<cancel_call>(self, "run_registry.cancel_call"),
      handle_request<run_told, tell_run>(self, "run_registry.tell"),
      handle<run_ended>(self, "run_registry.ended"),
      handle<run_broken>(self, "run_registry.broken"),
      handle<work_returned>(self, "run_registry.returned"),
      handle<spec_completed>(self, "run_registry.completed"),
      handle<wait_written>(self, "run_registry.written"),
      handle<wait_due>(self, "run_registry.wait"),
      handle<run_deadline>(self, "run_registry.deadline"),
      handle<probe_journal>(self, "run_registry.probe"),
      handle<revive_pool>(self, "run_registry.revive"),
      handle<pool_of_node>(self, "run_registry.pool_of_node"),
      handle_request<all_ended, shut_down>(self, "run_registry.shut_down"),
  };
}

}  // namespace riffle
