// SPDX-License-Identifier: MIT
#pragma once

// An observer of the dispatch queue that knows the promises and nothing of the
// queue's states: it is told what the world did, sees every effect, and fails
// the test at the first effect that breaks a promise.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/core/dispatch_queue.hpp"

namespace riffle::testing {

/// One letter for each effect, in order; of one call, or of all if `only` is
/// empty: a(pproval asked) n(oted) b(egun) c(ommit awaited) w(ork) k (control)
/// x (stop) v (approval withdrawn) r(etry) D(rained)
/// j(udge), and for a settlement one
/// of + (ok) ! (failed) 0 (denied) / (skipped) C(ancelled) I(nterrupted)
/// T(imed out).
std::string letters(const core::dispatch_effects& effects,
                    const call_id& only = {});

/// Whether two calls must keep the model's order; written a second time, so
/// that the queue is not measured by itself.
bool must_keep_order(const tool_call& a, const tool_call& b);

class dispatch_watch {
 public:
  struct seen_call {
    tool_call call;
    bool asked = false;  ///< approval requested and not yet withdrawn
    bool ahead = false;  ///< … while an earlier call was open
    bool again = false;  ///< approved ahead, and looked at again
    bool approved = false;
    bool denied = false;
    bool announced = false;  ///< its one tool_call event
    bool acked = false;      ///< the intent of this attempt is durable
    bool restored = false;   ///< it was under way when the process died
    bool working = false;    ///< a pool, a worker or the orchestrator has it
    bool settled = false;
    bool recorded = false;  ///< recovery would know of it
    /// Asked for before the process died, not decided.
    bool was_asked = false;
    bool cleared = false;  ///< it was just judged
    bool moved = false;    ///< its last attempt did not act
    /// Later calls that were under way when this one's arguments changed.
    std::set<call_id> beside;
    std::uint32_t attempt = 0;
    std::uint32_t told_queued = 0;  ///< the attempt that waits for a worker
    outcome how = outcome::ok;
  };

  explicit dispatch_watch(std::uint32_t max_in_flight = 16)
      : max_in_flight_{max_in_flight} {}

  void call(const tool_call& x);  ///< before `on_call`, in the model's order
  void restored(const core::restored_call& x);
  void gate(bool safe);
  void decided(const call_id& id, bool approved);
  void postponed(const call_id& id);  ///< before `on_postponed`
  void edited(const tool_call& x);    ///< before `on_edited`
  void committed(const call_id& id, std::uint32_t attempt);
  /// The queue hears that the work ended, whatever the way.
  void ended(const call_id& id, std::uint32_t attempt);
  /// The same, and that it did not act; before `on_moved`.
  void moved(const call_id& id, std::uint32_t attempt);
  /// Around `on_judged`: what was judged holds for that moment.
  void judged(const call_id& id, bool now);
  void next_step();

  void take(const core::dispatch_effects& effects);

  [[nodiscard]] bool knows(const call_id& id) const;
  [[nodiscard]] const seen_call& of(const call_id& id) const;
  [[nodiscard]] std::vector<call_id> open() const;
  [[nodiscard]] std::uint32_t in_flight() const;

 private:
  seen_call& at(const call_id& id);
  void see(const core::request_approval& x);
  void see(const core::note_waiting& x);
  void see(const core::begin_call& x);
  void see(const core::start_work& x);
  void see(const core::start_control& x);
  void see(const core::stop_work& x);
  void see(const core::cancel_approval& x);
  void see(const core::retry_call& x);
  void see(const core::settle_call& x);
  void see(const core::calls_drained& x);
  void see(const core::judge_start& x);
  void see(const core::tell_queued& x);
  void check_order(const seen_call& x) const;
  void check_asked(const seen_call& x, core::ask_reason why) const;

  std::uint32_t max_in_flight_;
  bool gate_safe_ = false;
  std::vector<seen_call> calls_;  ///< in the model's order
};

}  // namespace riffle::testing
