// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/options.hpp"

namespace riffle::cli {

/// Reads the arguments behind the program's name. Mistakes, `--help` and
/// `--version` come back as `leave_command`. No I/O.
command parse(std::vector<std::string> arguments);

}  // namespace riffle::cli
