// SPDX-License-Identifier: MIT
#pragma once

// An approved call is executed where it was proposed, whoever approves it from
// wherever.

#include <string>

#include "runtime/cli/options.hpp"
#include "runtime/config/config.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::cli {

/// "cd 'FOLDER' && ", or nothing for the folder that we are in.
std::string go_there(const std::string& folder);

/// If the command starts what was approved: makes the proposal's folder the
/// working directory, and what the command names by relative paths absolute.
/// The answer is whether that changed the folder. Fails with
/// `invalid_request` if the folder is gone.
expected<bool> go_where_it_runs(proposals_command& x, const proposal& about,
                                storage::session_records& journal);

/// If the command starts what was approved, it is started by the configuration
/// of the run that proposed it: see `take_configuration`.
expected<bool> go_by_what_it_ran(proposals_command& x, const proposal& about,
                                 storage::session_records& journal);

/// The configuration there may keep its data elsewhere.
expected<void> is_known_here(const proposals_command& x, const proposal& about,
                             const config::config& settings);

}  // namespace riffle::cli
