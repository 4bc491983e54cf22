// SPDX-License-Identifier: MIT
#pragma once

// The login of a person at a server: finds out who gives tokens for it, shows
// the person where to agree, waits for the answer and takes the tokens
// (OAuth 2.1 with PKCE, as the Model Context Protocol has it).

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/mcp/oauth/challenge.hpp"
#include "tools/mcp/oauth/grants.hpp"

namespace riffle::mcp::oauth {

struct sign_in_options {
  std::string server{};                ///< URL
  std::vector<std::string> headers{};  ///< of each request to the server
  std::vector<endpoint> allowed{};     ///< see `reach`
  std::string client_id{};             ///< empty: this program is registered
  std::string client_secret{};
  std::string scope{};     ///< empty: what the server asks for
  std::uint16_t port = 0;  ///< of the way back; 0: a free one
  duration limit = std::chrono::minutes{5};  ///< for the person
  std::stop_token stop{};
  /// Shows the person where to agree.
  std::function<void(const std::string& url)> show{};
};

/// Keeps nothing; see `write_login`.
expected<login> sign_in(const sign_in_options& x);

/// Who gives tokens for a server, and for what.
struct giver {
  authorization_server at{};
  std::string resource{};
  std::string scope{};  ///< that the server asks for
};

/// `asked`: what it said to a request without a token; nothing: it let it in.
expected<giver> find_giver(const std::string& server,
                           const std::optional<challenge>& asked,
                           const reach& to, const std::stop_token& stop);

}  // namespace riffle::mcp::oauth
