// SPDX-License-Identifier: MIT
#pragma once

// A plan's steps on record, and what is read of runs and calls. Each step has
// two messages in the plan's session: that it began (`user`: what it is to do,
// its call, or its run's id in `reasoning`), that it ended (`assistant`: its
// output, cut; its status in `reasoning` unless it completed).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/plan_cursor.hpp"
#include "actors/run/plan_messages.hpp"
#include "actors/run/run_spec.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

/// Where the output of a step is; both empty: it never began.
struct step_source {
  run_id run{};
  std::uint64_t seq = 0;  ///< the run's end stands behind this event
  call_id call{};
};

storage::message_record begun_record(const run_spec& spec,
                                     const core::plan_progress& p,
                                     const step_source& source);
storage::message_record ended_record(const run_spec& spec,
                                     const events::plan_step_finished& x);

/// From records to where a plan goes on.
struct plan_resumption {
  core::plan_progress progress;
  std::vector<step_source> sources;       ///< of the steps that began
  std::vector<events::run_status> ended;  ///< how steps ended, in order
};
plan_resumption resume_plan(const storage::run_snapshot& snapshot);

/// How the call of a step ended. `limit`: of its output in events.
core::step_end end_of_call(const storage::call_record& x, std::size_t limit);

/// Looks what became of a run; blocks on the journal.
expected<step_run_look> look_at_run(const run_spec& plan, const run_id& run,
                                    std::uint64_t after_seq);

/// The whole output of a step: of its call, or its run's answer. Blocks.
expected<std::string> whole_output(const run_spec& plan,
                                   const step_source& source);

/// What a step is to do, with the outputs of `sources`; blocks.
expected<prepared_step> prepare_step(const run_spec& plan, std::size_t place,
                                     std::uint32_t number,
                                     const std::vector<step_source>& sources);

}  // namespace riffle
