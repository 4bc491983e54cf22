// SPDX-License-Identifier: MIT
#include "runtime/storage/commit_queue.hpp"

#include <algorithm>
#include <future>
#include <pthread.h>
#include <utility>

#include "runtime/storage/unit_check.hpp"

namespace riffle::storage {

commit_queue::commit_queue(limits most, store_group store,
                           std::function<void()> afterwards)
    : limits_{most},
      store_{std::move(store)},
      afterwards_{std::move(afterwards)},
      thread_{[this] { work(); }} {}

commit_queue::~commit_queue() {
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void commit_queue::append(commit_unit unit, completion done) {
  const auto bytes = weight(unit);
  push(queued_unit{std::move(unit), std::move(done)}, bytes);
}

void commit_queue::complete_within(around f) {
  auto shared = f ? std::make_shared<const around>(std::move(f)) : nullptr;
  const std::lock_guard lock{mutex_};
  around_ = std::move(shared);
}

std::optional<error> commit_queue::run(std::function<void()> call) {
  if (std::this_thread::get_id() == thread_.get_id()) {
    if (in_job_)
      return error{errc::internal,
                   "storage",
                   "a job must not wait for the journal",
                   false,
                   {}};
    std::packaged_task<void()> task{std::move(call)};
    auto answer = task.get_future();
    bool over = false;
    push(job{[&] {
           task();
           over = true;
         }},
         0);
    {
      guard lock{mutex_};
      while (!over) step(lock);
    }
    answer.get();
    return std::nullopt;
  }
  std::packaged_task<void()> task{std::move(call)};
  auto answer = task.get_future();
  push(job{[&task] { task(); }}, 0);
  answer.get();
  return std::nullopt;
}

queue_counts commit_queue::counts() const {
  std::lock_guard lock{mutex_};
  return counts_;
}

void commit_queue::push(entry x, std::size_t bytes) {
  bool wake = false;
  {
    std::lock_guard lock{mutex_};
    const bool is_unit = std::holds_alternative<queued_unit>(x);
    ++(is_unit ? counts_.waiting_units : jobs_);
    counts_.waiting_bytes += bytes;
    counts_.most_waiting_bytes =
        std::max(counts_.most_waiting_bytes, counts_.waiting_bytes);
    entries_.emplace_back(std::move(x), bytes);
    wake = std::exchange(idle_, false) || (gathering_ && !is_unit);
  }
  // A wake-up is a system call: only for a thread that sleeps.
  if (wake) wake_.notify_one();
}

void commit_queue::work() {
  ::pthread_setname_np(::pthread_self(), "riffle.journal");
  guard lock{mutex_};
  while (await(lock)) {
    step(lock);
    complete(lock);
  }
}

/// Waits for an entry; false: there will be none.
bool commit_queue::await(guard& lock) {
  if (const auto pause = gatherer_.wait(); pause > duration{}) {
    // Of those who append, nobody has to wake this thread.
    gathering_ = true;
    wake_.wait_for(lock, limits_.pause.value_or(pause),
                   [this] { return jobs_ != 0 || stopping_; });
    gathering_ = false;
  }
  while (entries_.empty() && !stopping_) {
    idle_ = true;
    wake_.wait(lock);
  }
  return !entries_.empty();
}

/// Takes a job or a group off the front.
void commit_queue::step(guard& lock) {
  if (auto* x = std::get_if<job>(&entries_.front().first)) {
    auto call = std::move(x->call);
    entries_.pop_front();
    --jobs_;
    lock.unlock();
    in_job_ = true;
    call();
    in_job_ = false;
  } else {
    auto group = take_group();
    lock.unlock();
    store(std::move(group));
  }
  lock.lock();
}

/// The units in front, up to the limits or the first job.
std::vector<queued_unit> commit_queue::take_group() {
  std::vector<queued_unit> group;
  std::size_t bytes = 0;
  while (!entries_.empty() && group.size() < limits_.units &&
         bytes < limits_.bytes) {
    auto* unit = std::get_if<queued_unit>(&entries_.front().first);
    if (unit == nullptr) break;
    group.push_back(std::move(*unit));
    bytes += entries_.front().second;
    entries_.pop_front();
  }
  counts_.waiting_units -= group.size();
  counts_.waiting_bytes -= bytes;
  return group;
}

void commit_queue::store(std::vector<queued_unit> group) {
  auto result = store_(group);
  auto& failures = result.failures;
  const auto failed = static_cast<std::size_t>(std::ranges::count_if(
      failures, [](const auto& x) { return x.has_value(); }));
  {
    std::lock_guard lock{mutex_};
    ++counts_.commits;
    counts_.units += group.size() - failed;
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto& [run, block, changes] = group[i].unit;
    gatherer_.on_unit(run.value, block ? block->last_seq - block->first_seq + 1
                                       : changes.size());
    ended_.push_back({std::move(group[i].done), failures.empty()
                                                    ? std::nullopt
                                                    : std::move(failures[i])});
  }
  gatherer_.on_commit(std::chrono::steady_clock::now());
}

/// A completion may call `run`, which adds to what has ended.
void commit_queue::complete(guard& lock) {
  if (ended_.empty()) return;
  const auto around_them = around_;
  lock.unlock();
  const auto call_all = [this] {
    while (!ended_.empty()) {
      auto x = std::move(ended_.front());
      ended_.pop_front();
      x.done(std::move(x.failure));
    }
  };
  if (around_them)
    (*around_them)(call_all);
  else
    call_all();
  if (afterwards_) afterwards_();
  lock.lock();
}

}  // namespace riffle::storage
