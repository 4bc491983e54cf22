// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace riffle::mcp {

/// The name of a server's tool as models call it, "files__read": letters that
/// providers refuse become '_', and what is longer than 64 is shortened, both
/// with eight digits of a digest at the end, so that no two are alike; so have
/// all names of a server whose own ends with '_'.
std::string tool_name(std::string_view server, std::string_view tool);

/// What a person reads: "Using files to read text file".
std::string title_of(std::string_view server, std::string_view tool);

}  // namespace riffle::mcp
