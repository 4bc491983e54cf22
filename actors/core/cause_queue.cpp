// SPDX-License-Identifier: MIT
#include "actors/core/cause_queue.hpp"

#include "actors/core/retry_policy.hpp"

namespace riffle::core {

bool may_pass(const error& why) noexcept {
  switch (why.code) {
    case errc::session_busy:
    case errc::budget_exceeded:  // runtime.max_runs
    case errc::storage_unavailable:
    case errc::timeout: return true;
    default: return why.retryable;
  }
}

bool cause_queue::add(const proposal_id& id, time_point now) {
  if (waiting_.size() >= most && !waiting_.contains(id)) return false;
  waiting_.try_emplace(id, entry{now});
  return true;
}

std::vector<proposal_id> cause_queue::take_due(time_point now) {
  std::vector<proposal_id> out;
  for (auto& [id, x] : waiting_) {
    if (x.on_its_way || now < x.due) continue;
    x.on_its_way = true;
    out.push_back(id);
  }
  return out;
}

cause_state cause_queue::on_answer(const proposal_id& id,
                                   const std::optional<error>& why,
                                   time_point now) {
  const auto i = waiting_.find(id);
  if (!why || i == waiting_.end() || !may_pass(*why)) {
    if (i != waiting_.end()) waiting_.erase(i);
    return why ? cause_state::given_up : cause_state::started;
  }
  auto& x = i->second;
  x.on_its_way = false;
  x.due = now;
  if (why->code != errc::session_busy)
    x.due += backoff_delay(first_pause, longest_pause, ++x.failures, 1.0);
  return cause_state::later;
}

std::uint32_t cause_queue::failures(const proposal_id& id) const {
  const auto i = waiting_.find(id);
  return i == waiting_.end() ? 0 : i->second.failures;
}

}  // namespace riffle::core
