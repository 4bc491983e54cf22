// SPDX-License-Identifier: MIT
#pragma once

#include "actors/core/plan_cursor.hpp"
#include "actors/interfaces.hpp"
#include "actors/run/plan_records.hpp"

namespace riffle {

/// Executes a plan, around `core::plan_cursor`. A step's call goes through the
/// plan's own dispatcher; an instruction is carried out by a run, which is
/// started by the registry once its id is on record, and whose end is read
/// from the journal.
struct plan_executor_state {
  static inline const char* name = "plan_executor";
  explicit plan_executor_state(plan_executor_actor::pointer me) : self{me} {}

  void begin(run_peers& x);
  void begin_new();
  void take_over(run_entry& first);
  void begin_recovered();
  void on(settlement_committed& x);
  void on(drain_committed& x);
  void on(end_committed& x);
  void on(end_run& x);
  void on(pause_over& x);
  void on(step_prepared& x);
  void on(step_looked_at& x);
  void on(answer_fetched& x);
  void on(step_run_closed& x);
  void on(step_due& x);
  void on(look_at_step& x);

  /// The only place that sends events.
  void apply(core::plan_effects effects);
  void act(core::record_plan& x);
  void act(core::perform_step& x);
  void act(core::stop_step& x);
  void act(core::wait_to_retry& x);
  void act(core::fetch_answer& x);

  // Steps (plan_steps.cpp).
  void go_on_with_call();
  void prepare();
  void begin_call(tool_call call);
  void begin_run(const run_spec_ptr& step);
  void resume_run_of_step(const run_spec_ptr& step);
  void on_opened(const run_opened& x, bool resumed);
  /// `passes`: what hinders may be over soon.
  void on_trouble(const error& why, bool passes);
  void follow_run();
  void look();
  void look_later();
  void end_step(core::step_end end);
  /// The step was told to end before it began. True: it has.
  bool end_if_stopped();
  void submit(std::function<void()> job) const;

  [[nodiscard]] step_attempt current() const {
    return {cursor.place(), cursor.progress().attempt};
  }
  [[nodiscard]] step_source& source() { return sources[cursor.place()]; }
  [[nodiscard]] bool calls_tool() const {
    return !spec->plan->document.steps[cursor.place()].tool.empty();
  }
  [[nodiscard]] storage::run_record make_record() const;
  [[nodiscard]] time_point now() const { return self->clock().now(); }

  plan_executor_actor::pointer self;
  run_spec_ptr spec;
  run_start start;
  run_peers peers;
  core::plan_cursor cursor;
  std::vector<step_source> sources;  ///< of the steps that began
  storage::run_record base;
  storage::run_state ended_as = storage::run_state::active;
  std::uint32_t calls = 0;
  std::optional<run_entry> prelude;  ///< goes out with the first record
  /// What is under way of the open step.
  enum class doing : std::uint8_t {
    nothing,
    announcing,  ///< the id of its run is not durable yet
    preparing,   ///< a job is
    call,
    opening,  ///< the registry is asked for its run
    run,
    looking,  ///< a job is, or it will be looked at later
  };
  doing at = doing::nothing;
  bool attached = false;    ///< to a run that somebody had under way
  bool complained = false;  ///< in the log, of the open step
  storage::run_snapshot* recovered = nullptr;  ///< during `begin`
};

plan_executor_actor::behavior_type plan_executor(
    plan_executor_actor::stateful_pointer<plan_executor_state> self,
    run_spec_ptr spec, run_start start);

}  // namespace riffle
