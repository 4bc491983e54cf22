// SPDX-License-Identifier: MIT
#pragma once

// Tokens that no person has to agree to: a program's own (client credentials),
// a workload's (RFC 7523), and those of a person's company (a token of its
// identity provider, exchanged: RFC 8693, then RFC 7523).

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/mcp/oauth/dpop.hpp"
#include "tools/mcp/oauth/giver.hpp"
#include "tools/mcp/oauth/login.hpp"
#include "tools/mcp/oauth/passing_secrets.hpp"

namespace riffle::mcp::oauth {

enum class unattended_grant : std::uint8_t {
  client_credentials,
  workload_identity,
  enterprise,
};

/// A secret, read anew each time. Its error says where it should be.
using secret_source = std::function<expected<std::string>()>;

struct unattended_options {
  unattended_grant grant = unattended_grant::client_credentials;
  std::string server{};                ///< URL
  std::vector<std::string> headers{};  ///< of each request to the server
  std::vector<endpoint> allowed{};     ///< see `reach`
  /// Who gives the tokens. Empty: whom the server names, if that is at the
  /// server's own host and port: no secret goes where nobody has sent it.
  std::string issuer{};
  std::string scope{};  ///< empty: what the server asks for
  std::string client_id{};
  secret_source client_secret{};  ///< or
  secret_source private_key{};    ///< in PEM; or none of both
  std::string key_id{};           ///< `kid` of that key
  secret_source identity{};       ///< token of a workload or a person
  std::string idp{};              ///< issuer of that of a person
  std::string idp_client_id{};
  secret_source idp_client_secret{};
  dpop_use dpop = dpop_use::automatic;
  duration limit = token_limit;  ///< of one token, with all steps
};

/// Not thread-safe: one asks at a time. Keeps what it found out, and a key of
/// its own if tokens are bound to one.
class unattended {
 public:
  explicit unattended(unattended_options options);

  /// Another token, which nothing refreshes: one asks again. `anew`: nobody
  /// took the last one, so it is looked up again who gives them.
  /// `approval_denied`: somebody has said no; anything else may pass.
  expected<login> ask(const std::stop_token& stop, bool anew = false);

 private:
  expected<login> ask_by(const reach& to, const std::stop_token& stop);
  expected<void> find(const reach& to, const std::stop_token& stop);
  expected<void> check_giver() const;
  expected<void> check_binding(bool binds) const;
  expected<client> as_client() const;
  expected<fields> signed_by_key();
  expected<login> taken(const reach_answer& answer, const std::string& scope);
  expected<fields> what_is_asked(const reach& to, const std::stop_token& stop);
  expected<std::string> identity_token();
  expected<std::string> exchanged(const std::string& identity, const reach& to,
                                  const std::stop_token& stop);

  const unattended_options options_;
  const reach to_;
  std::optional<giver> from_;
  std::optional<signing_key> bound_to_;
  bool was_bound_ = false;  ///< a token was, so each one has to be
  passing_secrets secrets_;
};

}  // namespace riffle::mcp::oauth
