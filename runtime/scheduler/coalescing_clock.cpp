// SPDX-License-Identifier: MIT
#include "runtime/scheduler/coalescing_clock.hpp"

#include <pthread.h>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/logger.hpp>

namespace riffle {

coalescing_clock::~coalescing_clock() { stop(); }

void coalescing_clock::start(caf::actor_system& system) {
  thread_ = std::thread{[this, &system] {
    ::pthread_setname_np(::pthread_self(), "riffle.clock");
    CAF_SET_LOGGER_SYS(&system);
    system.thread_started();
    work();
    system.thread_terminates();
  }};
}

void coalescing_clock::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  // Actors that are held by their timers only go now: the system waits for the
  // threads of the detached ones.
  const std::lock_guard lock{mutex_};
  actor_lookup_.clear();
  const auto dropped = std::exchange(schedule_, {});
}

/// Changes the schedule; a thread that would sleep too long is woken.
template <class F>
void coalescing_clock::change(F f) {
  {
    const std::lock_guard lock{mutex_};
    f();
    if (schedule_.empty() || schedule_.begin()->first >= wakes_at_) return;
    wakes_at_ = schedule_.begin()->first;
  }
  wake_.notify_one();
}

void coalescing_clock::work() {
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    auto due = take_due();
    if (!due.empty()) {
      wakes_at_ = time_point::min();  // awake: it looks again by itself
      lock.unlock();
      for (auto& x : due) ship(*x);
      due.clear();
      lock.lock();
    } else if (schedule_.empty()) {
      wakes_at_ = time_point::max();
      wake_.wait(lock);
    } else {
      // A copy: others change `wakes_at_` while this thread sleeps.
      const auto until = wakes_at_ = schedule_.begin()->first;
      wake_.wait_until(lock, until);
    }
  }
}

std::vector<coalescing_clock::unique_delayed_event_ptr>
coalescing_clock::take_due() {
  std::vector<unique_delayed_event_ptr> due;
  const auto time = now();
  while (!schedule_.empty() && schedule_.begin()->first <= time) {
    const auto i = schedule_.begin();
    if (i->second->backlink != actor_lookup_.end())
      actor_lookup_.erase(i->second->backlink);
    due.push_back(std::move(i->second));
    schedule_.erase(i);
  }
  return due;
}

void coalescing_clock::set_ordinary_timeout(time_point at,
                                            caf::abstract_actor* self,
                                            caf::atom_value type,
                                            std::uint64_t id) {
  change([&] { plain::set_ordinary_timeout(at, self, type, id); });
}

void coalescing_clock::set_request_timeout(time_point at,
                                           caf::abstract_actor* self,
                                           caf::message_id id) {
  change([&] { plain::set_request_timeout(at, self, id); });
}

void coalescing_clock::set_multi_timeout(time_point at,
                                         caf::abstract_actor* self,
                                         caf::atom_value type,
                                         std::uint64_t id) {
  change([&] { plain::set_multi_timeout(at, self, type, id); });
}

void coalescing_clock::cancel_ordinary_timeout(caf::abstract_actor* self,
                                               caf::atom_value type) {
  change([&] { plain::cancel_ordinary_timeout(self, type); });
}

void coalescing_clock::cancel_request_timeout(caf::abstract_actor* self,
                                              caf::message_id id) {
  change([&] { plain::cancel_request_timeout(self, id); });
}

void coalescing_clock::cancel_timeouts(caf::abstract_actor* self) {
  change([&] { plain::cancel_timeouts(self); });
}

void coalescing_clock::schedule_message(time_point at,
                                        caf::strong_actor_ptr receiver,
                                        caf::mailbox_element_ptr content) {
  change([&] {
    plain::schedule_message(at, std::move(receiver), std::move(content));
  });
}

void coalescing_clock::schedule_message(time_point at, caf::group target,
                                        caf::strong_actor_ptr sender,
                                        caf::message content) {
  change([&] {
    plain::schedule_message(at, std::move(target), std::move(sender),
                            std::move(content));
  });
}

void coalescing_clock::cancel_all() {
  change([&] { plain::cancel_all(); });
}

}  // namespace riffle
