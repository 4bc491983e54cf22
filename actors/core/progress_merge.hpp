// SPDX-License-Identifier: MIT
#pragma once

// The order of a run's progress and settlements ("one order"): two sources
// race, the dispatcher (begun, settled) and the workers (progress); what comes
// out keeps each call's order and says nothing after its settlement.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/work.hpp"

namespace riffle::core {

/// The dispatcher's word that a call is settled.
struct settlement {
  call_id call;
  std::uint32_t attempt = 0;  ///< of the last attempt; 0: it never began
  /// Number of the last report that the worker sent (0: none). Nothing: the
  /// worker died, so nobody knows; then the settlement does not wait.
  std::optional<std::uint64_t> last_progress;
  std::uint64_t token = 0;  ///< the caller's handle of what to emit
};

/// Merges the sources of one run. Not thread safe.
///
/// Each source keeps its own order (mailbox semantics), so a number above the
/// last one seen is always next in order: a hole means that a report is lost
/// for ever, and is never waited for. A number that was seen is a duplicate.
///
/// Bounded: reports that overtake their `on_begun` are held, at most
/// `early_limit` for a call (then the newest wins and says how many it stands
/// for) and for at most `early_calls` calls; `settled_limit` settled calls are
/// remembered, which makes `dropped` exact and a second settlement harmless.
class progress_merge {
 public:
  static constexpr std::size_t early_limit = 64;
  static constexpr std::size_t early_calls = 256;
  static constexpr std::size_t settled_limit = 4096;

  /// What to emit now: all of `progress` in order, then `settled` (tokens).
  struct out {
    std::vector<events::tool_progress> progress;
    std::vector<std::uint64_t> settled;

    bool operator==(const out&) const = default;
  };

  /// A later begin of the same call is its next attempt: reports of older ones
  /// are dropped from here on. Reports that overtook this begin leave with
  /// `take_ready`, or else with the next `out`.
  void on_begun(const call_id& call, std::uint32_t attempt);

  /// Reports that an `on_begun` made ready. For the caller that has just
  /// emitted the begin and does not want them to wait for the next message.
  out take_ready();

  out on_progress(work::progress x);

  /// Emits the settlement, or holds it until the report with the number
  /// `last_progress` came. A second settlement of a call is ignored.
  out on_settled(settlement x);

  /// Gives up waiting (time limit): emits a settlement that is held for this
  /// call. Without one it does nothing.
  out on_give_up(const call_id& call);

  /// Late, foreign, duplicate and superseded reports that were not emitted.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

  /// Calls that began and whose settlement was not yet emitted.
  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }

 private:
  struct open_call {
    std::uint32_t attempt = 0;
    std::uint64_t seen = 0;  ///< highest number of this attempt
    std::optional<settlement> held;
  };
  using early_list = std::deque<work::progress>;

  void begin(const call_id& call, std::uint32_t attempt);
  void hold_early(work::progress x);
  void drop_early(const call_id& call);
  void emit(open_call& state, work::progress x, out& result);
  void settle(const call_id& call, std::uint64_t token, out& result);
  [[nodiscard]] static bool complete(const open_call& state);

  std::unordered_map<call_id, open_call> open_;
  std::unordered_map<call_id, early_list> early_;
  std::deque<call_id> early_order_;  ///< keys of `early_`, oldest first
  std::unordered_set<call_id> settled_;
  std::deque<call_id> settled_order_;
  out ready_;
  std::uint64_t dropped_ = 0;
};

}  // namespace riffle::core
