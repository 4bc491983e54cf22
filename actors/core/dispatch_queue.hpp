// SPDX-License-Identifier: MIT
#pragma once

// The life of a call: one state machine that running, cancelling and
// recovering share.
//
//   waiting ──► approving ──► ready ──► committing ──► queued ──► running
//      │            │           ▲ ▼     (mutating)                   │
//      │            │◄────── judging (if `tool_call::judged`)        │
//      └────────────┴──────────────────────┬─── stopping ◄───────────┤
//                                          ▼                         ▼
//                                       settled ◄────────────────────┘
//
// Pure: `on_x` and `tick` return what is to be done, in order. The caller
// tells the muxer of `begin_call` and `settle_call` before it acts on any
// effect that follows.
//
// What happens to a call costs what it changes, not how many calls the step
// has: a call that is held back waits on the list of one call that holds it,
// and is looked at again when that one lets go.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/core/conflict_index.hpp"
#include "actors/core/dispatch_effects.hpp"
#include "messages/call.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::core {

struct dispatch_limits {
  /// Calls of the run at workers at once.
  std::uint32_t max_in_flight = 16;
  /// After this, a stopped call whose worker does not answer settles anyway;
  /// longer than the kill ladder of process tools needs.
  duration abandon_after = std::chrono::seconds{8};
  /// The same of a call at a node, which may act until it hears of the stop, or
  /// notices that it hears nothing.
  duration abandon_at_node = std::chrono::seconds{8};
  /// Pause before attempt n + 1: `retry_base` * 2^(n - 1).
  duration retry_base = std::chrono::milliseconds{100};
  /// So often a call is judged again because where it leads changed while it
  /// began; then it fails.
  std::uint32_t most_moves = 3;
  /// People are asked about a call while earlier ones that change something
  /// still run, and once more if what they saw is no longer so then.
  bool ask_ahead = false;
  /// A call that waits for a worker longer than this is told to wait, and told
  /// when it has one. Zero: it is not.
  duration tell_after{};
};

/// Why the open calls of a step must end before their time.
enum class drain_reason : std::uint8_t {
  cancelled,       ///< the run was cancelled
  timed_out,       ///< the run's own time limit
  step_timed_out,  ///< that of the step of a plan
  interrupted,     ///< the model's turn broke; the step starts again
  call_cancelled,  ///< this call alone was; the run goes on
};

/// What recovery knows of a call that is not settled.
struct restored_call {
  tool_call call;
  std::uint32_t attempt = 0;  ///< begun so far
  bool announced = false;     ///< its `tool_call` event is in the log
  bool begun = false;         ///< its worker may have got it
  /// This attempt of it still acts, in this process; 0: none does.
  std::uint32_t acting = 0;
  std::optional<bool> approved;  ///< what was decided, if it was
  std::string decision_reason;
  errc decision_code = errc::approval_denied;
  bool asked = false;  ///< its approval was requested, and is open
  bool again = false;  ///< so, and an approval of it was void before
  /// An earlier call of its step had failed before it began.
  bool doubted = false;
  /// What that attempt came to, if this process knows.
  std::shared_ptr<const call_result> known = nullptr;
};

/// The outcome of an earlier attempt of the same step, to be reused.
struct finished_read {
  call_id call;
  std::string tool;
  std::string arguments;  ///< canonical
  std::string output;
};

class dispatch_queue {
 public:
  dispatch_queue() = default;
  explicit dispatch_queue(dispatch_limits limits);
  dispatch_queue(const dispatch_queue&) = delete;  // it points into itself
  dispatch_queue& operator=(const dispatch_queue&) = delete;
  dispatch_queue(dispatch_queue&&) = default;
  dispatch_queue& operator=(dispatch_queue&&) = default;

  /// A complete call of the running turn, in the model's order.
  dispatch_effects on_call(tool_call call, time_point now);

  /// The turn ended well and its assistant message is on its way to the
  /// journal. `safe`: mutating calls may start; else they settle as `skipped`.
  dispatch_effects on_gate(bool safe, time_point now);

  /// `code`: what the model is told of a denial.
  dispatch_effects on_decision(const call_id& id, bool approved,
                               std::string reason, time_point now,
                               errc code = errc::approval_denied);

  /// What the call would do depends on an earlier one that is still open: it
  /// is asked about when that has settled. Instead of `on_decision`.
  dispatch_effects on_postponed(const call_id& id, time_point now);

  /// Approved in another form: `call` takes the place of the one that was
  /// asked for (its identity and place in the order are kept). What it
  /// conflicts with is looked at anew: it also waits for later calls that are
  /// under way and touch what it touches now.
  dispatch_effects on_edited(tool_call call, time_point now);

  /// What the rules say now that it is about to begin. Stricter than what was
  /// decided, or another place than the one that was agreed to: it is denied,
  /// or asked for anew.
  dispatch_effects on_judged(const call_id& id, judged_call how,
                             time_point now);

  /// Where the attempt that began last goes: to a node, or it stays here.
  void on_placed(const call_id& id, bool at_node);

  dispatch_effects on_intent_committed(const call_id& id, std::uint32_t attempt,
                                       time_point now);

  /// A worker took it from the pool's queue: its time limits run from here.
  dispatch_effects on_started(const call_id& id, std::uint32_t attempt,
                              time_point now);

  /// Progress: the idle limit starts anew.
  void on_progress(const call_id& id, std::uint32_t attempt, time_point now);

  /// The work ended with an answer. Also ends the hold on the keys.
  dispatch_effects on_result(const call_id& id, std::uint32_t attempt,
                             call_result result,
                             std::optional<std::uint64_t> last_progress,
                             time_point now);

  /// The work ended without having acted: what was judged is elsewhere now, or
  /// the node that had it left. The call is judged again, and begins anew.
  dispatch_effects on_moved(const call_id& id, std::uint32_t attempt,
                            time_point now, const error& why = place_changed());
  static error place_changed();

  /// Nobody hears from its work any more, which may go on: it settles, keeps
  /// its keys, and is not begun again.
  dispatch_effects on_work_orphaned(const call_id& id, std::uint32_t attempt,
                                    const std::string& reason, time_point now);

  /// Such work has ended, also that of a call that was restored.
  dispatch_effects on_work_returned(const call_id& id, std::uint32_t attempt,
                                    time_point now);

  /// The worker died (exception, lost process); its work has ended.
  dispatch_effects on_worker_lost(const call_id& id, std::uint32_t attempt,
                                  std::string reason, time_point now);

  /// What was taken as a complete call turned out not to be one.
  dispatch_effects on_malformed(const call_id& id, error why, time_point now);

  /// Cancels one call; settled ones are left alone.
  /// `by`: who or what ends it, for the model; may be empty.
  dispatch_effects on_cancel(const call_id& id, time_point now,
                             const std::string& by = {});

  /// Ends all open calls of the step; answers with `calls_drained` once they
  /// are settled (at once if none is open). Settled reads can be reused if the
  /// step starts again.
  dispatch_effects on_drain(drain_reason why, time_point now);

  /// After a crash, the assistant message being committed (`committed`) or
  /// not: what was open. Call `on_gate` (committed) or `on_drain` next.
  void restore(std::vector<restored_call> open,
               std::vector<finished_read> finished);

  /// The next step begins: forgets settled calls and reusable results.
  void on_next_step();

  dispatch_effects tick(time_point now);

  /// When `tick` is needed; nothing: no limit runs.
  [[nodiscard]] std::optional<time_point> due() const;

  /// Calls not settled.
  [[nodiscard]] std::size_t open() const noexcept { return open_; }
  /// Settled calls whose work goes on.
  [[nodiscard]] std::size_t abandoned() const noexcept { return ended_.size(); }
  /// Answers that came after the settlement, or of older attempts.
  [[nodiscard]] std::uint64_t late() const noexcept { return late_; }

 private:
  enum class phase : std::uint8_t {
    waiting,
    approving,
    ready,
    judging,  ///< nothing holds it back; what do the rules say now?
    committing,
    queued,
    running,
    stopping,
    withdrawing,  ///< as stopping, but it waits for its decision
    backoff,
    settled,
  };

  /// What an earlier call keeps a call from starting.
  enum class hold : std::uint8_t {
    none,
    open_call,   ///< one that has yet to settle
    ended_call,  ///< one that is settled, but its work goes on
  };

  struct entry {
    call_place place = 0;
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
    bool orphaned = false;        ///< the same, and nobody can stop it
    bool at_node = false;         ///< the same, on another machine
    bool resumed = false;         ///< it had begun when the process ended
    std::shared_ptr<const call_result> known;  ///< how that ended
    bool cleared = false;                      ///< judged just now
    std::uint32_t moves = 0;  ///< attempts that did not act, see `on_moved`
    outcome stop_as = outcome::cancelled;
    std::optional<error> stop_error;
    std::optional<error> unbegun_error;  ///< instead, if it had not begun
    time_point queued_at{};
    bool told_queued = false;  ///< that it waits for a worker
    time_point started_at{};
    time_point last_sign{};
    time_point stopping_since{};
    std::optional<time_point> blocked_since;
    time_point retry_at{};
    std::optional<time_point> alarm;  ///< its place in `alarms_`
    std::vector<call_place> held;     ///< that wait until it lets go
  };

  // What the outside says (dispatch_queue.cpp).
  entry* find(const call_id& id);
  /// Settled, or about to be.
  [[nodiscard]] static bool ending(const entry& x) {
    return x.at == phase::settled || x.at == phase::stopping ||
           x.at == phase::withdrawing;
  }
  /// The entry if this attempt is under way, else counts a late answer.
  entry* current(const call_id& id, std::uint32_t attempt);

  // How calls move (dispatch_moves.cpp).
  void start_what_can(dispatch_effects& out, time_point now);
  void consider(entry& x, dispatch_effects& out, time_point now);
  void advance(entry& x, dispatch_effects& out, time_point now);
  void hand_over(entry& x, dispatch_effects& out, time_point now);
  void begin(entry& x, dispatch_effects& out, time_point now);
  void end_work(entry& x);
  void settle(entry& x, call_result result, dispatch_effects& out,
              std::optional<std::uint64_t> last_progress = {});
  void stop(entry& x, outcome how, error why, dispatch_effects& out,
            time_point now);
  [[nodiscard]] static error stop_error(const entry& x, bool began);
  void stop_for(entry& x, drain_reason why, dispatch_effects& out,
                time_point now, const std::string& by = {});
  bool reuse(entry& x, dispatch_effects& out);
  void finish_drain(dispatch_effects& out);
  [[nodiscard]] bool was_cut(const entry& x) const;
  [[nodiscard]] static call_result cut_result(const entry& x);

  // Who is asked, and when (dispatch_ask.cpp).
  void ask(entry& x, dispatch_effects& out);
  bool may_ask_ahead(const entry& x);
  bool ask_again(entry& x, dispatch_effects& out);
  void look_anew(entry& x, dispatch_effects& out);
  void decided(const entry& x);
  void outdate(const entry& x);
  void doubt(const entry& x, outcome how);

  // Work that nobody hears from (dispatch_orphans.cpp).
  [[nodiscard]] static call_result still_at_work(const entry& x,
                                                 const std::string& why);

  // What the rules say when a call begins (dispatch_judge.cpp).
  void ask_rules(entry& x, dispatch_effects& out, time_point now);
  void obey(entry& x, judged_call how, dispatch_effects& out);
  void leave_judging(const entry& x);
  [[nodiscard]] bool has_slot() const;

  // Who waits for whom (dispatch_order.cpp).
  entry& add(tool_call call);
  void change(entry& x, tool_call call);
  void keep_for_reuse(finished_read x);
  void keep_for_reuse(const tool_call& x, const std::string& output);
  void forget_settled();
  [[nodiscard]] bool may_start(const entry& x) const;
  hold held_back(const entry& x);
  hold wait_for(call_place other, const entry& x);
  [[nodiscard]] std::optional<call_place> find_beside(const entry& x) const;
  void set_ready(const entry& x, bool is);
  void look_again(std::vector<call_place>& held);
  [[nodiscard]] std::optional<call_place> next_candidate(call_place from) const;

  // Time (dispatch_time.cpp).
  void check_limits(entry& x, dispatch_effects& out, time_point now);
  void check_queue(entry& x, dispatch_effects& out, time_point now);
  [[nodiscard]] std::optional<time_point> due(const entry& x) const;
  /// To be called when what `due(x)` looks at has changed.
  void set_alarm(entry& x);

  dispatch_limits limits_;
  std::map<call_place, entry> calls_;           ///< in the model's order
  std::unordered_map<call_id, entry*> places_;  ///< in it
  call_place next_place_ = 0;
  /// By tool and arguments; of equal ones the first.
  std::unordered_map<std::string, finished_read> finished_;
  std::size_t finished_bytes_ = 0;

  // What follows from the entries; control tools are apart, since they wait
  // for all others and hold none back.
  conflict_index open_calls_;
  std::set<call_place> open_controls_;
  std::set<call_place> working_;    ///< of calls that are no control tools
  std::set<call_place> ended_;      ///< settled, but their work goes on
  conflict_index changes_;          ///< all that change something, settled too
  std::set<call_place> undecided_;  ///< somebody has to agree to them
  std::set<call_place> ahead_;      ///< asked ahead, not decided
  std::set<call_place> agreed_;     ///< approved ahead, not begun
  std::set<call_place> fresh_;      ///< to be looked at
  std::set<call_place> gated_;      ///< wait for the gate
  std::set<call_place> ready_;      ///< wait for a slot, and nothing else
  conflict_index ready_calls_;      ///< the same
  std::set<std::pair<time_point, call_place>> alarms_;

  std::size_t open_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint32_t judging_ = 0;  ///< a slot is kept for each
  bool gate_open_ = false;
  bool draining_ = false;
  std::uint64_t late_ = 0;
};

/// What is said behind the reason of a call that ended before it was begun.
inline constexpr std::string_view was_not_begun = "; it was not begun";

/// How far a call came that ends before its time.
enum class call_reach : std::uint8_t {
  unbegun,
  cut_short,  ///< it was begun, and changes nothing
  in_doubt,   ///< it may have taken effect
};

/// The outcome of a drained call as an error for the model.
/// `by`: of a call that was cancelled alone, who or what did; may be empty.
error drain_error(drain_reason why, call_reach how_far,
                  const std::string& by = {});

}  // namespace riffle::core
