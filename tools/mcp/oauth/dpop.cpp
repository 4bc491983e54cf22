// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/dpop.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/clock.hpp"
#include "tools/builtin/web/url.hpp"
#include "tools/mcp/oauth/grants.hpp"
#include "tools/mcp/oauth/metadata.hpp"

namespace riffle::mcp::oauth {

namespace {

constexpr std::int64_t us_of_second = 1'000'000;
constexpr std::size_t id_bytes = 16;
constexpr std::size_t most_origins = 32;
constexpr std::size_t longest_nonce = 4096;

unexpected no_binding(std::string why) {
  return unexpected{error{.code = errc::invalid_request,
                          .op = "mcp.login",
                          .message = std::move(why)}};
}

/// As the server sees it (RFC 9449, 4.3): without a query, its host and port
/// spelt in the one way.
std::string plain_address(std::string_view url) {
  const auto text = tools::url_spelling(url).value_or(std::string{url});
  return text.substr(0, text.find_first_of("?#"));
}

}  // namespace

expected<bool> binds_token(dpop_use use, bool bound_only,
                           const std::vector<std::string>& algorithms) {
  if (use == dpop_use::never && bound_only)
    return no_binding(
        "the server takes only tokens that are bound to a key (DPoP), which "
        "auth.dpop = \"never\" rules out: take that out");
  if (use == dpop_use::never) return false;
  const bool knows =
      std::ranges::find(algorithms, dpop_algorithm) != algorithms.end();
  const bool must = bound_only || use == dpop_use::always;
  if (!must || knows) return knows;
  if (algorithms.empty()) return true;  // it need not say so
  return no_binding(
      std::string{"the authorization server binds no token to a key of ES256, "
                  "and "} +
      (bound_only ? "the server takes no other"
                  : "auth.dpop = \"always\" wants that"));
}

bool dpop_nonces::note(std::string_view url, const std::string& nonce) {
  const bool plain = std::ranges::all_of(
      nonce, [](char c) { return c > ' ' && c < 0x7f && c != '"'; });
  if (nonce.empty() || nonce.size() > longest_nonce || !plain) return false;
  auto origin = origin_of(url);
  const std::lock_guard lock{mutex_};
  if (all_.size() >= most_origins && !all_.contains(origin)) all_.clear();
  all_[std::move(origin)] = nonce;
  return true;
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
                           {"htu", plain_address(url)},
                           {"iat", system_wall_time().us / us_of_second}};
  if (!token.empty()) claims["ath"] = sha256_url(token);
  if (auto nonce = nonces.of(url); !nonce.empty())
    claims["nonce"] = std::move(nonce);
  return key.token(dpop_algorithm,
                   {{"typ", "dpop+jwt"}, {"jwk", key.public_half()}}, claims);
}

}  // namespace riffle::mcp::oauth
