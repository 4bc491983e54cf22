// SPDX-License-Identifier: MIT
#include "runtime/node/local_first.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include <caf/logger.hpp>

// CAF's worker tells CAF's logger, which nobody listens to, the id of each
// actor that it resumes: a dynamic_cast and two locks, a sixth of all that a
// chunk costs. This file's worker does not.
#undef CAF_PUSH_AID_FROM_PTR
#define CAF_PUSH_AID_FROM_PTR(unused) static_cast<void>(0)

#include <caf/policy/unprofiled.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/coordinator.hpp>

namespace riffle {

namespace {

/// See the header.
class local_first : public caf::policy::unprofiled {
 public:
  static constexpr std::size_t line_limit = 4;
  static constexpr std::size_t turn_limit = 32;

  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}
    std::mutex mutex;
    /// Also held by who is waking a worker: the one that sends the last message
    /// may still do so when the system that it ended is taken down.
    std::shared_ptr<std::condition_variable> work =
        std::make_shared<std::condition_variable>();
    std::deque<caf::resumable*> queue;
    std::size_t idle = 0;  ///< workers that wait and were not woken yet
  };

  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
    std::deque<caf::resumable*> line;  // touched by its worker only
    std::size_t turns = 0;             // taken from the line in a row
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    std::shared_ptr<std::condition_variable> work;
    {
      auto& shared = d(self);
      std::lock_guard lock{shared.mutex};
      shared.queue.push_back(job);
      if (shared.idle == 0) return;
      --shared.idle;
      work = shared.work;
    }
    work->notify_one();
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
      ++shared.idle;
      shared.work->wait(lock);
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

}  // namespace

void use_local_first(caf::actor_system_config& config) {
  config.load<caf::scheduler::coordinator<local_first>>();
}

}  // namespace riffle
