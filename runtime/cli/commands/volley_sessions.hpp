// SPDX-License-Identifier: MIT
#pragma once

// riffle sessions show|events|cancel of a volley

#include <cstddef>
#include <string>

#include "runtime/api/riffle.hpp"
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

/// Of a volley that was ended: its tasks, and those that had ended before.
struct volley_end {
  std::size_t tasks = 0;
  std::size_t ended = 0;
  bool open = false;  ///< a run of it has not ended yet
};

/// The same of one that no process works on, in this runtime: its runs end as
/// they are, and what has not begun never begins by itself. Blocks, for some
/// seconds at most. Fails as `find_volley`, `lock_volley` and
/// `runtime::cancel`.
expected<volley_end> end_volley_here(runtime& rt, const volley_store& store,
                                     const std::string& id,
                                     const std::string& reason);

}  // namespace riffle::cli
