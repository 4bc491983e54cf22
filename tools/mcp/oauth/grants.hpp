// SPDX-License-Identifier: MIT
#pragma once

// What is asked of an authorization server: to know this client, tokens, and
// to forget them.

#include <stop_token>
#include <string>

#include "tools/mcp/oauth/login.hpp"
#include "tools/mcp/oauth/metadata.hpp"
#include "tools/mcp/oauth/reach.hpp"

namespace riffle::mcp::oauth {

/// What a token is asked for with; nobody who sees the first without the second
/// can use the answer (RFC 7636).
struct proof {
  std::string challenge{};
  std::string verifier{};
};
proof make_proof();
std::string challenge_of(std::string_view verifier);

/// So many random bytes, as letters that stand in a URL as they are.
std::string random_text(std::size_t bytes);

/// Registers this program for one way back (RFC 7591).
expected<client> register_client(const authorization_server& at,
                                 const std::string& redirect,
                                 const std::string& scope, const reach& to,
                                 const std::stop_token& stop);

/// How a client with a secret shows it, of the ways that the server knows.
std::string auth_method_of(const authorization_server& at, bool has_secret);

/// The address at which a person agrees.
std::string authorization_url(const authorization_server& at,
                              const fields& parameters);

/// Takes the tokens that a code is good for into `x`.
expected<void> exchange_code(login& x, const std::string& code,
                             const std::string& verifier,
                             const std::string& redirect, const reach& to,
                             const std::stop_token& stop);

/// Takes new tokens into `x`. `approval_denied`: the login has ended, and a
/// person must log in again; anything else may pass.
expected<void> refresh(login& x, const reach& to, const std::stop_token& stop);

/// Tells the authorization server that the tokens are not used any more
/// (RFC 7009), if it wants to know.
expected<void> revoke(const login& x, const reach& to,
                      const std::stop_token& stop);

}  // namespace riffle::mcp::oauth
