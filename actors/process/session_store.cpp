// SPDX-License-Identifier: MIT
#include "actors/process/session_store.hpp"

#include <utility>

#include "actors/handler.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

/// Until a run is disowned again that the journal did not let go of.
constexpr auto disown_pause = std::chrono::seconds{1};

}  // namespace

opened_run session_store_state::on(open_run_request& x) {
  auto answer = journal->open_run(std::move(x.run), std::move(x.files));
  if (!answer) return {nullptr, std::move(answer.error())};
  return {std::make_shared<storage::run_snapshot>(std::move(*answer)), {}};
}

/// It may wait for long, so not here: others are to be opened meanwhile.
caf::result<opened_run> session_store_state::on(adopt_run_request& x) {
  undisowned.erase(x.run);  // it is to be this process's again
  auto promise = self->make_response_promise<opened_run>();
  const auto number = ++last_number;
  adopting.emplace(number, promise);
  auto job = [me = caf::actor_cast<session_store_actor>(self), number,
              from = journal, wait = wait_for_guard, what = std::move(x)] {
    caf::anon_send(
        me, adoption_done{number, what.run, adopt_run(*from, what, wait)});
  };
  if (blocking)
    blocking->submit(std::move(job));
  else
    job();
  return promise;
}

void session_store_state::on(adoption_done& x) {
  const auto promise = adopting.extract(x.number);
  if (x.answer.left_here) on(disown_request{x.run});
  if (promise) promise.mapped().deliver(std::move(x.answer));
}

void session_store_state::on(const disown_request& x) {
  if (x.again && !undisowned.contains(x.run)) return;
  const auto done = journal->disown_run(x.run);
  if (done) {
    undisowned.erase(x.run);
    return log_info("session_store", "run " + x.run.value + " is disowned");
  }
  if (undisowned.insert(x.run).second)
    log_error("session_store", "run " + x.run.value +
                                   " is not disowned yet, it is tried again: " +
                                   render_chain(done.error()));
  self->delayed_send(self, disown_pause, disown_request{x.run, true});
}

session_store_actor::behavior_type session_store(
    session_store_actor::stateful_pointer<session_store_state> self,
    std::shared_ptr<storage::journal> journal,
    std::shared_ptr<executor> blocking, guard_waiter wait_for_guard,
    fault_hook faults) {
  log_exceptions(self);
  auto& st = self->state;
  st.journal = std::move(journal);
  st.blocking = std::move(blocking);
  st.wait_for_guard = std::move(wait_for_guard);
  st.faults = std::move(faults);
  return {
      handle_request<opened_run, open_run_request>(self, "session_store.open"),
      handle_request<opened_run, adopt_run_request>(self,
                                                    "session_store.adopt"),
      handle<adoption_done>(self, "session_store.adopted"),
      handle<const disown_request>(self, "session_store.disown"),
  };
}

}  // namespace riffle
