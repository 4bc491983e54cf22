// SPDX-License-Identifier: MIT
#pragma once

// Who lives, as /proc says it. A command's own numbers mean nothing outside of
// its PID namespace.

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace riffle::testing {

/// Processes that work in this folder; zombies left out.
std::vector<pid_t> processes_in(const std::filesystem::path& folder);

/// Processes with this text in their environment or command line; zombies and
/// the caller left out.
std::vector<pid_t> processes_with(const std::string& mark);

}  // namespace riffle::testing
