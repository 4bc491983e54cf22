// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <unordered_set>

#include "messages/ids.hpp"

namespace riffle::http {

/// The calls of the run that was asked about last, if it has ended: who reads
/// all its outputs has its session read once. Thread-safe.
class ended_calls {
 public:
  using set = std::unordered_set<call_id>;

  /// Null: they are not known.
  [[nodiscard]] std::shared_ptr<const set> of(const run_id& run) const {
    const std::lock_guard lock{mutex_};
    return run == run_ ? calls_ : nullptr;
  }
  void keep(const run_id& run, set calls) {
    auto made = std::make_shared<const set>(std::move(calls));
    const std::lock_guard lock{mutex_};
    run_ = run;
    calls_ = std::move(made);
  }

 private:
  mutable std::mutex mutex_;
  run_id run_{};
  std::shared_ptr<const set> calls_;
};

}  // namespace riffle::http
