// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cli/commands/commands.hpp"
#include "tools/registry.hpp"

namespace riffle::cli {

/// Runs one call outside of a run, within the tool's time limit and until
/// Ctrl-C, and shows it like a call of a run. Its output goes to standard
/// output, whole. Returns the exit status.
int call_tool(const tools::registry& tools, const std::string& name,
              std::string arguments, const common_options& options,
              const config::config& settings, console& io);

}  // namespace riffle::cli
