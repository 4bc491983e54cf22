// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/options.hpp"

namespace riffle::cli {

/// Reads the arguments behind the program's name. Mistakes, `--help` and
/// `--version` come back as `leave_command`. No I/O.
command parse(std::vector<std::string> arguments);

/// The long options of a command, e.g. of {"sessions", "resume"}. Throws for a
/// command that there is not.
std::vector<std::string> option_names(const std::vector<std::string>& path);

}  // namespace riffle::cli
