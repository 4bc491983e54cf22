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

/// What is wrong with the name of a server; empty: nothing.
std::string mistake_in_mcp_name(const std::string& name);

/// What is wrong with a header of a server's requests; empty: nothing.
std::string mistake_in_mcp_header(const std::string& name,
                                  const std::string& text);

/// "GITHUB_TOKEN": of a variable the last word tells.
bool variable_holds_secret(const std::string& variable);

/// What such variables of servers hold is a secret from now on.
void keep_secrets_of_mcp(const config& x);

/// The server whose tools "mcp:files" or "files__read" means; nothing: it means
/// none of the configuration's.
std::optional<std::string> server_of(const config& x, const std::string& tool);

}  // namespace riffle::config
