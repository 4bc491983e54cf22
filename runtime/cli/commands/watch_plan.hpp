// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cli/commands/watch.hpp"

namespace riffle::cli {

/// Shows a plan and the runs of its steps until its end; asks a person about
/// calls of both. Returns the exit status. A standard output that nobody reads
/// does not end the plan.
int watch_plan(watched_run x, const common_options& options, show_options show,
               interrupts& signals, room_wait& room, console& io);

/// As `watch_plan` if it is a plan, else as `watch`.
int watch_any(watched_run x, const common_options& options, show_options show,
              interrupts& signals, room_wait& room, console& io);

}  // namespace riffle::cli
