// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "messages/error.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

/// Fails with `invalid_request`, naming those that there are.
expected<void> check_agent(const std::string& agent,
                           const config::config& settings);

/// Lets an agent that there is use another model, if one is given. Fails with
/// `invalid_request`, naming those that there are.
expected<void> choose_model(const std::optional<std::string>& model,
                            const std::string& agent, config::config& settings);

/// How much the runtime's own log says beside the traces: errors with -q,
/// what the configuration says with -v, else nothing below warnings unless
/// the configuration asks for more than the default.
void choose_log_level(verbosity level, config::config& settings);

}  // namespace riffle::cli
