// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/signing_key.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "runtime/base/digest.hpp"
#include "runtime/base/media.hpp"

namespace riffle::mcp::oauth {

namespace {

constexpr int least_rsa_bits = 2048;

template <auto Free>
struct freer {
  template <class T>
  void operator()(T* x) const {
    Free(x);
  }
};
using bio_ptr = std::unique_ptr<BIO, freer<BIO_free>>;
using digest_ptr = std::unique_ptr<EVP_MD_CTX, freer<EVP_MD_CTX_free>>;
using context_ptr = std::unique_ptr<EVP_PKEY_CTX, freer<EVP_PKEY_CTX_free>>;
using number_ptr = std::unique_ptr<BIGNUM, freer<BN_free>>;
using pair_ptr = std::unique_ptr<ECDSA_SIG, freer<ECDSA_SIG_free>>;

unexpected unfit(std::string why) {
  ::ERR_clear_error();
  return unexpected{error{
      .code = errc::invalid_config, .op = "mcp", .message = std::move(why)}};
}

/// Not for want of a good key: `of` has looked at that.
[[noreturn]] void give_up() {
  ::ERR_clear_error();
  throw std::runtime_error{"OpenSSL does not sign"};
}

/// A passphrase is never asked for: there may be no terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

/// Another curve of as many bits has another name: secp256k1.
std::vector<std::string> algorithms_of_curve(EVP_PKEY* key) {
  std::array<char, 80> name{};
  if (::EVP_PKEY_get_group_name(key, name.data(), name.size(), nullptr) != 1)
    return {};
  const std::string_view curve{name.data()};
  if (curve == SN_X9_62_prime256v1) return {"ES256"};
  if (curve == SN_secp384r1) return {"ES384"};
  return {};
}

std::vector<std::string> algorithms_of(EVP_PKEY* key) {
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA:
      if (EVP_PKEY_get_bits(key) < least_rsa_bits) return {};
      return {"RS256", "PS256"};
    case EVP_PKEY_ED25519: return {"EdDSA"};
    case EVP_PKEY_EC: return algorithms_of_curve(key);
    default: return {};
  }
}

/// Whether its parts belong together: one that does not must not be found out
/// where it is used.
bool is_whole(EVP_PKEY* key) {
  const context_ptr context{::EVP_PKEY_CTX_new(key, nullptr)};
  return context && ::EVP_PKEY_pairwise_check(context.get()) == 1;
}

/// RFC 7518, 3.4: both numbers at their full length.
std::string plain_pair(const std::string& der, int size) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const pair_ptr pair{
      ::d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()))};
  if (!pair) give_up();
  std::string out(static_cast<std::size_t>(size) * 2, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  if (::BN_bn2binpad(::ECDSA_SIG_get0_r(pair.get()), to, size) != size ||
      ::BN_bn2binpad(::ECDSA_SIG_get0_s(pair.get()), to + size, size) != size)
    give_up();
  return out;
}

std::string coordinate(EVP_PKEY* key, const char* name) {
  constexpr int size = 32;
  BIGNUM* read = nullptr;
  if (::EVP_PKEY_get_bn_param(key, name, &read) != 1) give_up();
  const number_ptr x{read};
  std::string out(size, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  if (::BN_bn2binpad(x.get(), to, size) != size) give_up();
  return base64_url(out);
}

}  // namespace

std::string base64_url(std::string_view bytes) {
  auto out = to_base64(bytes);
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  while (out.ends_with('=')) out.pop_back();
  return out;
}

std::string sha256_url(std::string_view text) {
  const auto hex = sha256(text);
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return base64_url(bytes);
}

signing_key signing_key::make() {
  auto made = of(EVP_EC_gen("P-256"));
  if (!made) throw std::runtime_error{"OpenSSL makes no key"};
  return *std::move(made);
}

expected<signing_key> signing_key::of(EVP_PKEY* owned) {
  if (owned == nullptr)
    return unfit("is no private key in PEM without a passphrase");
  std::shared_ptr<EVP_PKEY> key{owned, ::EVP_PKEY_free};
  auto all = algorithms_of(key.get());
  if (all.empty())
    return unfit(
        "is a key of a kind that is not used: take P-256, P-384, Ed25519, or "
        "RSA of 2,048 bits or more");
  if (!is_whole(key.get()))
    return unfit("is a key that does not sign: its parts do not fit together");
  return signing_key{std::move(key), std::move(all)};
}

expected<signing_key> signing_key::from_pem(std::string_view text) {
  const bio_ptr from{
      ::BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
  return of(
      ::PEM_read_bio_PrivateKey(from.get(), nullptr, no_passphrase, nullptr));
}

expected<signing_key> signing_key::from_text(std::string_view text) {
  const auto der = from_base64(text);
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  return of(::d2i_AutoPrivateKey(nullptr, &at, static_cast<long>(der.size())));
}

std::string signing_key::to_text() const {
  unsigned char* der = nullptr;
  const int size = ::i2d_PrivateKey(key_.get(), &der);
  if (size <= 0) give_up();
  auto out = to_base64(
      {reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)});
  ::OPENSSL_clear_free(der, static_cast<std::size_t>(size));
  return out;
}

nlohmann::json signing_key::public_half() const {
  return {{"kty", "EC"},
          {"crv", "P-256"},
          {"x", coordinate(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X)},
          {"y", coordinate(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y)}};
}

std::string signing_key::signature(std::string_view algorithm,
                                   std::string_view text) const {
  const auto* digest = algorithm == "EdDSA"   ? nullptr
                       : algorithm == "ES384" ? ::EVP_sha384()
                                              : ::EVP_sha256();
  const digest_ptr context{::EVP_MD_CTX_new()};
  EVP_PKEY_CTX* how = nullptr;
  if (::EVP_DigestSignInit(context.get(), &how, digest, nullptr, key_.get()) !=
      1)
    give_up();
  if (algorithm == "PS256" &&
      (EVP_PKEY_CTX_set_rsa_padding(how, RSA_PKCS1_PSS_PADDING) != 1 ||
       EVP_PKEY_CTX_set_rsa_pss_saltlen(how, RSA_PSS_SALTLEN_DIGEST) != 1))
    give_up();
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  if (::EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1)
    give_up();
  std::string out(size, '\0');
  if (::EVP_DigestSign(context.get(),
                       reinterpret_cast<unsigned char*>(out.data()), &size,
                       bytes, text.size()) != 1)
    give_up();
  out.resize(size);
  constexpr int bits_of_byte = 8;
  if (algorithm.starts_with("ES"))
    return plain_pair(out, EVP_PKEY_get_bits(key_.get()) / bits_of_byte);
  return out;
}

std::string signing_key::token(std::string_view algorithm,
                               nlohmann::json header,
                               const nlohmann::json& claims) const {
  header["alg"] = algorithm;
  const auto text = [](const nlohmann::json& x) {
    return base64_url(
        x.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  auto out = text(header) + "." + text(claims);
  return out + "." + base64_url(signature(algorithm, out));
}

}  // namespace riffle::mcp::oauth
