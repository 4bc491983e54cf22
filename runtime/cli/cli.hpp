// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "runtime/api/version.hpp"

namespace riffle {

inline constexpr std::string_view version = RIFFLE_VERSION;

/// The command line: parses, runs the subcommand, returns the exit status of
/// the contract. Never throws.
int riffle_main(int argc, char** argv);

}  // namespace riffle
