// SPDX-License-Identifier: MIT
#pragma once

// What a person can say to a plan that a crash interrupted.

#include <cstdint>
#include <optional>
#include <string>

#include "messages/time.hpp"
#include "runtime/api/riffle.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/terminal/interrupts.hpp"

namespace riffle::cli {

/// The open step of a plan whose call was cut while it may have changed
/// something, and that would end the plan by that.
struct cut_step {
  std::uint32_t number = 0;  ///< from 1
  std::string id;
  std::string tool;

  bool operator==(const cut_step&) const = default;
};

/// `plan`: the session of a plan that has not ended.
std::optional<cut_step> cut_step_of(const storage::session_snapshot& plan);

/// Asks what is to become of such a step, if there is one. Nothing: as the plan
/// says.
std::optional<step_failure> ask_about_cut_step(
    const storage::session_snapshot& plan, int keyboard,
    const interrupts& signals, console& io);

/// "This plan was not finished: plan_… (at step 2 of 5, "deploy", begun 3m 05s
/// ago)."
std::string interrupted_plan_text(const storage::session_snapshot& plan,
                                  wall_time now,
                                  const std::string& which = "This plan");

/// Before `riffle plan` begins its plan: one of the same content that a crash
/// interrupted in this folder is offered at a terminal; without one a line says
/// how to go on with it. The exit status if there is nothing more to do;
/// nothing: the plan begins.
std::optional<int> go_on_with_plan(runtime& rt, const plan_command& x,
                                   const std::string& text, interrupts& signals,
                                   room_wait& room, console& io);

}  // namespace riffle::cli
