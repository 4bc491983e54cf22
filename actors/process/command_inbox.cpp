// SPDX-License-Identifier: MIT
#include "actors/process/command_inbox.hpp"

#include <utility>

#include "actors/end_reason.hpp"
#include "actors/handler.hpp"
#include "runtime/base/log.hpp"
#include "runtime/storage/for_later.hpp"

namespace riffle {

namespace {

constexpr const char* command_inbox_op = "command_inbox";

/// Longest wait for the registry to open a run.
constexpr auto start_deadline = std::chrono::seconds{90};

/// On an executor's thread: nothing may leave it as an exception.
cause_made make_cause(const cause_spec_maker& make,
                      const storage::proposal_state& cause) {
  cause_made out{cause.what.id, {}, {}};
  try {
    if (auto spec = make(cause))
      out.spec = std::move(*spec);
    else
      out.why = std::move(spec.error());
  } catch (const std::exception& problem) {
    out.why = error{errc::internal, command_inbox_op, problem.what()};
  }
  return out;
}

}  // namespace

// -- who waits ----------------------------------------------------------------

void command_inbox_state::on(watch_proposal& x) {
  self->monitor(x.tracker);
  const auto id = x.id;
  watched.insert_or_assign(id, std::move(x.tracker));
  look_for({id});  // it may have been decided before
  schedule();
}

void command_inbox_state::on(const unwatch_proposal& x) {
  watched.erase(x.id);
  unsettled.erase(x.id);
}

void command_inbox_state::on(const caf::down_msg& x) {
  std::erase_if(watched, [&](const auto& entry) {
    return entry.second.address() == x.source;
  });
  std::erase_if(unsettled, [&](const auto& entry) {
    return !watched.contains(entry.first);
  });
}

// -- decisions ----------------------------------------------------------------

void command_inbox_state::on(settle_proposal& x) {
  auto answer = setup.journal->decide(x.decision, {});
  if (!answer) {
    // The run waits for it, maybe without a write of its own: it is stored
    // as soon as there is room.
    if (!std::exchange(refused, true))
      log_error(command_inbox_op, render_chain(answer.error()));
    const auto id = x.decision.proposal;
    if (watched.contains(id)) unsettled.insert_or_assign(id, std::move(x));
    schedule();
    return;
  }
  refused = false;
  if (!answer->now || !answer->now->decided) return;
  decision_known known{std::move(*answer->now->decided)};
  on(known);
}

void command_inbox_state::on(decision_known& x) {
  const auto i = watched.find(x.decision.proposal);
  if (i != watched.end()) self->send(i->second, std::move(x));
}

void command_inbox_state::look_for(const std::vector<proposal_id>& ids) {
  auto found = setup.journal->decisions_of(ids);
  if (!found) {
    log_error(command_inbox_op, render_chain(found.error()));
    return;
  }
  for (auto& decision : *found) {
    // Approved elsewhere for a run of its own: that process may be gone before
    // the session is free.
    if (decision.how == events::proposal_outcome::approved) {
      storage::proposal_filter filter;
      filter.id = decision.proposal;
      auto state = setup.journal->list_proposals(filter);
      if (!state) {  // it is looked for again
        log_error(command_inbox_op, render_chain(state.error()));
        continue;
      }
      if (!state->empty() && storage::awaits_execution(state->front())) {
        queued_cause cause{std::move(state->front())};
        on(cause);
      }
    }
    decision_known known{std::move(decision)};
    on(known);
  }
}

// -- runs that approvals cause ------------------------------------------------

void command_inbox_state::on(queued_cause& x) {
  if (!setup.make_cause_spec || !storage::awaits_execution(x.cause)) return;
  const auto& id = x.cause.what.id;
  if (!queue.add(id, now()))
    return log_error(command_inbox_op,
                     "proposal " + id.value +
                         " is not executed: too many wait for that; "
                         "approve it again later");
  causes.insert_or_assign(id, std::move(x.cause));
  schedule();
}

void command_inbox_state::try_causes() {
  for (const auto& id : queue.take_due(now())) try_cause(causes.at(id));
}

/// Made elsewhere, for that may wait for servers and nodes: decisions are heard
/// meanwhile.
void command_inbox_state::try_cause(const storage::proposal_state& cause) {
  auto job = [me = caf::actor_cast<command_inbox_actor>(self),
              make = setup.make_cause_spec,
              cause] { caf::anon_send(me, make_cause(make, cause)); };
  if (setup.blocking)
    setup.blocking->submit(std::move(job), {}, {});
  else
    job();
}

/// The journal lets one run at most execute it, whoever tries, and however
/// often.
void command_inbox_state::on(cause_made& x) {
  const auto id = x.id;
  if (!x.spec) return on_answer(id, x.why);
  const auto run = x.spec->run;
  self->request(registry, start_deadline, start_run{std::move(x.spec), {}})
      .then([this, id](run_opened& y) { on_answer(id, y.failure); },
            [this, id, run](caf::error&) {
              self->send(registry, withdraw_run{run, {}});
              on_answer(id, error{errc::timeout, command_inbox_op,
                                  "the registry did not answer"});
            });
}

/// Somebody was promised that it would be started: what can pass is waited for,
/// as long as the runtime lives. Behind that it is still on record as approved
/// and not executed, and whoever approves it again has it started.
void command_inbox_state::on_answer(const proposal_id& id,
                                    const std::optional<error>& why) {
  const auto state = queue.on_answer(id, why, now());
  if (state != core::cause_state::later) causes.erase(id);
  if (state == core::cause_state::given_up)
    log_warn(command_inbox_op,
             "proposal " + id.value + " is not executed: " + render(*why));
  else if (queue.failures(id) == 1 && why->code != errc::session_busy)
    log_warn(command_inbox_op,
             "proposal " + id.value +
                 " cannot be executed yet, it is tried again: " + render(*why));
  schedule();
}

// -- what other processes ask -------------------------------------------------

/// The row stays until the run has ended, so that a crash does not undo it.
void command_inbox_state::look_for_cancels() {
  auto found = setup.journal->cancels();
  if (!found) {
    if (!std::exchange(unread, true))
      log_error(command_inbox_op, render_chain(found.error()));
    return;
  }
  unread = false;
  for (auto& x : *found)
    self->send(registry,
               cancel_run{x.run, {errc::cancelled, asked_elsewhere, x.reason}});
}

// -- the timer ----------------------------------------------------------------

void command_inbox_state::on(tick&) {
  scheduled = false;
  std::vector<proposal_id> ids;
  ids.reserve(watched.size());
  for (const auto& entry : watched) ids.push_back(entry.first);
  if (!ids.empty()) look_for(ids);
  for (auto& [id, x] : std::exchange(unsettled, {})) on(x);
  if (runs) look_for_cancels();
  try_causes();
  schedule();
}

void command_inbox_state::schedule() {
  if (scheduled || (watched.empty() && causes.empty() && !runs)) return;
  scheduled = true;
  self->delayed_send(self, setup.poll_every, tick{});
}

command_inbox_actor::behavior_type command_inbox(
    command_inbox_actor::stateful_pointer<command_inbox_state> self,
    inbox_setup setup) {
  log_exceptions(self);
  auto& st = self->state;
  st.setup = std::move(setup);
  self->set_down_handler(handle<caf::down_msg>(self, "command_inbox.down"));
  return {
      handle<run_peers>(self, "command_inbox.run_peers"),
      handle<watch_proposal>(self, "command_inbox.watch"),
      handle<const unwatch_proposal>(self, "command_inbox.unwatch"),
      handle<settle_proposal>(self, "command_inbox.settle"),
      handle<decision_known>(self, "command_inbox.known"),
      handle<queued_cause>(self, "command_inbox.queued"),
      handle<cause_made>(self, "command_inbox.made"),
      handle<const runs_here>(self, "command_inbox.runs_here"),
      handle<tick>(self, "command_inbox.tick"),
  };
}

}  // namespace riffle
