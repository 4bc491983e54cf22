// SPDX-License-Identifier: MIT
#include "runtime/base/executor.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/job_tail.hpp"

namespace riffle {

namespace {

/// What a thread knows of the executor that it is of.
struct own_thread {
  void* executor = nullptr;
  void (*call_another)(void*) = nullptr;
  bool in_tail = false;  ///< its job is about to end, see `job_tail`
};
thread_local own_thread here;

}  // namespace

job_tail::job_tail() noexcept : outer_{std::exchange(here.in_tail, true)} {}

job_tail::~job_tail() { here.in_tail = outer_; }

void end_job_tail() {
  if (std::exchange(here.in_tail, false) && here.executor != nullptr)
    here.call_another(here.executor);
}

/// Outlives the blocking executor as long as an abandoned thread uses it.
struct blocking_executor::shared {
  struct task {
    job begun;
    job work;
    std::string group;
  };

  shared(std::size_t max, std::size_t most)
      : max_threads{max == 0 ? 1 : max},
        most_of_group{most == 0 ? max_threads : most} {}

  void work();
  std::optional<task> next_task(std::unique_lock<std::mutex>& lock);
  bool calls_one();
  void call_another();

  const std::size_t max_threads;
  const std::size_t most_of_group;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable ended;
  fair_queue<task> jobs;
  std::vector<std::thread> threads;
  std::size_t idle = 0;
  std::size_t called = 0;  ///< of those idle, that are being woken
  std::size_t alive = 0;
  bool stopping = false;
  bool abandoned = false;
};

/// True: somebody is to be woken. One at a time: who wakes up calls the next
/// one if jobs are left, so a thousand short jobs that a few threads do in
/// passing wake a few threads, not a thousand.
bool blocking_executor::shared::calls_one() {
  if (jobs.empty() || called > 0 || idle == 0) return false;
  ++called;
  return true;
}

std::optional<blocking_executor::shared::task>
blocking_executor::shared::next_task(std::unique_lock<std::mutex>& lock) {
  while (!stopping) {
    auto next = jobs.pop(std::chrono::steady_clock::now(), most_of_group);
    if (next) return next;
    ++idle;
    wake.wait(lock);
    --idle;
    // Woken for no reason, it takes a call that was another's: then one more
    // is called, none too few.
    if (called > 0) --called;
  }
  return {};
}

void blocking_executor::shared::call_another() {
  std::unique_lock lock{mutex};
  const bool calls = calls_one();
  lock.unlock();
  if (calls) wake.notify_one();
}

void blocking_executor::shared::work() {
  ::pthread_setname_np(::pthread_self(), "riffle.blocking");
  here = {this, [](void* mine) { static_cast<shared*>(mine)->call_another(); }};
  std::unique_lock lock{mutex};
  while (auto next = next_task(lock)) {
    const bool calls = calls_one();
    lock.unlock();
    if (calls) wake.notify_one();
    if (next->begun) next->begun();
    next->work();
    next->begun = next->work = nullptr;
    lock.lock();
    // It takes itself what this one may have kept of its group.
    jobs.release(next->group);
  }
  --alive;
  ended.notify_all();
}

blocking_executor::blocking_executor(std::size_t max_threads,
                                     std::size_t most_of_group)
    : state_{std::make_shared<shared>(max_threads, most_of_group)} {}

blocking_executor::~blocking_executor() { close(duration::max()); }

void blocking_executor::submit(job work, queue_ticket who, job begun) {
  auto& s = *state_;
  std::unique_lock lock{s.mutex};
  if (s.stopping) return;
  const auto place = s.jobs.push({std::move(begun), std::move(work), who.group},
                                 who, std::chrono::steady_clock::now());
  // This thread comes back in a moment, and takes one itself.
  const std::size_t own = here.in_tail && here.executor == &s ? 1 : 0;
  if (s.jobs.size() > s.idle + own && s.threads.size() < s.max_threads) {
    try {
      s.threads.emplace_back([keep = state_] { keep->work(); });
      ++s.alive;     // it begins when the mutex is free
    } catch (...) {  // the system has no thread: others take the job, or none
      if (s.threads.empty()) {
        static_cast<void>(s.jobs.take(who, place));
        throw;
      }
    }
  }
  const bool calls = s.jobs.size() > own && s.calls_one();
  lock.unlock();
  if (calls) s.wake.notify_one();
}

bool blocking_executor::close(duration limit) {
  auto& s = *state_;
  std::unique_lock lock{s.mutex};
  s.stopping = true;
  s.wake.notify_all();
  {
    const auto dropped = s.jobs.drain();
    lock.unlock();  // what goes with a job may call out
  }
  lock.lock();
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
