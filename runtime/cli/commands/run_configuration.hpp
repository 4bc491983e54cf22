// SPDX-License-Identifier: MIT
#pragma once

// What was begun by one configuration is finished, and what was proposed is
// executed, by that one: its rules and limits are those that were agreed to.

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/run_folder.hpp"

namespace riffle::cli {

/// Of what is unfinished in a session, a volley or a plan; empty: nothing is,
/// or it is not on record. Fails as the journal.
expected<service::run_configuration> configuration_of_unfinished(
    const config::config& settings, const std::string& id);

/// Where neither an option nor RIFFLE_CONFIG names a configuration, and the
/// one that is found here is not `of`, the options name `of` from then on and
/// the answer is true: what was loaded counts no more. Fails with
/// `invalid_config` if that file is gone, or has changed and is not the
/// person's own one: it names what to do. `what` was begun by it, e.g.
/// "session ses_1".
expected<bool> take_configuration(common_options& x,
                                  const service::run_configuration& of,
                                  const std::string& what);

/// Says that it was taken, unless quiet.
void tell_configuration(const common_options& x, console& io);

}  // namespace riffle::cli
