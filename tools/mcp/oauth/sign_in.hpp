// SPDX-License-Identifier: MIT
#pragma once

// The login of a person at a server: finds out who gives tokens for it, shows
// the person where to agree, waits for the answer and takes the tokens
// (OAuth 2.1 with PKCE, as the Model Context Protocol has it).

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/mcp/oauth/giver.hpp"
#include "tools/mcp/oauth/grants.hpp"

namespace riffle::mcp::oauth {

struct sign_in_options {
  std::string server{};                ///< URL
  std::vector<std::string> headers{};  ///< of each request to the server
  std::vector<endpoint> allowed{};     ///< see `reach`
  std::string client_id{};             ///< empty: this program is registered
  std::string client_secret{};
  std::string issuer{};  ///< who gives the tokens; empty: as the server says
  std::string scope{};   ///< empty: what the server asks for
  dpop_use dpop = dpop_use::automatic;
  std::uint16_t port = 0;                    ///< of the way back; 0: a free one
  duration limit = std::chrono::minutes{5};  ///< for the person
  /// For all that is asked of servers, before the person and after.
  duration asking = std::chrono::minutes{1};
  std::stop_token stop{};
  /// Shows the person where to agree.
  std::function<void(const std::string& url)> show{};
};

/// Keeps nothing; see `write_login`.
expected<login> sign_in(const sign_in_options& x);

}  // namespace riffle::mcp::oauth
