// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "runtime/cli/options.hpp"

namespace riffle::cli {

/// The limits that a run works under, a line for the run and one for each
/// tool of its agent; for `-v`. The agent must be in the configuration.
std::string limits_text(const config::config& settings,
                        const std::string& agent,
                        const resume_options& choices);

}  // namespace riffle::cli
