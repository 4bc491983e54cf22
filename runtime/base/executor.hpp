// SPDX-License-Identifier: MIT
#pragma once

// The blocking executor: where blocking work runs, so that it never runs on the
// actors' scheduler.

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "messages/time.hpp"
#include "runtime/base/fair_queue.hpp"

namespace riffle {

/// Runs jobs some time later, on some thread that is not the caller's.
/// Thread-safe. A job must not throw.
class executor {
 public:
  using job = std::function<void()>;

  virtual ~executor() = default;
  /// `who` decides about the order of what waits for a thread; `begun`, if
  /// set, is called on that thread right before `work`. Throws if there is no
  /// thread and none can be had; then the job never runs.
  virtual void submit(job work, queue_ticket who, job begun) = 0;
  void submit(job work) { submit(std::move(work), {}, {}); }
};

/// Threads that start when jobs wait for one and stay; at most `max_threads`.
/// Jobs beyond wait, in the order of a fair_queue; a group has at most
/// `most_of_group` threads at a time (0: any number), so that one whose jobs
/// hang leaves the others theirs.
class blocking_executor final : public executor {
 public:
  explicit blocking_executor(std::size_t max_threads,
                             std::size_t most_of_group = 0);
  /// Drops jobs that have not begun and waits for those that run.
  ~blocking_executor() override;
  blocking_executor(const blocking_executor&) = delete;
  blocking_executor& operator=(const blocking_executor&) = delete;

  using executor::submit;
  void submit(job work, queue_ticket who, job begun) override;

  /// Drops jobs that have not begun and waits up to `limit` for those that
  /// run. False: some still do; their threads are abandoned (nothing can end
  /// a thread from outside), and the destructor does not wait for them.
  bool close(duration limit);

 private:
  struct shared;
  std::shared_ptr<shared> state_;
};

}  // namespace riffle
