// SPDX-License-Identifier: MIT
#pragma once

// Commands that only read, as they are started: without a shell, the program
// from outside of the workspace, what could run others turned off.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/read_command.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

struct read_call {
  std::vector<std::string> command;  ///< the first is an absolute path
  std::vector<std::string> environment;
  read_claim claim;
};

/// Nothing if the line is none that surely reads, here and now: a place leads
/// out of the workspace, the program lies in it, the repository is not the
/// workspace's own, is another user's, or its settings name programs.
std::optional<read_call> make_read_call(
    const std::string& line, const std::vector<std::string>& list,
    const std::filesystem::path& workspace,
    const std::vector<std::string>& environment);

}  // namespace riffle::tools
