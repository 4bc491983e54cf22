// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "messages/time.hpp"

namespace riffle {

/// Calls a function after a delay. For adapters that are no actors (actors
/// use CAF's clock). Thread-safe; jobs are short and must not throw.
class timer {
 public:
  virtual ~timer() = default;
  virtual void after(duration delay, std::function<void()> job) = 0;
};

/// One thread for all delays; it starts with the first one. The destructor
/// drops jobs that are not due.
class thread_timer final : public timer {
 public:
  thread_timer() = default;
  ~thread_timer() override;
  thread_timer(const thread_timer&) = delete;
  thread_timer& operator=(const thread_timer&) = delete;

  void after(duration delay, std::function<void()> job) override;

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::multimap<time_point, std::function<void()>> jobs_;
  std::thread thread_;
  bool stopping_ = false;
};

}  // namespace riffle
