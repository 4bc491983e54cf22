// SPDX-License-Identifier: MIT
#include "tests/support/jwt_reader.hpp"

#include <stdexcept>
#include <vector>

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "runtime/base/media.hpp"

namespace riffle::testing {

using nlohmann::json;

namespace {

const unsigned char* bytes_of(const std::string& x) {
  return reinterpret_cast<const unsigned char*>(x.data());
}

/// What OpenSSL takes for a signature of an elliptic curve.
std::string as_der(const std::string& pair) {
  const auto half = static_cast<int>(pair.size() / 2);
  auto* x = ECDSA_SIG_new();
  ECDSA_SIG_set0(x, BN_bin2bn(bytes_of(pair), half, nullptr),
                 BN_bin2bn(bytes_of(pair) + half, half, nullptr));
  unsigned char* der = nullptr;
  const auto size = i2d_ECDSA_SIG(x, &der);
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  ECDSA_SIG_free(x);
  return out;
}

bool is_signed(const std::string& text, std::string mark,
               const std::string& algorithm, const public_key& key) {
  const bool curve = algorithm.starts_with("ES");
  const auto half = static_cast<std::size_t>(algorithm == "ES384" ? 48 : 32);
  if (curve && mark.size() != 2 * half) return false;
  if (curve) mark = as_der(mark);
  auto* context = EVP_MD_CTX_new();
  EVP_PKEY_CTX* how = nullptr;
  const auto* digest = algorithm == "EdDSA"   ? nullptr
                       : algorithm == "ES384" ? EVP_sha384()
                                              : EVP_sha256();
  EVP_DigestVerifyInit(context, &how, digest, nullptr, key.get());
  if (algorithm == "PS256") {
    EVP_PKEY_CTX_set_rsa_padding(how, RSA_PKCS1_PSS_PADDING);
    EVP_PKEY_CTX_set_rsa_pss_saltlen(how, RSA_PSS_SALTLEN_DIGEST);
  }
  const auto good = EVP_DigestVerify(context, bytes_of(mark), mark.size(),
                                     bytes_of(text), text.size());
  EVP_MD_CTX_free(context);
  return good == 1;
}

/// Of a key that is freed then.
std::string pem_of(EVP_PKEY* key) {
  auto* to = BIO_new(BIO_s_mem());
  PEM_write_bio_PKCS8PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(to, &text);
  std::string out(text, static_cast<std::size_t>(size));
  BIO_free(to);
  EVP_PKEY_free(key);
  return out;
}

}  // namespace

std::string new_pem(const std::string& kind) {
  auto* key = kind == "RSA" ? EVP_RSA_gen(2048u)
              : kind == "ED25519"
                  ? EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")
                  : EVP_EC_gen(kind.c_str());
  if (key == nullptr) throw std::runtime_error{"no key of " + kind};
  return pem_of(key);
}

std::string broken_pem() {
  auto* whole = EVP_RSA_gen(2048u);
  auto* build = OSSL_PARAM_BLD_new();
  std::vector<BIGNUM*> parts;
  for (const auto* name :
       {OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D,
        OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2,
        OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2,
        OSSL_PKEY_PARAM_RSA_COEFFICIENT1}) {
    BIGNUM* part = nullptr;
    EVP_PKEY_get_bn_param(whole, name, &part);
    if (parts.empty()) BN_clear_bit(part, 0);
    OSSL_PARAM_BLD_push_BN(build, name, part);
    parts.push_back(part);
  }
  auto* parameters = OSSL_PARAM_BLD_to_param(build);
  auto* context = EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr);
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context);
  EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters);
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(build);
  for (auto* part : parts) BN_clear_free(part);
  EVP_PKEY_free(whole);
  return pem_of(key);
}

public_key key_of_pem(const std::string& pem) {
  auto* from = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  auto* key = PEM_read_bio_PrivateKey(from, nullptr, nullptr, nullptr);
  BIO_free(from);
  return {key, EVP_PKEY_free};
}

public_key key_of_jwk(const json& jwk) {
  if (jwk.size() != 4 || jwk.value("kty", "") != "EC" ||
      jwk.value("crv", "") != "P-256")
    return {};
  const auto point = "\x04" + from_base64_url(jwk.value("x", "")) +
                     from_base64_url(jwk.value("y", ""));
  auto* build = OSSL_PARAM_BLD_new();
  OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME,
                                  "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  auto* parameters = OSSL_PARAM_BLD_to_param(build);
  auto* context = EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr);
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context);
  EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(build);
  return {key, EVP_PKEY_free};
}

std::string from_base64_url(std::string text) {
  for (auto& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (text.size() % 4 != 0) text += '=';
  return from_base64(text);
}

std::optional<jwt> read_unsigned_jwt(const std::string& token) {
  const auto first = token.find('.');
  const auto last = token.rfind('.');
  if (first == last || token.find('=') != token.npos) return {};
  jwt out;
  out.header =
      json::parse(from_base64_url(token.substr(0, first)), nullptr, false);
  out.claims =
      json::parse(from_base64_url(token.substr(first + 1, last - first - 1)),
                  nullptr, false);
  if (!out.header.is_object() || !out.claims.is_object()) return {};
  return out;
}

std::optional<jwt> read_jwt(const std::string& token, const public_key& key) {
  auto out = read_unsigned_jwt(token);
  if (!out || !key) return {};
  const auto last = token.rfind('.');
  if (!is_signed(token.substr(0, last), from_base64_url(token.substr(last + 1)),
                 out->header.value("alg", ""), key))
    return {};
  return out;
}

}  // namespace riffle::testing
