// SPDX-License-Identifier: MIT
#include "actors/process/run_work.hpp"

#include <algorithm>

namespace riffle {

void run_work::hand_over(std::uint64_t epoch, const call_id& call,
                         std::uint32_t attempt) {
  std::lock_guard lock{mutex_};
  if (epoch == epoch_) waiting_.emplace(call, attempt);
}

bool run_work::take_back(std::uint64_t epoch, const call_id& call,
                         std::uint32_t attempt) {
  std::lock_guard lock{mutex_};
  return epoch == epoch_ && waiting_.erase({call, attempt}) > 0;
}

bool run_work::begin(std::uint64_t epoch, const call_id& call,
                     std::uint32_t attempt) {
  std::lock_guard lock{mutex_};
  if (epoch != epoch_ || waiting_.erase({call, attempt}) == 0) return false;
  acting_.emplace(call, work{attempt, false});
  return true;
}

void run_work::end(const call_id& call, std::uint32_t attempt) {
  bool awaited = false;
  {
    std::lock_guard lock{mutex_};
    const auto [first, last] = acting_.equal_range(call);
    const auto i = std::find_if(first, last, [&](const auto& x) {
      return x.second.attempt == attempt;
    });
    if (i == last) return;
    awaited = i->second.awaited;
    acting_.erase(i);
  }
  if (awaited && on_end_) on_end_(call, attempt);
}

void run_work::close() {
  std::lock_guard lock{mutex_};
  ++epoch_;
  waiting_.clear();
  for (auto& [id, x] : acting_) x.awaited = true;
}

std::uint64_t run_work::epoch() const {
  std::lock_guard lock{mutex_};
  return epoch_;
}

call_attempts run_work::acting() const {
  std::lock_guard lock{mutex_};
  call_attempts out;
  for (const auto& [id, x] : acting_) out[id] = std::max(out[id], x.attempt);
  return out;
}

bool run_work::still_acts(const call_id& call, std::uint32_t attempt) {
  std::lock_guard lock{mutex_};
  const auto [first, last] = acting_.equal_range(call);
  const auto i = std::find_if(
      first, last, [&](const auto& x) { return x.second.attempt == attempt; });
  if (i == last) return false;
  i->second.awaited = true;
  return true;
}

void run_work::keep(const call_id& call, kept_result x) {
  std::lock_guard lock{mutex_};
  auto& mine = kept_[call];
  if (!mine || mine->attempt < x.attempt)
    mine = std::make_shared<const kept_result>(std::move(x));
}

std::shared_ptr<const kept_result> run_work::find_kept(
    const call_id& call, std::uint32_t attempt) const {
  std::lock_guard lock{mutex_};
  const auto i = kept_.find(call);
  const bool same = i != kept_.end() && i->second->attempt == attempt;
  return same ? i->second : nullptr;
}

void run_work::let_go(const call_id& call) {
  std::lock_guard lock{mutex_};
  kept_.erase(call);
}

void run_work::let_go_all() {
  std::lock_guard lock{mutex_};
  kept_.clear();
}

void work_board::add(const run_id& run, std::shared_ptr<run_work> work) {
  std::lock_guard lock{mutex_};
  all_.insert_or_assign(run, std::move(work));
}

void work_board::remove(const run_id& run) {
  std::lock_guard lock{mutex_};
  all_.erase(run);
}

std::shared_ptr<run_work> work_board::find(const run_id& run) const {
  std::lock_guard lock{mutex_};
  const auto i = all_.find(run);
  return i == all_.end() ? nullptr : i->second;
}

}  // namespace riffle
