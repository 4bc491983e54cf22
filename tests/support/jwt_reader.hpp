// SPDX-License-Identifier: MIT
#pragma once

// Reads what programs sign, as the other side does: signatures of RFC 7515.

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>
#include <openssl/evp.h>

namespace riffle::testing {

using public_key = std::shared_ptr<EVP_PKEY>;

struct jwt {
  nlohmann::json header{};
  nlohmann::json claims{};
};

/// A new private key in PEM: "RSA", "ED25519", or the name of a curve.
std::string new_pem(const std::string& kind);

/// Of RSA, in PEM, whose parts do not fit together: it is read, and signs
/// nothing.
std::string broken_pem();

/// Of a private key in PEM.
public_key key_of_pem(const std::string& pem);
/// Of a JSON Web Key of P-256 with its public half alone; null: it is none.
public_key key_of_jwk(const nlohmann::json& jwk);

/// The bytes of base64 for URLs.
std::string from_base64_url(std::string text);

/// Nothing: it is no such token, or `key` did not sign it.
std::optional<jwt> read_jwt(const std::string& token, const public_key& key);
/// Without a look at who signed it.
std::optional<jwt> read_unsigned_jwt(const std::string& token);

}  // namespace riffle::testing
