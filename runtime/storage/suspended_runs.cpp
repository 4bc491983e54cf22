// SPDX-License-Identifier: MIT
#include "runtime/storage/suspended_runs.hpp"

#include "runtime/base/metrics.hpp"

namespace riffle::storage {

std::optional<error> suspended_runs::find(const run_id& run) const {
  std::lock_guard lock{mutex_};
  if (end_) return end_;
  if (runs_.empty()) return std::nullopt;
  const auto i = runs_.find(run);
  if (i == runs_.end()) return std::nullopt;
  return i->second.why;
}

std::uint64_t suspended_runs::mark(const run_id& run) const {
  std::lock_guard lock{mutex_};
  const auto i = runs_.find(run);
  return i == runs_.end() ? 0 : i->second.mark;
}

std::optional<error> suspended_runs::find_end() const {
  std::lock_guard lock{mutex_};
  return end_;
}

void suspended_runs::halt(const run_id& run, const error& why) {
  std::lock_guard lock{mutex_};
  const auto [place, is_new] = runs_.try_emplace(run, suspension{why, 0});
  if (!is_new) return;
  place->second.mark = ++last_mark_;
  measure(metric::suspended_runs, 1, {});
}

void suspended_runs::halt_all(const error& why) {
  std::lock_guard lock{mutex_};
  if (!end_) end_ = why;
}

void suspended_runs::release(const run_id& run, std::uint64_t mark) {
  std::lock_guard lock{mutex_};
  const auto i = runs_.find(run);
  if (i == runs_.end() || i->second.mark != mark) return;
  runs_.erase(i);
  measure(metric::suspended_runs, -1, {});
}

}  // namespace riffle::storage
