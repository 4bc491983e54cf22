// SPDX-License-Identifier: MIT
#include "actors/session_store.hpp"

#include <utility>

namespace riffle {

namespace {

opened_run to_answer(expected<storage::run_snapshot> x) {
  if (!x) return {nullptr, std::move(x.error())};
  return {std::make_shared<storage::run_snapshot>(std::move(*x)), {}};
}

}  // namespace

opened_run session_store_state::open(open_run_request& x) {
  return to_answer(journal->open_run(std::move(x.run)));
}

/// Nothing may act after it was settled: what a dead runtime left behind has
/// to be gone before recovery settles its calls (rule 10).
opened_run session_store_state::adopt(adopt_run_request& x) {
  auto answer = to_answer(journal->adopt_run(x.run));
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
    std::shared_ptr<storage::journal> journal, guard_waiter wait_for_guard) {
  auto& st = self->state;
  st.journal = std::move(journal);
  st.wait_for_guard = std::move(wait_for_guard);
  return {
      [&st](open_run_request& x) { return st.open(x); },
      [&st](adopt_run_request& x) { return st.adopt(x); },
  };
}

}  // namespace riffle
