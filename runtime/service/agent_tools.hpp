// SPDX-License-Identifier: MIT
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"
#include "tools/mcp/servers.hpp"

namespace riffle::service {

/// The tools of an agent by the configuration: those that it names, and the
/// servers that name it, as "mcp:NAME".
std::vector<std::string> tools_of_agent(const config::config& config,
                                        const std::string& agent);

/// Only what no server has stays.
void leave_out_servers(const config::config& config,
                       std::vector<std::string>& tools);

/// What stands for a server becomes the tools that it has. Starts the servers
/// that are named and waits for them, each at most its `startup_timeout`; what
/// is not there then is logged and left out. `servers` may be null: there are
/// none. Blocks, until a stop, and at most `limit` (0: no other one).
std::vector<std::string> expand_tools(const config::config& config,
                                      mcp::servers* servers,
                                      const std::vector<std::string>& names,
                                      const std::stop_token& stop = {},
                                      duration limit = {});

/// What the servers of these tools say of their use, marked as their words, for
/// a model; only of those that a person has approved, or trusts.
std::string advice_of_servers(const config::config& config,
                              const mcp::servers* servers,
                              const std::vector<std::string>& tools);

}  // namespace riffle::service
