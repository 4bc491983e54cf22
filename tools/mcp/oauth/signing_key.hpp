// SPDX-License-Identifier: MIT
#pragma once

// A private key that signs JSON Web Tokens (RFC 7515): of a program that shows
// who it is, or of the proofs that tokens are bound to.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <openssl/evp.h>

#include "messages/error.hpp"

namespace riffle::mcp::oauth {

/// RFC 4648, 5: for URLs, without padding.
std::string base64_url(std::string_view bytes);
/// The SHA-256 of a text, the same way.
std::string sha256_url(std::string_view text);

/// Immutable; copies are the same key.
class signing_key {
 public:
  /// A new one, of P-256.
  static signing_key make();
  /// A private key in PEM, without a passphrase: RSA of 2,048 bits or more,
  /// P-256, P-384 or Ed25519. The error has no word of the text.
  static expected<signing_key> from_pem(std::string_view text);
  /// What `to_text` gave.
  static expected<signing_key> from_text(std::string_view text);

  /// A secret.
  [[nodiscard]] std::string to_text() const;
  /// What it signs with (RFC 7518, RFC 8037), the usual first.
  [[nodiscard]] const std::vector<std::string>& algorithms() const {
    return algorithms_;
  }
  /// Its public half (RFC 7517); of a key of P-256 alone.
  [[nodiscard]] nlohmann::json public_half() const;
  /// As a signature of RFC 7515 is, not yet as text.
  [[nodiscard]] std::string signature(std::string_view algorithm,
                                      std::string_view text) const;
  /// "header.claims.signature"; `header` gets its `alg`.
  [[nodiscard]] std::string token(std::string_view algorithm,
                                  nlohmann::json header,
                                  const nlohmann::json& claims) const;

 private:
  signing_key(std::shared_ptr<EVP_PKEY> key, std::vector<std::string> all)
      : key_{std::move(key)}, algorithms_{std::move(all)} {}
  static expected<signing_key> of(EVP_PKEY* owned);

  std::shared_ptr<EVP_PKEY> key_;
  std::vector<std::string> algorithms_;
};

}  // namespace riffle::mcp::oauth
