// SPDX-License-Identifier: MIT
#pragma once

// Programs of others, from npm/package-lock.json and npm/mcp/package-lock.json.

#include <filesystem>
#include <optional>

namespace riffle::testing {

/// Where the packages are (node_modules), installed once for each version of
/// the lock file, whichever process asks first; nothing where npm or the
/// network is missing. Beside them lie copies of our scripts, where node finds
/// the packages.
std::optional<std::filesystem::path> npm_packages();
/// The same of npm/mcp.
std::optional<std::filesystem::path> npm_mcp_packages();

/// The node of the packages, or one that is installed.
std::filesystem::path node_of(const std::filesystem::path& packages);

}  // namespace riffle::testing
