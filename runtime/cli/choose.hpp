// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "messages/error.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

/// Fails with `invalid_request`, naming those that there are.
expected<void> check_agent(const std::string& agent,
                           const config::config& settings);

/// Lets an agent that there is use another model, if one is given. Fails with
/// `invalid_request`, naming those that there are.
expected<void> choose_model(const std::optional<std::string>& model,
                            const std::string& agent, config::config& settings);

}  // namespace riffle::cli
