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
  return i->second;
}

std::optional<error> suspended_runs::find_end() const {
  std::lock_guard lock{mutex_};
  return end_;
}

void suspended_runs::halt(const run_id& run, const error& why) {
  std::lock_guard lock{mutex_};
  if (runs_.try_emplace(run, why).second)
    measure(metric::suspended_runs, 1, {});
}

void suspended_runs::halt_all(const error& why) {
  std::lock_guard lock{mutex_};
  if (!end_) end_ = why;
}

void suspended_runs::release(const run_id& run) {
  std::lock_guard lock{mutex_};
  if (runs_.erase(run) != 0) measure(metric::suspended_runs, -1, {});
}

}  // namespace riffle::storage
