// SPDX-License-Identifier: MIT
#pragma once

// Proofs that who sends a token holds the key that it is bound to (RFC 9449).

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mcp/oauth/signing_key.hpp"

namespace riffle::mcp::oauth {

/// Whether tokens are bound to a key.
enum class dpop_use : std::uint8_t {
  automatic,  ///< where the authorization server says that it knows how
  always,     ///< a token that is not bound is refused
  never,
};

/// The one algorithm that is asked for: every server that has any has it.
inline constexpr std::string_view dpop_algorithm = "ES256";

/// Whether a key is shown. `bound_only`: the server takes no token without;
/// `algorithms`: those that the authorization server knows. Fails: it must be,
/// and is not understood, or must not be.
expected<bool> binds_token(dpop_use use, bool bound_only,
                           const std::vector<std::string>& algorithms);

/// What servers want to see in the next proof, each of its origin's. Bounded;
/// thread-safe.
class dpop_nonces {
 public:
  /// False: it is empty, or cannot be sent, and changes nothing.
  bool note(std::string_view url, const std::string& nonce);
  [[nodiscard]] std::string of(std::string_view url) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> all_;
};

/// One proof, for one request, made now. `token`: empty where one is asked for.
std::string dpop_proof(const signing_key& key, std::string_view method,
                       std::string_view url, std::string_view token,
                       const dpop_nonces& nonces);

}  // namespace riffle::mcp::oauth
