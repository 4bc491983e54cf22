// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <shared_mutex>
#include <span>
#include <string_view>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

namespace riffle {

/// Makes CAF schedule by a policy of ours: one queue that all workers share,
/// and for each worker a short line of its own for the actors that were woken
/// by the actor it runs just now. A chunk of an answer passes several actors
/// one after the other; so they run one after the other on one worker, and no
/// second thread is woken and put to sleep again for each of them. (The "next
/// task" slot of the schedulers of Go and Tokio, for the same reason.)
///
/// Bounds: a few actors wait in a worker's line, and after some turns in a row
/// the rest goes to the shared queue, so that actors that keep each other busy
/// delay nobody. The scheduler's clock is a `coalescing_clock`.
void use_lifo_slot(caf::actor_system_config& config);

/// Whose thread runs actors.
enum class lender {
  awaited,  ///< others wait for it: it reads sockets, or stores what happened
  begins,   ///< its own call does: it is about to run a tool
  spare,    ///< nobody does: it has run a tool
};

/// Lets a thread that is not the scheduler's run the actors that it wakes.
/// The thread that reads sockets hands over a few bytes and sleeps again; the
/// actors behind it have a few microseconds of work. To wake a worker for that
/// costs more than the work, so the reader does it. So does a thread of the
/// blocking executor that has run a tool, with what its result wakes.
///
/// Bounds: after some turns in a row, and after 5 ms (1 ms of one that begins
/// a call), the rest goes to the workers. A round that took long (a handler of
/// the application that is slow) keeps threads that others wait for from
/// helping for a while. Those of tools go on, unless a single actor kept one
/// (and not those who took its core): then others of its line waited.
/// Thread-safe: each thread that calls it runs what it woke itself.
class inline_run {
 public:
  /// From now on actors of this system run; it uses the policy above. Before
  /// that, and after `close`, the work alone is done.
  void open(caf::actor_system& system);

  /// Calls `work`, then runs the actors that messages of `work` woke. `only`:
  /// those of these names, the rest goes to the workers; none: all.
  void run(const std::function<void()>& work,
           std::span<const std::string_view> only = {},
           lender whose = lender::awaited);

  /// Waits for rounds that are on their way; later ones only call `work`. Call
  /// it before the system ends, not from an actor.
  void close();

 private:
  std::shared_mutex mutex_;  ///< shared by those who run actors
  caf::actor_system* system_ = nullptr;
  std::atomic<std::chrono::steady_clock::time_point> rest_until_{};
  std::atomic<std::chrono::steady_clock::time_point> spare_rest_until_{};
};

}  // namespace riffle
