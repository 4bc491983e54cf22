// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/api/riffle.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/sessions.hpp"

namespace riffle::cli {

/// Of whoever only ends these runs: no model is asked, so none needs a key.
config::config without_keys(config::config settings,
                            const std::vector<storage::run_record>& runs);

/// Of `sessions forget`.
error still_works(const std::string& id, const std::string& who);

/// riffle sessions cancel: ends the active run of a session. Its process is
/// asked to; if that is gone, this one settles what it left open. Waits a few
/// seconds for the end. Returns the exit status.
int cancel_run_of(const sessions_command& x, const config::config& settings,
                  const storage::session_snapshot& session,
                  const service::sessions& all, console& io);

/// Ends a run that nobody works on, in this runtime, without finishing it; the
/// state that it has then, `active` if it has not ended in ten seconds.
expected<storage::run_state> end_run_here(runtime& rt, const run_id& id,
                                          const std::string& reason);

}  // namespace riffle::cli
