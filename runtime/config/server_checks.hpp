// SPDX-License-Identifier: MIT
#pragma once

// What [server] must hold that no single key can say. Pure but for the files
// that it looks for.

#include <functional>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"

namespace riffle::config {

using server_mistake = std::function<void(const std::vector<std::string>& key,
                                          const std::string& message)>;

void check_server(const config& x, const server_mistake& report);

}  // namespace riffle::config
