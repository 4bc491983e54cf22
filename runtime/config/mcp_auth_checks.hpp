// SPDX-License-Identifier: MIT
#pragma once

// What must stand in `[mcp.NAME.auth]`, and what must not.

#include <functional>
#include <string>

#include "runtime/config/mcp_config.hpp"

namespace riffle::config {

void check_mcp_auth(
    const mcp_config& x,
    const std::function<void(const std::string& key,
                             const std::string& message)>& report);

}  // namespace riffle::config
