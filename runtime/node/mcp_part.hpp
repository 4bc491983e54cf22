// SPDX-License-Identifier: MIT
#pragma once

// The servers of the configuration's [mcp] tables.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"
#include "tools/mcp/servers.hpp"

namespace riffle {

struct mcp_places {
  std::filesystem::path guard_dir{};  ///< of lock files; empty: none
  std::filesystem::path memory{};     ///< see `mcp::servers_options`
  std::function<void()> on_change{};  ///< the same
};

enum class servers_for : std::uint8_t {
  runs,   ///< tools that were approved, or are trusted
  calls,  ///< of a person, who may also call a tool that nobody has looked at
  approval,  ///< the same, and programs that were approved in another folder
};

/// Null: the configuration names no server. Nothing is started. Fails if a
/// variable that a header needs is not set.
expected<std::shared_ptr<mcp::servers>> make_servers(
    const config::config& config, const mcp_places& places,
    std::function<void(const std::vector<tools::tool_ptr>&)> on_tools,
    servers_for what = servers_for::runs);

/// What a server is, as text: another one under its name is remembered as
/// nothing. (This and the next: mcp_identity.cpp.)
std::string mcp_identity(const config::mcp_config& x);

/// The name of what is remembered of it: that of the server, and a digest of
/// the folder where its program is looked for, if that is not always the same.
std::string mcp_memory_name(const std::string& name,
                            const config::mcp_config& x);

/// Whether what is remembered is of this server, wherever it was approved.
bool is_memory_of(const mcp::remembered& x, const config::mcp_config& of);

/// Why it is not started: its program is looked for in this folder, where
/// nobody has approved it, and was approved in another one. Empty: it may be.
std::string why_not_here(const std::filesystem::path& memory,
                         const std::string& name, const config::mcp_config& x);

/// Where servers are remembered: in the data folder.
std::filesystem::path mcp_memory(const config::config& config);

/// The limits of single tools of servers, as `[tools.NAME__TOOL]` has them.
void add_mcp_limits(config::config& config);

}  // namespace riffle
