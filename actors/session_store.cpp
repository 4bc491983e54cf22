// SPDX-License-Identifier: MIT
#include "actors/session_store.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "actors/handler.hpp"

namespace riffle {

namespace {

constexpr auto owner_patience = std::chrono::milliseconds{3000};

opened_run to_answer(expected<storage::run_snapshot> x) {
  if (!x) return {nullptr, std::move(x.error())};
  return {std::make_shared<storage::run_snapshot>(std::move(*x)), {}};
}

/// A runtime that is killed while it starts a process leaves its lock to that
/// process for a moment, until it is replaced by its program: so a lock is
/// looked at again before its owner counts as alive.
expected<storage::run_snapshot> adopt_patiently(storage::journal& journal,
                                                const run_id& run) {
  const auto deadline = std::chrono::steady_clock::now() + owner_patience;
  for (;;) {
    auto answer = journal.adopt_run(run);
    const bool busy = !answer && answer.error().code == errc::session_busy;
    if (!busy || std::chrono::steady_clock::now() >= deadline) return answer;
    std::this_thread::sleep_for(owner_patience / 30);
  }
}

}  // namespace

opened_run session_store_state::open(open_run_request& x) {
  return to_answer(journal->open_run(std::move(x.run)));
}

/// Nothing may act after it was settled: what a dead runtime left behind has
/// to be gone before recovery settles its calls (rule 10).
opened_run session_store_state::adopt(adopt_run_request& x) {
  auto answer = to_answer(adopt_patiently(*journal, x.run));
  if (answer.failure || !wait_for_guard) return answer;
  for (const auto& call : answer.snapshot->session.calls) {
    if (call.run != x.run || call.stage == storage::call_stage::settled)
      continue;
    if (auto why = wait_for_guard(call)) return {nullptr, std::move(why)};
  }
  return answer;
}

session_store_actor::behavior_type session_store(
    session_store_actor::stateful_pointer<session_store_state> self,
    std::shared_ptr<storage::journal> journal, guard_waiter wait_for_guard,
    fault_hook faults) {
  auto& st = self->state;
  st.journal = std::move(journal);
  st.wait_for_guard = std::move(wait_for_guard);
  st.faults = std::move(faults);
  return {
      [&st, self](open_run_request& x) {
        return run_request<opened_run>(self, st.faults, "session_store.open",
                                       [&] { return st.open(x); });
      },
      [&st, self](adopt_run_request& x) {
        return run_request<opened_run>(self, st.faults, "session_store.adopt",
                                       [&] { return st.adopt(x); });
      },
  };
}

}  // namespace riffle
