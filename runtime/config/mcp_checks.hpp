// SPDX-License-Identifier: MIT
#pragma once

// What the tables [mcp.NAME] must and must not hold, beyond the form of keys.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"

namespace riffle::config {

/// Calls `report` with the place and the text of each mistake.
void check_mcp(const config& x,
               const std::function<void(const std::vector<std::string>& key,
                                        const std::string& message)>& report);

/// The server whose tools "mcp:files" or "files__read" means; nothing: it means
/// none of the configuration's.
std::optional<std::string> server_of(const config& x, const std::string& tool);

}  // namespace riffle::config
