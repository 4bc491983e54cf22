// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "messages/ids.hpp"

namespace riffle {

/// Which attempt of each call.
using call_attempts = std::map<call_id, std::uint32_t>;

/// The attempts of a run's calls that act on threads of tools. Those threads
/// themselves ask before they act and tell when they have ended: so it is true
/// also when every actor died that could tell. Thread-safe.
class run_work {
 public:
  /// Called on the thread whose attempt has ended, of those that somebody
  /// waits for (`close`, `still_acts`).
  using listener = std::function<void(const call_id&, std::uint32_t attempt)>;
  explicit run_work(listener on_end) : on_end_{std::move(on_end)} {}

  /// False: it was handed over before the last `close`, and must not act.
  bool begin(std::uint64_t epoch, const call_id& call, std::uint32_t attempt);
  void end(const call_id& call, std::uint32_t attempt);

  /// Nothing that was handed over so far begins any more.
  void close();
  [[nodiscard]] std::uint64_t epoch() const;

  [[nodiscard]] call_attempts acting() const;
  /// If so, its end is told to the listener.
  bool still_acts(const call_id& call, std::uint32_t attempt);

 private:
  struct work {
    std::uint32_t attempt = 0;
    bool awaited = false;
  };

  const listener on_end_;
  mutable std::mutex mutex_;
  std::uint64_t epoch_ = 0;
  std::multimap<call_id, work> acting_;
};

/// One call on its way to a worker. Who has the ticket may begin it: its
/// worker's thread, unless its dispatcher took it back.
class work_ticket {
 public:
  work_ticket() = default;
  work_ticket(std::shared_ptr<run_work> work, std::uint64_t epoch, call_id call,
              std::uint32_t attempt)
      : work_{std::move(work)},
        epoch_{epoch},
        call_{std::move(call)},
        attempt_{attempt} {}

  /// By its dispatcher. False: it has begun.
  bool take_back() noexcept { return !taken_.exchange(true); }

  /// By its worker's thread. False: it must not act.
  bool begin() {
    if (taken_.exchange(true)) return false;
    return !work_ || work_->begin(epoch_, call_, attempt_);
  }
  /// By the same thread, after it began: it acts no more.
  void end() {
    if (work_) work_->end(call_, attempt_);
  }
  /// By its dispatcher, whom the end is told later if it does.
  [[nodiscard]] bool still_acts() const {
    return work_ && work_->still_acts(call_, attempt_);
  }

 private:
  std::atomic<bool> taken_ = false;
  std::shared_ptr<run_work> work_;
  std::uint64_t epoch_ = 0;
  call_id call_;
  std::uint32_t attempt_ = 0;
};

}  // namespace riffle
