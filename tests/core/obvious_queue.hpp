// SPDX-License-Identifier: MIT
#pragma once

// The dispatch queue in its obvious form: after every event it looks at all
// calls, and at all others for each. Slow, and right by inspection: what the
// real one does must be the same, effect by effect.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/dispatch_queue.hpp"

namespace riffle::testing {

class obvious_queue {
 public:
  obvious_queue() = default;
  explicit obvious_queue(core::dispatch_limits limits);
  core::dispatch_effects on_call(tool_call call, time_point now);
  core::dispatch_effects on_gate(bool safe, time_point now);
  core::dispatch_effects on_decision(const call_id& id, bool approved,
                                     std::string reason, time_point now,
                                     errc code = errc::approval_denied);
  core::dispatch_effects on_postponed(const call_id& id, time_point now);
  core::dispatch_effects on_edited(tool_call call, time_point now);

  void on_placed(const call_id& id, bool at_node) {
    if (auto* x = find(id)) x->at_node = at_node;
  }
  core::dispatch_effects on_intent_committed(const call_id& id,
                                             std::uint32_t attempt,
                                             time_point now);
  core::dispatch_effects on_started(const call_id& id, std::uint32_t attempt,
                                    time_point now);
  void on_progress(const call_id& id, std::uint32_t attempt, time_point now);
  core::dispatch_effects on_result(const call_id& id, std::uint32_t attempt,
                                   call_result result,
                                   std::optional<std::uint64_t> last_progress,
                                   time_point now);
  core::dispatch_effects on_worker_lost(const call_id& id,
                                        std::uint32_t attempt,
                                        std::string reason, time_point now);
  core::dispatch_effects on_malformed(const call_id& id, error why,
                                      time_point now);
  core::dispatch_effects on_cancel(const call_id& id, time_point now);
  core::dispatch_effects on_drain(core::drain_reason why, time_point now);
  void restore(std::vector<core::restored_call> open,
               std::vector<core::finished_read> finished);
  void on_next_step();

  core::dispatch_effects tick(time_point now);
  [[nodiscard]] std::optional<time_point> due() const;
  [[nodiscard]] std::size_t open() const noexcept { return open_; }
  [[nodiscard]] std::size_t abandoned() const noexcept;
  [[nodiscard]] std::uint64_t late() const noexcept { return late_; }

 private:
  enum class phase : std::uint8_t {
    waiting,
    approving,
    ready,
    committing,
    queued,
    running,
    stopping,
    withdrawing,  ///< as stopping, but it waits for its decision
    backoff,
    settled,
  };
  enum class hold : std::uint8_t {
    none,
    open_call,   ///< one that has yet to settle
    ended_call,  ///< one that is settled, but its work goes on
  };

  struct entry {
    tool_call call;
    phase at = phase::waiting;
    std::uint32_t attempt = 0;
    bool announced = false;
    bool approved = false;
    bool edited = false;          ///< by whom approved it
    bool asked = false;           ///< before a crash; not decided
    bool ahead = false;           ///< asked while an earlier writer was open
    bool postponed = false;       ///< it is not asked ahead
    bool outdated = false;        ///< an earlier one has acted since it was
    bool doubted = false;         ///< one has failed since it was approved
    bool again = false;           ///< asked after a consent that was void
    std::optional<error> denied;  ///< before a crash
    bool noted = false;           ///< stored as waiting
    bool working = false;         ///< a pool or worker has it
    bool at_node = false;         ///< on another machine
    outcome stop_as = outcome::cancelled;
    std::optional<error> stop_error;
    std::optional<error> unbegun_error;
    time_point queued_at{};
    time_point started_at{};
    time_point last_sign{};
    time_point stopping_since{};
    std::optional<time_point> blocked_since;
    time_point retry_at{};
  };

  entry* find(const call_id& id);
  [[nodiscard]] static bool ending(const entry& x) {
    return x.at == phase::settled || x.at == phase::stopping ||
           x.at == phase::withdrawing;
  }
  entry* current(const call_id& id, std::uint32_t attempt);
  [[nodiscard]] hold held_back(std::size_t position) const;
  [[nodiscard]] bool may_start(const entry& x) const;
  void start_what_can(core::dispatch_effects& out, time_point now);
  void consider(std::size_t position, core::dispatch_effects& out,
                time_point now);
  void ask(std::size_t position, core::dispatch_effects& out);
  [[nodiscard]] bool may_ask_ahead(std::size_t position) const;
  bool settle_if_cut(entry& x, core::dispatch_effects& out);
  void advance(entry& x, core::dispatch_effects& out, time_point now);
  void hand_over(entry& x, core::dispatch_effects& out, time_point now);
  void begin(entry& x, core::dispatch_effects& out, time_point now);
  void settle(entry& x, call_result result, core::dispatch_effects& out,
              std::optional<std::uint64_t> last_progress = {});
  void stop(entry& x, outcome how, error why, core::dispatch_effects& out,
            time_point now);
  void stop_for(entry& x, core::drain_reason why, core::dispatch_effects& out,
                time_point now);
  bool reuse(entry& x, core::dispatch_effects& out);
  void check_limits(entry& x, core::dispatch_effects& out, time_point now);
  [[nodiscard]] std::optional<time_point> due(const entry& x) const;
  void finish_drain(core::dispatch_effects& out);

  core::dispatch_limits limits_;
  std::deque<entry> calls_;  ///< in the model's order
  std::vector<core::finished_read> finished_;
  std::size_t open_ = 0;
  std::uint32_t in_flight_ = 0;
  bool gate_open_ = false;
  bool draining_ = false;
  std::uint64_t late_ = 0;
};

}  // namespace riffle::testing
