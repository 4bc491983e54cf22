// SPDX-License-Identifier: MIT
#pragma once

#include "actors/core/step_machine.hpp"
#include "actors/interfaces.hpp"
#include "actors/run/asked_models.hpp"

namespace riffle {

/// The two actors of a turn.
struct turn_actors {
  stream_consumer_actor consumer;
  tool_call_parser_actor parser;
};

/// Spawns them, linked to the orchestrator. Placement is the spawner's
/// business.
using turn_spawner = std::function<turn_actors(
    caf::scheduled_actor* parent, const run_spec_ptr& spec,
    core::open_turn turn, std::string body, const run_peers& peers)>;

struct orchestrator_state {
  static inline const char* name = "orchestrator";
  explicit orchestrator_state(orchestrator_actor::pointer me) : self{me} {}

  void on(run_peers& x);
  void begin_fresh();
  void begin_recovered();
  void remember_session();
  void take_phase();
  [[nodiscard]] bool begins_anew() const;
  void say_waited();
  void on(settlement_committed& x);
  void on(turn_over& x);
  void on(control_request& x);
  void on(end_committed&);
  void on(drain_committed&) { apply(machine.on_drained(now())); }
  void on(end_run& x) {
    apply(machine.on_end_request(std::move(x.request), now()));
  }
  run_told on(tell_run& x);
  void on(pause_over&) { apply(machine.on_waited(now())); }

  // Proposals (orchestrator_proposals.cpp).
  void remember_proposals();
  void on(proposal_made& x);
  void record_proposals(std::vector<events::body>& events, const call_id& call,
                        run_entry& entry);
  void add_inline_proposals(core::record_step& x, run_entry& entry);
  [[nodiscard]] storage::proposal_record to_record(const events::proposal& x,
                                                   const call_id& call) const;
  void begin_cause();

  /// The only place that sends.
  void apply(core::step_effects effects);
  void act(core::record_step& x);
  void act(core::open_turn& x);
  void ask();
  void act(core::stop_turn& x);
  void act(core::open_gate& x);
  void act(core::drain_calls& x);
  void act(core::forget_calls& x);
  void act(core::wait_for& x);
  void say_status(std::string text);
  [[nodiscard]] storage::run_record make_record(
      const core::run_progress& p) const;
  [[nodiscard]] time_point now() const { return self->clock().now(); }

  orchestrator_actor::pointer self;
  run_spec_ptr spec;
  run_start start;
  turn_spawner spawn_turn;
  run_peers peers;
  core::step_machine machine;
  std::string_view phase = "idle";  ///< of it, as it was logged
  storage::run_record base;         ///< what of the record does not change
  storage::run_state ended_as = storage::run_state::active;
  asked_models chat;
  core::open_turn turn;                     ///< that was asked for last
  std::uint64_t told_tokens = 0;            ///< said to the run as it worked
  std::string plan;                         ///< of the session
  std::string chosen_phase;                 ///< same; empty: the agent's own
  std::map<call_id, proposal_id> proposed;  ///< in an earlier life
  /// Of a run with a cause: goes out with the first record, and the call
  /// right behind it.
  std::optional<run_entry> prelude;
  std::optional<tool_call> only_call;
  turn_actors asking;
};

orchestrator_actor::behavior_type orchestrator(
    orchestrator_actor::stateful_pointer<orchestrator_state> self,
    run_spec_ptr spec, run_start start, turn_spawner spawn_turn);

}  // namespace riffle
