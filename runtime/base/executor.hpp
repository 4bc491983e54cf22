// SPDX-License-Identifier: MIT
#pragma once

// The lane: where blocking work runs, so that it never runs on the actors'
// scheduler.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace riffle {

/// Runs jobs some time later, on some thread that is not the caller's.
/// Thread-safe. A job must not throw.
class executor {
 public:
  using job = std::function<void()>;

  virtual ~executor() = default;
  virtual void submit(job work) = 0;
};

/// Threads that start when jobs wait for one and stay; at most `max_threads`
/// (jobs beyond wait in order). The destructor waits for running jobs and
/// drops those that have not begun.
class thread_lane final : public executor {
 public:
  explicit thread_lane(std::size_t max_threads);
  ~thread_lane() override;
  thread_lane(const thread_lane&) = delete;
  thread_lane& operator=(const thread_lane&) = delete;

  void submit(job work) override;

 private:
  void work();

  const std::size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<job> jobs_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace riffle
