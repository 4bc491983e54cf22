// SPDX-License-Identifier: MIT
#pragma once

// The parts of 'riffle mcp'; each returns the exit status.

#include <memory>
#include <optional>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/config/config.hpp"
#include "runtime/node/mcp_part.hpp"
#include "tools/mcp/servers.hpp"

namespace riffle::cli {

/// The servers of a configuration, none of them started.
struct opened_servers {
  config::config settings;
  std::shared_ptr<mcp::servers> all;
};

/// Says why there are none.
std::optional<opened_servers> open_servers(const mcp_command& x,
                                           servers_for what, console& io);

/// Starts the one that is named, or all; whether all are ready. Says why others
/// are not.
bool make_ready(const opened_servers& x, const std::string& name, console& io);

/// Its login and approvals would be those of the next one of its name. What is
/// remembered of another configuration's server of that name stays.
void forget_server(const mcp_command& x, const config::config& before,
                   console& io);

int mcp_approve(const mcp_command& x, console& io);
int mcp_add(const mcp_command& x, console& io);
int mcp_remove(const mcp_command& x, console& io);
int mcp_serve(const mcp_command& x, console& io);
int mcp_import(const mcp_command& x, console& io);
int mcp_login(const mcp_command& x, console& io);
int mcp_logout(const mcp_command& x, console& io);

}  // namespace riffle::cli
