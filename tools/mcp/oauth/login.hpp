// SPDX-License-Identifier: MIT
#pragma once

// What a person's login at a server's authorization server gave, in a file of
// mode 0600. Its texts are secrets of the process from the moment in which
// they are read.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "tools/mcp/oauth/signing_key.hpp"

namespace riffle::mcp::oauth {

/// Who asks for tokens.
struct client {
  std::string id{};
  std::string secret{};
  /// none, client_secret_basic or client_secret_post; private_key_jwt: as
  /// none, by a field of its own.
  std::string auth = "none";

  bool operator==(const client&) const = default;
};

struct login {
  std::string server{};    ///< URL: the token goes to no other
  std::string resource{};  ///< what it is for (RFC 8707)
  std::string issuer{};
  std::string token_endpoint{};
  std::string revocation_endpoint{};
  client as{};
  std::string access_token{};
  std::string refresh_token{};
  std::string scope{};
  std::string dpop_key{};      ///< what it is bound to; empty: to nothing
  bool bound_only = false;     ///< a token that is not bound is refused
  std::int64_t issued_at = 0;  ///< seconds since 1970
  std::optional<std::int64_t> expires_at{};  ///< the same

  bool operator==(const login&) const = default;
};

/// Nothing: there is none, it cannot be read, it has lost the key that it is
/// bound to, or it is for another server.
std::optional<login> read_login(const std::filesystem::path& file,
                                std::string_view server);

expected<void> write_login(const std::filesystem::path& file, const login& x);

/// Why it is none for a server that takes those of one issuer alone (empty: of
/// any), or those alone that a key binds. Empty: it is one.
std::string misfit(const login& x, const std::string& issuer, bool bound_only);

/// Nothing: it is bound to none.
std::optional<signing_key> dpop_key_of(const login& x);

/// Whether little is left of the token's life: a tenth, at most a minute. One
/// without an end lives.
bool ends_soon(const login& x, wall_time now);

}  // namespace riffle::mcp::oauth
