// SPDX-License-Identifier: MIT
#pragma once

// The parts of 'riffle mcp'; each returns the exit status.

#include "runtime/cli/commands/commands.hpp"

namespace riffle::cli {

int mcp_add(const mcp_command& x, console& io);
int mcp_remove(const mcp_command& x, console& io);
int mcp_serve(const mcp_command& x, console& io);
int mcp_import(const mcp_command& x, console& io);
int mcp_login(const mcp_command& x, console& io);
int mcp_logout(const mcp_command& x, console& io);

}  // namespace riffle::cli
