// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <list>
#include <random>
#include <unordered_map>
#include <vector>

#include "actors/core/circuit_breaker.hpp"
#include "actors/core/dispatch_queue.hpp"
#include "actors/interfaces.hpp"
#include "actors/tools/tool_worker.hpp"
#include "runtime/base/fair_queue.hpp"

namespace riffle {

/// Spawns a worker, monitored by the pool.
using worker_spawner =
    std::function<tool_worker_actor(tool_pool_actor::pointer pool)>;

/// Told of a tool that goes out of service and why, and with an empty `why`
/// when it is back. Called by its pool: returns at once.
using health_listener =
    std::function<void(const std::string& tool, const std::string& why)>;

/// What bounds a pool.
struct pool_limits {
  std::size_t concurrency = 1;  ///< workers
  core::circuit_breaker::limits service;
  /// A stopped call that still runs after this counts as abandoned, and its
  /// place is given to another worker.
  duration abandon_after = core::dispatch_limits{}.abandon_after;
  health_listener on_service;  ///< may be empty
  fault_hook faults;           ///< of tests
};

/// If the pool itself dies, its workers stop what they do, and the registry
/// puts another pool in its place.
/// Workers start when calls wait for one, and stay; they get calls once they
/// have offered to run this tool, as many at once as they say. A worker that
/// dies is replaced after a back-off (one for one; an end without an error is
/// none: "transient", as in OTP); its calls go back to their dispatchers, who
/// decide about a repetition. A tool whose breaker is open has no queue: its
/// calls settle at once as `tool_unavailable`.
struct tool_pool_state {
  static inline const char* name = "tool_pool";
  explicit tool_pool_state(tool_pool_actor::pointer me) : self{me} {}
  ~tool_pool_state();
  tool_pool_state(const tool_pool_state&) = delete;
  tool_pool_state& operator=(const tool_pool_state&) = delete;

  /// A call on its way to a worker.
  struct queued_call {
    work::assignment what;
    work_listeners who;
  };
  /// One that a worker has.
  struct running_call {
    call_id id;
    std::uint32_t attempt = 0;
    run_id run;
    work_listeners who;
    bool trial = false;                      ///< it decides about the tool
    std::optional<time_point> stopped_at{};  ///< it was asked to stop
    bool abandoned = false;                  ///< it did not obey
  };
  struct worker {
    tool_worker_actor actor;
    std::size_t places = 0;  ///< as it offered; none before
    std::vector<running_call> calls{};

    /// Whether another worker has its place.
    [[nodiscard]] bool abandoned() const {
      return std::ranges::any_of(calls, &running_call::abandoned);
    }
  };

  void on(const work::offer& x);
  void on(work::assignment& x, work_listeners& who);
  void on(const work::stop& x);
  void on(const work::freed& x);
  void on(const caf::down_msg& x);
  void on(place_rested&) {
    if (resting > 0) --resting;
    assign();
  }
  void on(tick&);
  void on(const abandon_run& x);
  void on(close_pool& x);
  void turn_away(const queued_call& x);
  void end_if_done();
  void assign();
  bool give_next_to(worker& free);
  worker* find_free();
  void start_workers();
  void refuse(const error& why);
  void on_end_of(const running_call& x);
  void stop(const worker& w, running_call& x);
  void settle(const queued_call& x, outcome how, error why);
  void tell_service();
  [[nodiscard]] time_point now() const { return self->clock().now(); }

  tool_pool_actor::pointer self;
  std::string tool;
  pool_limits limits;
  worker_spawner spawn_worker;
  std::optional<core::circuit_breaker> service;
  bool told_closed = true;
  std::mt19937_64 random{std::random_device{}()};
  fair_queue<queued_call> queue;  ///< bounded by what the runs may have open
  /// Where in it a call is.
  std::unordered_map<call_id, std::pair<queue_ticket, std::uint64_t>> queued;
  std::list<worker> workers;
  std::size_t resting = 0;  ///< places whose new worker waits for its back-off
  std::optional<std::string> closed{};  ///< why nothing begins any more
  bool held = false;                    ///< nothing begins for now
};

tool_pool_actor::behavior_type tool_pool(
    tool_pool_actor::stateful_pointer<tool_pool_state> self, std::string tool,
    pool_limits limits, worker_spawner spawn_worker);

}  // namespace riffle
