// SPDX-License-Identifier: MIT
#pragma once

// Who gives tokens for a server, and how: where that is written (RFC 9728,
// RFC 8414, OpenID Connect Discovery), and what it says. Pure.

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"

namespace riffle::mcp::oauth {

using json = nlohmann::json;

/// "https://host:port", without a slash behind it; empty: it is no URL.
std::string origin_of(std::string_view url);

/// Where a server's own metadata is, the likeliest first.
std::vector<std::string> resource_metadata_urls(std::string_view server);

struct resource_metadata {
  std::string resource{};  ///< what the token is for (RFC 8707)
  std::vector<std::string> authorization_servers{};
  std::vector<std::string> scopes{};
  bool bound_only = false;  ///< tokens that no key binds are refused (RFC 9449)
};

/// Fails if it is not of this server: a token for something else would be
/// asked for, and sent here.
expected<resource_metadata> read_resource_metadata(const json& x,
                                                   std::string_view server);

/// Where the metadata of an authorization server is, the likeliest first.
std::vector<std::string> authorization_metadata_urls(std::string_view issuer);

struct authorization_server {
  std::string issuer{};
  std::string authorization_endpoint{};
  std::string token_endpoint{};
  std::string registration_endpoint{};  ///< or empty
  std::string revocation_endpoint{};    ///< or empty
  std::vector<std::string> auth_methods{};
  std::vector<std::string> auth_algorithms{};   ///< of `private_key_jwt`
  std::vector<std::string> proof_algorithms{};  ///< of DPoP
  std::vector<std::string> pkce_methods{};
  std::vector<std::string> scopes{};
  bool names_itself = false;  ///< its answers carry `iss` (RFC 9207)
};

/// Fails if it is of another issuer, or gives no tokens. An empty `issuer`:
/// the server itself has it, and it may be anybody's.
expected<authorization_server> read_authorization_metadata(
    const json& x, std::string_view issuer);

/// Fails if no person can log in there, or not safely: without PKCE.
expected<void> fit_for_logins(const authorization_server& x);

/// The same issuer, with a slash at its end or without.
bool is_same_issuer(std::string_view a, std::string_view b);

/// Where servers of 2025-03-26 that have no metadata are asked.
authorization_server server_without_metadata(std::string_view origin);

}  // namespace riffle::mcp::oauth
