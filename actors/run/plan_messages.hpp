// SPDX-License-Identifier: MIT
#pragma once

// What a plan executor is told beside what an orchestrator is told. Jobs on
// threads that may block answer by these, with the attempt that they were for.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/core/plan_cursor.hpp"
#include "actors/run/run_spec.hpp"

namespace riffle {

/// An attempt of a step.
struct step_attempt {
  std::size_t place = 0;  ///< from 0
  std::uint32_t attempt = 1;
  bool operator==(const step_attempt&) const = default;
};

/// What it is to do, with outputs filled in.
struct prepared_step {
  tool_call call;    ///< checked; of a step without a run
  run_spec_ptr run;  ///< else null
};

struct step_prepared {
  step_attempt of;
  expected<prepared_step> what;
};

/// What became of the run of a step.
struct step_run_look {
  enum class state : std::uint8_t { missing, active, ended };
  state at = state::missing;
  run_spec_ptr spec;      ///< of an active one, to resume it
  core::step_end end;     ///< of one that ended
  std::uint64_t seq = 0;  ///< its end stands behind this event
};

struct step_looked_at {
  step_attempt of;
  expected<step_run_look> what;
};

struct answer_fetched {
  expected<std::string> text;
};

/// Nothing more will come of this run here. Its end, if it has ended, stands
/// behind `seq`.
struct step_run_closed {
  run_id run;
  std::uint64_t seq = 0;
};

struct step_due {
  step_attempt of;
};

struct look_at_step {
  step_attempt of;
};

}  // namespace riffle

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::step_prepared)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::step_looked_at)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::answer_fetched)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::step_run_closed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::step_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::look_at_step)
