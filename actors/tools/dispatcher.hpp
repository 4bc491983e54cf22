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
  std::map<call_id, std::string> answers;  ///< of ok `complete` calls
  std::map<call_id, run_entry> more;       ///< of control calls
  /// Begins or ends an attempt in the call's record.
  void note_attempt(const call_id& id, std::uint32_t number);
  void end_attempt(const call_id& id, const std::string& lost);
  void add_state(const call_id& id, const call_result& result,
                 run_entry& entry);

  /// `tool_call::basis` of approved calls, until they are settled.
  std::map<call_id, std::string> basis_of;
  void add_basis(tool_call& call) const;
  tools::state_values session_state;
  /// What calls set in it, until they are settled.
  std::map<call_id, tools::state_values> state_of;
  std::map<call_id, std::vector<storage::attempt_record>> attempts_of;

  /// Where an attempt goes; decided before its intent is stored.
  void place(tool_call& call);
  /// In the result: it may be another one than the call's event names.
  void tell_place(const core::begin_call& x, run_entry& entry);
  void name_place(const call_id& id, call_result& result);
  void answer_unplaced(const call_id& id, std::uint32_t attempt, error why,
                       bool again);
  std::map<call_id, expected<std::string>> node_of;
  std::map<call_id, std::string> told_node;  ///< no entry, "local": here

  /// What pools and workers have.
  struct handed_over {
    std::string tool;  ///< `pool_key`
    std::uint32_t attempt = 0;
    caf::actor_addr pool{};
  };
  void came_back(const call_id& id, std::uint32_t attempt);
  /// With work that nobody hears from.
  [[nodiscard]] duration patience_with(const call_id& id) const;
  std::map<call_id, handed_over> at_pools;
  std::optional<time_point> next_tick;

  void meter_begin(const tool_call& call);
  core::call_clock clock;
};

dispatcher_actor::behavior_type dispatcher(
    dispatcher_actor::stateful_pointer<dispatcher_state> self,
    run_spec_ptr spec, tools::state_values session_state);

}  // namespace riffle
