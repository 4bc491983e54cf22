// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/dpop.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/clock.hpp"
#include "tools/mcp/oauth/grants.hpp"
#include "tools/mcp/oauth/metadata.hpp"

namespace riffle::mcp::oauth {

namespace {

constexpr std::int64_t us_of_second = 1'000'000;
constexpr std::size_t id_bytes = 16;
constexpr std::size_t most_origins = 32;
constexpr std::size_t longest_nonce = 4096;

}  // namespace

expected<bool> binds_token(dpop_use use,
                           const std::vector<std::string>& algorithms) {
  if (use == dpop_use::never) return false;
  const bool knows =
      std::ranges::find(algorithms, dpop_algorithm) != algorithms.end();
  if (use == dpop_use::automatic || knows) return knows;
  if (algorithms.empty()) return true;  // it need not say so
  return unexpected{
      error{.code = errc::invalid_request,
            .op = "mcp.login",
            .message = "the authorization server binds no token to a key of "
                       "ES256, and auth.dpop = \"always\" wants that"}};
}

void dpop_nonces::note(std::string_view url, const std::string& nonce) {
  const bool plain = std::ranges::all_of(
      nonce, [](char c) { return c > ' ' && c < 0x7f && c != '"'; });
  if (nonce.empty() || nonce.size() > longest_nonce || !plain) return;
  auto origin = origin_of(url);
  const std::lock_guard lock{mutex_};
  if (all_.size() >= most_origins && !all_.contains(origin)) all_.clear();
  all_[std::move(origin)] = nonce;
}

std::string dpop_nonces::of(std::string_view url) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(origin_of(url));
  return found == all_.end() ? std::string{} : found->second;
}

std::string dpop_proof(const signing_key& key, std::string_view method,
                       std::string_view url, std::string_view token,
                       const dpop_nonces& nonces) {
  nlohmann::json claims = {{"jti", random_text(id_bytes)},
                           {"htm", method},
                           {"htu", url.substr(0, url.find_first_of("?#"))},
                           {"iat", system_wall_time().us / us_of_second}};
  if (!token.empty()) claims["ath"] = sha256_url(token);
  if (auto nonce = nonces.of(url); !nonce.empty())
    claims["nonce"] = std::move(nonce);
  return key.token(dpop_algorithm,
                   {{"typ", "dpop+jwt"}, {"jwk", key.public_half()}}, claims);
}

}  // namespace riffle::mcp::oauth
