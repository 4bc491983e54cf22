// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <caf/detail/thread_safe_actor_clock.hpp>

static_assert(CAF_VERSION >= 1706 && CAF_VERSION < 1800,
              "the clock was written for CAF 0.17.6: see lifo_slot.cpp");

namespace riffle {

/// CAF's clock wakes its thread whenever a timer is set or cancelled, and when
/// an actor ends: two context switches each time, and a turn of a model sets
/// several timers of which next to none is ever due. This one keeps the
/// schedule under a lock and wakes its thread only for a timer that is due
/// before the thread would wake by itself.
///
/// A timer is never early, and late only by what its thread's wake-up costs.
class coalescing_clock final : public caf::detail::thread_safe_actor_clock {
 public:
  using time_point = caf::actor_clock::time_point;

  coalescing_clock() = default;
  ~coalescing_clock() override;
  coalescing_clock(const coalescing_clock&) = delete;
  coalescing_clock& operator=(const coalescing_clock&) = delete;

  /// Starts the thread.
  void start(caf::actor_system& system);
  /// Ends it. What is scheduled then is never sent, and dropped.
  void stop();

  void set_ordinary_timeout(time_point at, caf::abstract_actor* self,
                            caf::atom_value type, std::uint64_t id) override;
  void set_request_timeout(time_point at, caf::abstract_actor* self,
                           caf::message_id id) override;
  void set_multi_timeout(time_point at, caf::abstract_actor* self,
                         caf::atom_value type, std::uint64_t id) override;
  void cancel_ordinary_timeout(caf::abstract_actor* self,
                               caf::atom_value type) override;
  void cancel_request_timeout(caf::abstract_actor* self,
                              caf::message_id id) override;
  void cancel_timeouts(caf::abstract_actor* self) override;
  void schedule_message(time_point at, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override;
  void schedule_message(time_point at, caf::group target,
                        caf::strong_actor_ptr sender,
                        caf::message content) override;
  void cancel_all() override;

 private:
  /// The schedule itself, without a thread.
  using plain = caf::detail::simple_actor_clock;

  template <class F>
  void change(F f);
  void work();
  std::vector<unique_delayed_event_ptr> take_due();

  /// An actor that goes with its last timer cancels the others.
  std::recursive_mutex mutex_;
  std::condition_variable_any wake_;
  time_point wakes_at_ = time_point::max();  ///< when the thread does by itself
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace riffle
