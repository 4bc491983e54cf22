// SPDX-License-Identifier: MIT
#include "runtime/scheduler/lifo_slot.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <mutex>
#include <semaphore.h>
#include <shared_mutex>
#include <sys/resource.h>
#include <time.h>
#include <utility>
#include <vector>

#include <caf/logger.hpp>

// CAF's worker tells CAF's logger, which nobody listens to, the id of each
// actor that it resumes: a dynamic_cast and two locks, a sixth of all that a
// chunk costs. This file's worker does not.
#undef CAF_PUSH_AID_FROM_PTR
#define CAF_PUSH_AID_FROM_PTR(unused) static_cast<void>(0)

#include <caf/execution_unit.hpp>
#include <caf/policy/unprofiled.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/scheduler/coordinator.hpp>

#include "runtime/scheduler/coalescing_clock.hpp"

// What stands here and in coalescing_clock.cpp is written against parts of CAF
// that are not its public interface; `runtime.scheduler = "caf"` does without.
static_assert(CAF_VERSION >= 1706 && CAF_VERSION < 1800,
              "the scheduler was written for CAF 0.17.6: read its changes, or "
              "make runtime.scheduler = \"caf\" the default");

namespace riffle {

namespace {

using clock = std::chrono::steady_clock;

/// How often this thread lost its core to others although it had work.
long preemptions() {
  struct rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_nivcsw;
}

/// That this thread has used.
std::chrono::nanoseconds cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} +
         std::chrono::nanoseconds{used.tv_nsec};
}

/// What a lent thread has to run, and where actors that run on it send others.
class run_queue final : public caf::execution_unit {
 public:
  static constexpr std::size_t limit = 256;

  run_queue(caf::actor_system& system, std::span<const std::string_view> only)
      : caf::execution_unit{&system},
        only_{only},
        outer_{std::exchange(current(), this)} {}
  ~run_queue() override {
    current() = outer_;
    // Actors leave CAF's logger with the thread; a system waits for its end.
    caf::logger::set_current_actor_system(nullptr);
  }
  run_queue(const run_queue&) = delete;
  run_queue& operator=(const run_queue&) = delete;

  /// Of this thread, null if it is not lent.
  static run_queue*& current() {
    thread_local run_queue* mine = nullptr;
    return mine;
  }

  bool take_over(const caf::actor_system& where, caf::resumable* job) {
    if (&where != &system() || jobs_.size() >= limit || !may_run(*job))
      return false;
    jobs_.push_back(job);
    return true;
  }

  void exec_later(caf::resumable* job) override {
    if (!take_over(system(), job)) hand_over(job);
  }

  struct pace {
    clock::time_point end;    ///< of the round
    clock::duration longest;  ///< that one actor had the thread
  };

  /// Runs what is there; what is left after `most` goes to the workers.
  pace run(clock::time_point begin, clock::duration most) {
    constexpr std::size_t messages = 64;  // of one actor in one turn
    pace out{begin, {}};
    for (std::size_t turns = 0; !jobs_.empty(); ++turns) {
      auto* job = jobs_.front();
      jobs_.pop_front();
      if (turns >= limit || out.end - begin > most) {
        hand_over(job);
        continue;
      }
      if (job->resume(this, messages) == caf::resumable::resume_later)
        hand_over(job);
      else
        caf::intrusive_ptr_release(job);
      const auto now = clock::now();
      out.longest = std::max(out.longest, now - std::exchange(out.end, now));
    }
    return out;
  }

 private:
  [[nodiscard]] bool may_run(const caf::resumable& job) const {
    if (only_.empty()) return true;
    if (job.subtype() != caf::resumable::scheduled_actor) return false;
    const std::string_view name =
        static_cast<const caf::scheduled_actor&>(job).name();
    return std::ranges::find(only_, name) != only_.end();
  }

  /// To the workers.
  void hand_over(caf::resumable* job) {
    current() = nullptr;
    system().scheduler().enqueue(job);
    current() = this;
  }

  std::deque<caf::resumable*> jobs_;
  const std::span<const std::string_view> only_;
  run_queue* outer_;
};

/// See the header.
class lifo_slot : public caf::policy::unprofiled {
 public:
  static constexpr std::size_t line_limit = 4;
  static constexpr std::size_t turn_limit = 32;

  /// Where a worker sleeps. A semaphore of POSIX: who posts may still be at it
  /// when the worker, and with it the semaphore, has ended, and no lock is
  /// taken again on waking, which glibc's condition variables pay for with a
  /// system call.
  class parker {
   public:
    parker() { ::sem_init(&awake_, 0, 0); }
    ~parker() { ::sem_destroy(&awake_); }
    parker(const parker&) = delete;
    parker& operator=(const parker&) = delete;

    void sleep() {
      while (::sem_wait(&awake_) != 0) {
      }
    }
    void wake() { ::sem_post(&awake_); }

   private:
    ::sem_t awake_{};
  };

  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}
    std::mutex mutex;
    std::deque<caf::resumable*> queue;
    /// Workers that sleep; the last one is woken first: its caches are warm.
    std::vector<parker*> asleep;
  };

  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
    /// CAF makes each worker's data as a copy of its model: a new parker.
    worker_data(const worker_data&) {}
    worker_data& operator=(const worker_data&) = delete;
    std::deque<caf::resumable*> line;  // touched by its worker only
    std::size_t turns = 0;             // taken from the line in a row
    parker own_parker;
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    auto* lent = run_queue::current();
    if (lent != nullptr && lent->take_over(self->system(), job)) return;
    auto& shared = d(self);
    parker* sleeper = nullptr;
    {
      std::lock_guard lock{shared.mutex};
      shared.queue.push_back(job);
      if (shared.asleep.empty()) return;
      sleeper = shared.asleep.back();
      shared.asleep.pop_back();
    }
    sleeper->wake();
  }

  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }

  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    auto& own = d(self);
    if (own.line.size() < line_limit && own.turns < turn_limit)
      own.line.push_back(job);
    else
      central_enqueue(self->parent(), job);
  }

  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }

  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    auto& own = d(self);
    if (!own.line.empty()) {
      ++own.turns;
      return take(own.line);
    }
    own.turns = 0;
    auto& shared = d(self->parent());
    std::unique_lock lock{shared.mutex};
    while (shared.queue.empty()) {
      shared.asleep.push_back(&own.own_parker);
      lock.unlock();
      own.own_parker.sleep();
      lock.lock();
    }
    return take(shared.queue);
  }

  template <class Worker, class F>
  void foreach_resumable(Worker* self, F f) {
    while (!d(self).line.empty()) f(take(d(self).line));
  }

  template <class Coordinator, class F>
  void foreach_central_resumable(Coordinator* self, F f) {
    auto& shared = d(self);
    std::unique_lock lock{shared.mutex};
    while (!shared.queue.empty()) f(take(shared.queue));
  }

 private:
  static caf::resumable* take(std::deque<caf::resumable*>& from) {
    auto* job = from.front();
    from.pop_front();
    return job;
  }
};

/// CAF's coordinator with the clock of ours; CAF's own idles.
class coordinator final : public caf::scheduler::coordinator<lifo_slot> {
 public:
  using base = caf::scheduler::coordinator<lifo_slot>;
  using base::base;

  static caf::actor_system::module* make(caf::actor_system& system,
                                         caf::detail::type_list<>) {
    return new coordinator(system);
  }

  coalescing_clock& clock() noexcept override { return clock_; }

 protected:
  void start() override {
    clock_.start(system());
    base::start();
  }
  void stop() override {
    base::stop();
    clock_.stop();
  }

 private:
  coalescing_clock clock_;
};

}  // namespace

void inline_run::run(const std::function<void()>& work,
                     std::span<const std::string_view> only, lender whose) {
  constexpr auto long_time = std::chrono::milliseconds{5};
  constexpr auto rest = std::chrono::milliseconds{200};
  const bool spare = whose != lender::awaited;
  const clock::duration most =
      whose == lender::begins ? std::chrono::milliseconds{1} : long_time;
  auto& rest_until = spare ? spare_rest_until_ : rest_until_;
  std::shared_lock lock{mutex_};
  if (system_ == nullptr || clock::now() < rest_until.load()) {
    lock.unlock();
    return work();
  }
  run_queue line{*system_, only};
  work();
  const auto before = spare ? preemptions() : 0;
  const auto used = spare ? cpu_time() : clock::duration{};
  const auto begin = clock::now();
  const auto pace = line.run(begin, most);
  // The turns before the longest one had `most` in all.
  const bool slow =
      spare ? pace.longest > long_time && (preemptions() == before ||
                                           cpu_time() - used > long_time + most)
            : pace.end - begin > long_time;
  if (slow) rest_until = pace.end + rest;
}

void inline_run::open(caf::actor_system& system) {
  const std::lock_guard lock{mutex_};
  system_ = &system;
}

void inline_run::close() {
  const std::lock_guard lock{mutex_};
  system_ = nullptr;
}

void use_lifo_slot(caf::actor_system_config& config) {
  config.load<coordinator>();
}

}  // namespace riffle
