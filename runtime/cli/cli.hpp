// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace riffle {

inline constexpr std::string_view version = "0.1.0";

/// The command line: parses, runs the subcommand, returns the exit status of
/// the contract. Never throws.
int riffle_main(int argc, char** argv);

}  // namespace riffle
