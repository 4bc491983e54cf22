// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "messages/error.hpp"
#include "runtime/api/riffle.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/surroundings.hpp"

namespace riffle::cli {

/// Fails with `invalid_request`, naming those that there are.
expected<void> check_agent(const std::string& agent,
                           const config::config& settings);

/// The same for a model, if one is given. One of a provider (PROVIDER/MODEL)
/// is added to the settings.
expected<void> choose_model(const std::optional<std::string>& model,
                            config::config& settings);

/// What the runtime is asked for. Without --approve nothing is approved.
run_request request_of(const run_command& x, std::string task);

/// Both that are named, as above.
expected<void> check_named(const std::optional<std::string>& agent,
                           const std::optional<std::string>& model,
                           config::config& settings);

/// What a model is told of the folder where it will work.
service::surroundings surroundings_of(
    const std::string& agent, const config::config& settings,
    service::git_answer how = service::git_answer::asked);

/// Before anything starts: fails with `invalid_request` where a file is
/// missing, too large, no picture and no PDF, or nothing that the model takes.
/// What was read stays in the request of a run.
expected<void> check_attachments(run_request& x,
                                 const config::config& settings);

/// How much the runtime's own log says beside the traces: errors with -q,
/// else what the configuration asks for.
void choose_log_level(verbosity level, config::config& settings);

}  // namespace riffle::cli
