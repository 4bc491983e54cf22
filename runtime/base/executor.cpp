// SPDX-License-Identifier: MIT
#include "runtime/base/executor.hpp"

#include <utility>

namespace riffle {

thread_lane::thread_lane(std::size_t max_threads)
  : max_threads_{max_threads == 0 ? 1 : max_threads} {}

thread_lane::~thread_lane() {
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
  for (auto& t : threads_) t.join();
}

void thread_lane::submit(job work) {
  std::lock_guard lock{mutex_};
  if (stopping_) return;
  jobs_.push_back(std::move(work));
  if (jobs_.size() > idle_ && threads_.size() < max_threads_)
    threads_.emplace_back([this] { this->work(); });
  wake_.notify_one();
}

void thread_lane::work() {
  std::unique_lock lock{mutex_};
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (stopping_) return;
    auto next = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    next();
    next = nullptr;
    lock.lock();
  }
}

}  // namespace riffle
