// SPDX-License-Identifier: MIT
// Keys that sign, and proofs of possession: by vectors of their RFCs, and by
// what another program reads in them.
#include <set>

#include "runtime/base/media.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/jwt_reader.hpp"
#include "tools/mcp/oauth/challenge.hpp"
#include "tools/mcp/oauth/dpop.hpp"

using namespace riffle;
using namespace riffle::mcp::oauth;
using nlohmann::json;
using riffle::testing::from_base64_url;
using riffle::testing::key_of_jwk;
using riffle::testing::key_of_pem;
using riffle::testing::new_pem;
using riffle::testing::read_jwt;

namespace {

std::string pem_of(const std::string& der) {
  return "-----BEGIN PRIVATE KEY-----\n" + to_base64(der) +
         "\n-----END PRIVATE KEY-----\n";
}

}  // namespace

TEST_CASE("a signature is that of RFC 8037, appendix A.4") {
  // PKCS #8 (RFC 8410) around the 32 bytes of its key.
  const std::string head{
      "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", 16};
  const auto key = signing_key::from_pem(pem_of(
      head + from_base64_url("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")));
  REQUIRE(key.has_value());
  CHECK(key->algorithms() == std::vector<std::string>{"EdDSA"});
  CHECK(base64_url(key->signature(
            "EdDSA",
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc")) ==
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt"
        "9g7sVvpAr_MuM0KAg");
}

TEST_CASE("each kind of key signs what its public half reads") {
  const std::map<std::string, std::vector<std::string>> kinds = {
      {"P-256", {"ES256"}},
      {"P-384", {"ES384"}},
      {"RSA", {"RS256", "PS256"}},
      {"ED25519", {"EdDSA"}}};
  for (const auto& [kind, algorithms] : kinds) {
    CAPTURE(kind);
    const auto pem = new_pem(kind);
    const auto key = signing_key::from_pem(pem);
    REQUIRE(key.has_value());
    CHECK(key->algorithms() == algorithms);
    for (const auto& algorithm : algorithms)
      // A number with a zero in front is as long as any other.
      for (int i = 0; i < (kind == "RSA" ? 2 : 300); ++i) {
        const auto token = key->token(algorithm, {{"typ", "JWT"}}, {{"n", i}});
        const auto read = read_jwt(token, key_of_pem(pem));
        REQUIRE(read.has_value());
        CHECK(read->header == json{{"typ", "JWT"}, {"alg", algorithm}});
        CHECK(read->claims == json{{"n", i}});
        CHECK_FALSE(read_jwt(token, key_of_pem(new_pem("P-256"))));
      }
  }
}

TEST_CASE("what is no key that is used is refused without a word of it") {
  const auto why = [](const std::string& text) {
    const auto key = signing_key::from_pem(text);
    return key ? "a key" : key.error().message;
  };
  CHECK(why("s3cret-words") == "is no private key in PEM without a passphrase");
  CHECK(why("").starts_with("is no private key"));
  CHECK(why(new_pem("P-521")).starts_with("is a key of a kind"));
  CHECK(why(new_pem("secp256k1")).starts_with("is a key of a kind"));
  CHECK(
      why(riffle::testing::broken_pem()).starts_with("is a key that does not"));
  CHECK(why(pem_of("s3cret-words")).find("s3cret") == std::string::npos);
  CHECK_FALSE(signing_key::from_text("s3cret-words").has_value());
}

TEST_CASE("a key that was kept is the same key") {
  const auto key = signing_key::make();
  const auto kept = signing_key::from_text(key.to_text());
  REQUIRE(kept.has_value());
  CHECK(kept->public_half() == key.public_half());
  const auto half = key.public_half();
  CHECK(half.size() == 4);  // nothing of the private one
  CHECK(read_jwt(kept->token("ES256", json::object(), {{"a", 1}}),
                 key_of_jwk(half)));
  CHECK(signing_key::make().public_half() != half);
}

TEST_CASE("a proof is of one request, and never the same twice") {
  const auto key = signing_key::make();
  dpop_nonces nonces;
  nonces.note("https://a.b/token", "of-the-giver");
  std::set<std::string> ids;
  for (int i = 0; i < 50; ++i) {
    const auto read =
        read_jwt(dpop_proof(key, "POST", "https://A.b:443/t?q=1#f", {}, nonces),
                 key_of_jwk(key.public_half()));
    REQUIRE(read.has_value());
    CHECK(read->header == json{{"typ", "dpop+jwt"},
                               {"alg", "ES256"},
                               {"jwk", key.public_half()}});
    CHECK(read->claims["htm"] == "POST");
    CHECK(read->claims["htu"] == "https://a.b/t");
    CHECK(read->claims["nonce"] == "of-the-giver");
    CHECK_FALSE(read->claims.contains("ath"));
    ids.insert(read->claims["jti"]);
  }
  CHECK(ids.size() == 50);
  const auto other = read_jwt(dpop_proof(key, "GET", "https://c.d/mcp",
                                         "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp"
                                         "~zsPE_NeO.gxU",
                                         nonces),
                              key_of_jwk(key.public_half()));
  REQUIRE(other.has_value());
  // RFC 9449, 7.1.
  CHECK(other->claims["ath"] == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo");
  CHECK_FALSE(other->claims.contains("nonce"));
}

TEST_CASE("what servers want in a proof is kept for each, as it can be sent") {
  dpop_nonces x;
  CHECK(x.note("https://a.b/x", "one"));
  CHECK(x.note("https://a.b:8443/x", "two"));
  CHECK(x.note("https://A.b/y", "three"));
  CHECK(x.of("https://a.b/z") == "three");
  CHECK(x.of("https://a.b:8443") == "two");
  CHECK(x.of("https://c.d").empty());
  for (const auto& bad : {std::string{}, std::string{"a\r\nb"},
                          std::string{"a\"b"}, std::string(5000, 'a')})
    CHECK_FALSE(x.note("https://a.b", bad));
  CHECK(x.of("https://a.b") == "three");
}

TEST_CASE("tokens are bound where the server can, or where they must be") {
  const std::vector<std::string> knows{"RS256", "ES256"};
  const std::vector<std::string> other{"RS256"};
  CHECK(binds_token(dpop_use::automatic, false, knows) == true);
  CHECK(binds_token(dpop_use::automatic, false, other) == false);
  CHECK(binds_token(dpop_use::automatic, false, {}) == false);
  CHECK(binds_token(dpop_use::automatic, true, {}) == true);
  CHECK(binds_token(dpop_use::never, false, knows) == false);
  CHECK(binds_token(dpop_use::always, false, knows) == true);
  CHECK(binds_token(dpop_use::always, false, {}) == true);
  const auto why = [&](dpop_use use, bool bound_only) {
    const auto x = binds_token(use, bound_only, other);
    return x ? "nothing" : x.error().message;
  };
  CHECK(why(dpop_use::always, false).ends_with("\"always\" wants that"));
  CHECK(why(dpop_use::automatic, true).ends_with("the server takes no other"));
  CHECK(why(dpop_use::never, true).ends_with("take that out"));
}

TEST_CASE("a challenge of DPoP is read, and counts before that for bearers") {
  CHECK(read_challenge("DPoP resource_metadata=\"https://a.b/m\"") ==
        challenge{"https://a.b/m", "", "", true});
  CHECK(read_challenge("Bearer error=\"invalid_token\", scope=\"a\", DPoP "
                       "error=\"use_dpop_nonce\", algs=\"ES256\"") ==
        challenge{"", "a", "use_dpop_nonce", true});
  CHECK(read_challenge("DPoP error=\"use_dpop_nonce\", Bearer "
                       "error=\"invalid_token\", scope=\"a\"") ==
        challenge{"", "a", "use_dpop_nonce", true});
}
