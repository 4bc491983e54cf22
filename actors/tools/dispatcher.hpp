// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <variant>

#include "actors/core/budget.hpp"
#include "actors/core/call_clock.hpp"
#include "actors/core/dispatch_queue.hpp"
#include "actors/interfaces.hpp"
#include "tools/session_state.hpp"

namespace riffle {

struct dispatcher_state {
  static inline const char* name = "dispatcher";
  explicit dispatcher_state(dispatcher_actor::pointer me) : self{me} {}
  ~dispatcher_state();

  [[nodiscard]] time_point now() const { return self->clock().now(); }

  void on(run_peers& x) { peers = std::move(x); }
  void on(restored_calls& x);
  void on(parsed_calls& x) { take_in(std::move(x)); }
  void on(malformed_call& x) { take_in(std::move(x)); }
  void on(turn_over& x) { take_in(std::move(x)); }
  void on(more_calls& x);
  void on(gate_opened& x);
  void on(cancel_call& x);
  void on(drain_request& x);
  void on(step_forgotten& x);
  void on(approval_decision& x);
  void on(intent_committed& x);
  void on(call_judged& x);
  void on(work::started& x);
  void on(work_progressed& x);
  void on(work::done& x);
  void on(work::lost& x);
  void on(control_done& x);
  void on(work_returned& x);
  void on(pool_replaced& x);
  void on(pool_of_node& x);
  void on(orphan_due& x);
  void on(tick& x);

  // What the parser sends, in its order, a piece at a time: so that a cancel
  // and the time limits do not wait for a turn of thousands of calls.
  using from_parser = std::variant<parsed_calls, malformed_call, turn_over>;
  void take_in(from_parser x);
  /// False: there is more of it.
  bool work_on(parsed_calls& x);
  bool work_on(malformed_call& x);
  bool work_on(turn_over& x);
  std::deque<from_parser> incoming;
  std::size_t taken_in = 0;  ///< of the calls in the first

  /// The only place that sends.
  void apply(core::dispatch_effects effects);
  void act(core::request_approval& x);
  void act(core::note_waiting& x);
  void act(core::begin_call& x);
  void act(core::start_work& x);
  void act(core::start_control& x);
  void act(core::stop_work& x);
  void act(core::cancel_approval& x);
  void act(core::retry_call& x);
  void act(core::settle_call& x);
  void act(core::calls_drained& x);
  void act(core::judge_start& x);
  void act(core::tell_queued& x);
  void schedule_tick();
  void log_late(std::uint64_t before, const call_id& id,
                std::uint32_t attempt) const;

  dispatcher_actor::pointer self;
  run_spec_ptr spec;
  run_peers peers;
  core::dispatch_limits limits;
  core::dispatch_queue queue;
  std::vector<core::asked_call> asked;  ///< of this turn, in order
  core::call_budget budget;

  /// What the dispatcher knows of a call besides its place in the queue, until
  /// it is settled.
  struct call_notes {
    std::string basis;  ///< `tool_call::basis`, once approved
    std::vector<storage::attempt_record> attempts;
    /// Where this attempt goes ("": here), or why nowhere; none: not placed.
    std::optional<expected<std::string>> node;
    std::string told_node;      ///< where its events say it is; "": here
    tools::state_values state;  ///< of a result that is kept
  };
  std::map<call_id, call_notes> notes;
  /// Begins or ends an attempt in the call's record.
  void note_attempt(const call_id& id, std::uint32_t number);
  void end_attempt(const call_id& id, const std::string& lost);
  void take_kept(core::restored_call& open);
  void keep(const core::settle_call& x);
  void add_basis(tool_call& call) const;

  /// What a result brings along. It settles its call at once or not at all:
  /// of an attempt that no longer counts nothing may reach the settlement.
  struct result_extras {
    call_id of;
    tools::state_values state;
    std::string answer;  ///< of an ok `complete`
    run_entry more;      ///< of a control call
  };
  void take_result(result_extras extras, std::uint32_t attempt,
                   call_result result,
                   std::optional<std::uint64_t> last_progress);
  result_extras arriving;
  tools::state_values session_state;
  void add_state(tools::state_values set, run_entry& entry);

  /// Where an attempt goes; decided before its intent is stored.
  void place(tool_call& call);
  /// In the result: it may be another one than the call's event names.
  void tell_place(const core::begin_call& x, run_entry& entry);
  static void name_place(const call_notes& of, call_result& result);
  void answer_unplaced(const call_id& id, std::uint32_t attempt, error why,
                       bool again);

  /// What pools and workers have.
  struct handed_over {
    std::string tool;  ///< `pool_key`
    std::uint32_t attempt = 0;
    caf::actor_addr pool{};
  };
  void came_back(const call_id& id, std::uint32_t attempt);
  /// With work that nobody hears from.
  [[nodiscard]] duration abandon_timeout(const call_id& id) const;
  std::map<call_id, handed_over> at_pools;
  std::optional<time_point> next_tick;

  void meter_begin(const tool_call& call);
  core::call_clock clock;
};

dispatcher_actor::behavior_type dispatcher(
    dispatcher_actor::stateful_pointer<dispatcher_state> self,
    run_spec_ptr spec, tools::state_values session_state);

}  // namespace riffle
