// SPDX-License-Identifier: MIT
#include "runtime/base/timer.hpp"

#include <algorithm>
#include <pthread.h>
#include <utility>

namespace riffle {

thread_timer::~thread_timer() {
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void thread_timer::after(duration delay, std::function<void()> job) {
  const auto now = std::chrono::steady_clock::now();
  const auto longest = time_point::max() - now;
  std::lock_guard lock{mutex_};
  jobs_.emplace(now + std::min(delay, longest), std::move(job));
  if (!thread_.joinable()) thread_ = std::thread{[this] { work(); }};
  wake_.notify_one();
}

void thread_timer::work() {
  ::pthread_setname_np(::pthread_self(), "riffle.timer");
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    if (jobs_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const auto due = jobs_.begin()->first;
    if (std::chrono::steady_clock::now() < due) {
      wake_.wait_until(lock, due);
      continue;
    }
    auto job = std::move(jobs_.begin()->second);
    jobs_.erase(jobs_.begin());
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace riffle
