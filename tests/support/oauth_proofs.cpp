// SPDX-License-Identifier: MIT
// What clients sign for the world of tests/support/oauth_world.hpp.
#include "runtime/base/clock.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/encoding.hpp"
#include "tests/support/jwt_reader.hpp"
#include "tests/support/oauth_world.hpp"

namespace riffle::testing {

using nlohmann::json;

namespace {

constexpr std::int64_t us_of_second = 1'000'000;

http_reply refuse(const std::string& code) {
  return http_reply::json(json{{"error", code}}.dump(), 400);
}

bool is_now(const json& seconds) {
  if (!seconds.is_number_integer()) return false;
  const auto away =
      system_wall_time().us / us_of_second - seconds.get<std::int64_t>();
  return away > -10 && away < 60;
}

}  // namespace

std::size_t oauth_world::good_proofs() const {
  const std::lock_guard lock{mutex_};
  return good_proofs_;
}

std::vector<std::string> oauth_world::bad_proofs() const {
  const std::lock_guard lock{mutex_};
  return bad_proofs_;
}

/// RFC 7523, 3.
bool oauth_world::knows_signature(const form& all) {
  const auto at = [&](const char* key) {
    const auto found = all.find(key);
    return found == all.end() ? std::string{} : found->second;
  };
  const auto x =
      read_jwt(at("client_assertion"), key_of_pem(rules_.client_pem));
  secrets_.push_back(at("client_assertion"));
  return x && x->claims.value("iss", "") == "robot" &&
         x->claims.value("sub", "") == "robot" &&
         x->claims.value("aud", "") == giver_->url(rules_.tenant) &&
         is_now(x->claims.value("iat", json())) &&
         x->claims.value("exp", 0) > x->claims.value("iat", 0) &&
         ids_.insert(x->claims.value("jti", "")).second &&
         at("client_assertion_type") ==
             "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" &&
         !all.contains("client_secret");
}

/// RFC 9449, 4.3; empty: nothing is wrong with it.
std::string oauth_world::judge(const http_request& x, const std::string& url,
                               const std::string& token) {
  const std::string proof{x.header("dpop")};
  const auto plain = read_unsigned_jwt(proof);
  if (!plain) return "no proof";
  const auto read =
      read_jwt(proof, key_of_jwk(plain->header.value("jwk", json())));
  if (!read) return "a wrong signature";
  const auto& claims = read->claims;
  if (read->header.value("typ", "") != "dpop+jwt") return "another type";
  if (claims.value("htm", "") != x.method) return "another method";
  if (claims.value("htu", "") != url) return "another address";
  if (!is_now(claims.value("iat", json()))) return "another time";
  if (!ids_.insert(claims.value("jti", "")).second) return "seen before";
  const auto digest = token.empty()
                          ? std::string{}
                          : hex_text(from_base64_url(claims.value("ath", "")));
  if (digest != (token.empty() ? "" : sha256(token))) return "another token";
  key_ = plain->header.value("jwk", json()).value("x", "");
  return {};
}

/// Of a request for a token.
std::optional<http_reply> oauth_world::refuse_proof(const http_request& x) {
  key_.clear();
  if (!rules_.binds || x.header("dpop").empty()) return {};
  if (auto wrong = judge(x, giver_->url("/token"), ""); !wrong.empty()) {
    bad_proofs_.push_back(std::move(wrong));
    return refuse("invalid_dpop_proof");
  }
  ++good_proofs_;
  const auto proof = read_unsigned_jwt(std::string{x.header("dpop")});
  if (rules_.giver_nonce.empty() ||
      proof->claims.value("nonce", "") == rules_.giver_nonce)
    return {};
  return refuse("use_dpop_nonce").header("DPoP-Nonce", rules_.giver_nonce);
}

/// The token of a request to the server, if it may be used so.
std::string oauth_world::token_of(const http_request& x) {
  const std::string header{x.header("authorization")};
  const bool proves = header.starts_with("DPoP ");
  if (rules_.bears && proves) return {};
  if (!proves && !header.starts_with("Bearer ")) return {};
  auto token = header.substr(header.find(' ') + 1);
  const auto& wanted = bound_[token];
  if (!proves) return wanted.empty() ? token : std::string{};
  auto wrong = judge(x, server_->url("/mcp"), token);
  if (wrong.empty() && key_ != wanted) wrong = "another key";
  if (wrong.empty()) {
    ++good_proofs_;
    return token;
  }
  bad_proofs_.push_back(std::move(wrong));
  return {};
}

}  // namespace riffle::testing
