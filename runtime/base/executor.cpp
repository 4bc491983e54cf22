// SPDX-License-Identifier: MIT
#include "runtime/base/executor.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace riffle {

/// Outlives the lane as long as an abandoned thread uses it.
struct thread_lane::shared {
  explicit shared(std::size_t max) : max_threads{max == 0 ? 1 : max} {}

  void work();

  const std::size_t max_threads;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable ended;
  struct task {
    job begun;
    job work;
    std::string group;
  };
  fair_queue<task> jobs;
  std::vector<std::thread> threads;
  std::size_t idle = 0;
  std::size_t alive = 0;
  bool stopping = false;
  bool abandoned = false;
};

void thread_lane::shared::work() {
  std::unique_lock lock{mutex};
  for (;;) {
    ++idle;
    wake.wait(lock, [this] { return stopping || !jobs.empty(); });
    --idle;
    if (stopping) break;
    auto next = std::move(*jobs.pop(std::chrono::steady_clock::now()));
    lock.unlock();
    if (next.begun) next.begun();
    next.work();
    next.begun = next.work = nullptr;
    lock.lock();
    jobs.release(next.group);
  }
  --alive;
  ended.notify_all();
}

thread_lane::thread_lane(std::size_t max_threads)
    : state_{std::make_shared<shared>(max_threads)} {}

thread_lane::~thread_lane() { close(duration::max()); }

void thread_lane::submit(job work, claim who, job begun) {
  auto& s = *state_;
  std::lock_guard lock{s.mutex};
  if (s.stopping) return;
  auto group = who.group;
  s.jobs.push({std::move(begun), std::move(work), std::move(group)},
              std::move(who), std::chrono::steady_clock::now());
  if (s.jobs.size() > s.idle && s.threads.size() < s.max_threads) {
    ++s.alive;
    s.threads.emplace_back([keep = state_] { keep->work(); });
  }
  s.wake.notify_one();
}

bool thread_lane::close(duration limit) {
  auto& s = *state_;
  std::unique_lock lock{s.mutex};
  s.stopping = true;
  static_cast<void>(s.jobs.drain());
  s.wake.notify_all();
  const auto all_ended = [&s] { return s.alive == 0 || s.abandoned; };
  if (limit == duration::max())
    s.ended.wait(lock, all_ended);
  else
    s.ended.wait_for(lock, limit, all_ended);
  const bool clean = s.alive == 0;
  auto threads = std::exchange(s.threads, {});
  if (!clean) s.abandoned = true;  // nobody waits for them again
  lock.unlock();
  for (auto& t : threads) clean ? t.join() : t.detach();
  return clean;
}

}  // namespace riffle
