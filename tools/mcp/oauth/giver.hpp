// SPDX-License-Identifier: MIT
#pragma once

// Who gives tokens for a server: what it says of that, looked up step by step.

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/mcp/oauth/challenge.hpp"
#include "tools/mcp/oauth/metadata.hpp"
#include "tools/mcp/oauth/reach.hpp"

namespace riffle::mcp::oauth {

/// What the server says to a request without a token, within the limit of
/// `to`. Nothing: it asks for none.
expected<std::optional<challenge>> ask_without_token(
    const std::string& server, std::vector<std::string> headers,
    const reach& to, const std::stop_token& stop);

/// Who gives tokens for a server, and for what.
struct giver {
  authorization_server at{};
  std::string resource{};
  std::string scope{};      ///< that the server asks for
  bool bound_only = false;  ///< it takes no token that no key binds
};

struct giver_wanted {
  std::string server{};
  std::string issuer{};    ///< no other one; empty: any that the server names
  bool for_person = true;  ///< who logs in there
};

/// `asked`: what it said to a request without a token; nothing: it let it in.
expected<giver> find_giver(const giver_wanted& wanted,
                           const std::optional<challenge>& asked,
                           const reach& to, const std::stop_token& stop);

/// What an authorization server says of itself.
expected<authorization_server> find_server(const std::string& issuer,
                                           const reach& to,
                                           const std::stop_token& stop);

}  // namespace riffle::mcp::oauth
