// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cli/commands/commands.hpp"
#include "runtime/config/config.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::cli {

/// riffle sessions cancel: ends the active run of a session. Its process is
/// asked to; if that is gone, this one settles what it left open. Waits a few
/// seconds for the end. Returns the exit status.
int cancel_run_of(const sessions_command& x, const config::config& settings,
                  const storage::session_snapshot& session,
                  storage::journal& journal, console& io);

}  // namespace riffle::cli
