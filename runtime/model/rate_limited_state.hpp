// SPDX-License-Identifier: MIT
#pragma once

// What a rate-limited transport shares with the transfers that it has begun,
// whose threads may hold the last reference: it does not own the inner one.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/model/rate_limited_transport.hpp"

namespace riffle::model {

using listener_ptr = std::shared_ptr<transfer_listener>;

/// A transfer from `open` to its end.
struct limited_transfer {
  enum class phase : std::uint8_t {
    waiting,   ///< has its request
    starting,  ///< `inner` is being asked
    open,      ///< has a number at `inner`
  };

  phase at = phase::waiting;
  transport_request request;
  listener_ptr listener;
  duration wait{};
  bool held = false;   ///< its listener was told so
  time_point begun{};  ///< when it was started
  transfer_id inner = 0;
  std::size_t granted = 0;  ///< while starting
  bool cancelled = false;   ///< while starting
};

/// An end that nobody but the limited transport tells of.
struct limited_end {
  listener_ptr listener;
  transport_end how;
};

/// Starts and ends what is due. On the timer's thread.
class limited_work {
 public:
  virtual ~limited_work() = default;
  virtual void work() = 0;
};

struct limited_state {
  limited_state(transport_limits x, timer& t, time_source n,
                capacity_listener told)
      : limits{x},
        clock{t},
        now{std::move(n)},
        on_capacity{std::move(told)},
        gate{x} {}

  const transport_limits limits;
  timer& clock;
  const time_source now;
  const capacity_listener on_capacity;

  std::mutex mutex;  ///< of all below; never held while calling out
  rate_limiter gate;
  std::map<transfer_id, limited_transfer> transfers;
  std::vector<limited_end> endings;
  std::set<time_point> armed;  ///< wake-ups that are under way
  std::weak_ptr<limited_work> owner;
  /// That wait since it was told last what holds them back.
  std::vector<transfer_id> untold;
  /// As it was told last, and when.
  std::optional<time_point> held_until;
  std::optional<time_point> told_at;
  std::optional<time_point> tell_again;  ///< it has changed since

  std::mutex reporting;  ///< what is told is told in its order
  std::optional<std::uint32_t> reported;
};

using limited_state_ptr = std::shared_ptr<limited_state>;

/// Asks for a wake-up at the latest at `at`, unless there is one. With the
/// lock, which it gives back.
void wake_at(const limited_state_ptr& s, std::unique_lock<std::mutex> lock,
             time_point at);

/// Tells of the capacity, if it is another than before, and asks to be woken
/// when time alone changes it. Without the lock.
void report_capacity(const limited_state_ptr& s);

/// What those are to be told that the server's limits hold back. With the lock.
struct held_word {
  listener_ptr to;
  std::optional<duration> next;
};
std::vector<held_word> held_words(limited_state& s, time_point now);

/// Passes on what `inner` brings, lets the gate learn from it, and makes room
/// when it ends.
listener_ptr make_limited_relay(limited_state_ptr state, transfer_id id,
                                time_point begun, listener_ptr to);

}  // namespace riffle::model
