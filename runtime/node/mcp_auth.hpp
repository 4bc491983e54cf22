// SPDX-License-Identifier: MIT
#pragma once

// How a server over HTTP is asked: headers of the configuration, and who brings
// its tokens.

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"
#include "tools/mcp/oauth/sign_in.hpp"
#include "tools/mcp/token_holder.hpp"

namespace riffle {

/// The headers of the configuration, with its token. Fails, naming the variable
/// that is not set.
expected<std::vector<std::string>> mcp_headers(const std::string& name,
                                               const config::mcp_config& x);

/// Who brings the tokens of a server. `memory`: where logins are; may be empty.
mcp::token_holder_options token_ways(const std::string& name,
                                     const config::config& config,
                                     const std::vector<std::string>& headers,
                                     const std::filesystem::path& memory);

/// How a person logs in at a server of the configuration. Fails, saying why, if
/// it is a program, or has its tokens in another way.
expected<mcp::oauth::sign_in_options> mcp_way_in(const config::config& config,
                                                 const std::string& name);

/// Where that login is kept; empty: there is no data folder.
std::filesystem::path mcp_login_file(const config::config& config,
                                     const std::string& name);

/// How a server's tokens are had, in one word of the configuration: "token",
/// "login", "client_credentials" … Empty: it has none.
std::string mcp_token_way(const config::config& config,
                          const std::string& name);

}  // namespace riffle
