// SPDX-License-Identifier: MIT
#pragma once

// riffle sessions show|events|cancel of a volley

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/known_volley.hpp"
#include "runtime/service/sessions.hpp"

namespace riffle::cli {

/// All lines of a run's log on standard output.
expected<void> print_events(const service::sessions& all, const run_id& run,
                            console& io);

/// Its tasks with what became of them; or all lines of its runs' logs, in task
/// order. Returns the exit status.
int show_volley(const sessions_command& x, const service::sessions& all,
                const volley_store& store, console& io);

/// Ends it: asks the process that works on it, or ends what a dead one has left
/// itself. What has ended stays; `riffle sessions resume` can go on with the
/// rest. Returns the exit status.
int cancel_volley(const sessions_command& x, const volley_store& store,
                  console& io);

}  // namespace riffle::cli
