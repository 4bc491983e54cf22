// SPDX-License-Identifier: MIT
// What servers say of logins, and what is believed of it. Pure.
#include <set>

#include "runtime/base/clock.hpp"
#include "runtime/base/secrets.hpp"
#include "tests/support/catch.hpp"
#include "tools/mcp/http_answers.hpp"
#include "tools/mcp/oauth/challenge.hpp"
#include "tools/mcp/oauth/grants.hpp"
#include "tools/mcp/oauth/token_request.hpp"
#include "tools/mcp/oauth/way_back.hpp"

using namespace riffle;
using namespace riffle::mcp::oauth;
using riffle::mcp::exchange_end;
using riffle::mcp::status_text;

TEST_CASE("a challenge is read wherever it stands, and only a bearer's") {
  CHECK(read_challenge(
            "Bearer resource_metadata=\"https://a/b\", scope=\"x y\"") ==
        challenge{"https://a/b", "x y", ""});
  CHECK(read_challenge("bEARER error=invalid_token") ==
        challenge{"", "", "invalid_token"});
  CHECK(read_challenge("Basic realm=\"a, Bearer scope=b\", scope=\"no\", "
                       "Bearer  error = \"e\\\"f\" ,scope=\"s\", Digest "
                       "scope=\"d\"") == challenge{"", "s", "e\"f"});
  CHECK(read_challenge("Bearer") == challenge{});
  CHECK(read_challenge("Bearer scope=\"never ends") ==
        challenge{"", "never ends", ""});
  CHECK(read_challenge("Bearer scope=\"x\\") == challenge{"", "x\\", ""});
  CHECK(read_challenge("Bearer scope=" + std::string(5000, 'x')) ==
        challenge{});
  CHECK(read_challenge(", ,=,\",\"") == challenge{});
  CHECK(read_challenge("") == challenge{});
}

TEST_CASE("scopes that are printed for a shell hold nothing that it obeys") {
  CHECK(plain_scopes("files:read api/v2.x+y") == "files:read api/v2.x+y");
  for (const auto* x : {"a$(b)", "a`b`", "a\"b", "a'b", "a;b", "a\nb", "a\\b",
                        "a!b", "a\xC3\xA9"})
    CHECK(plain_scopes(x).empty());
  CHECK(with_scopes("a b", "b  c ") == "a b c");
  CHECK(with_scopes("", "") == "");
}

TEST_CASE("metadata is looked for where the standards say, in their order") {
  using all = std::vector<std::string>;
  const std::string known = "https://a.b:8/.well-known/";
  CHECK(resource_metadata_urls("https://A.b:8/x/mcp?q=1#f") ==
        all{known + "oauth-protected-resource/x/mcp",
            known + "oauth-protected-resource"});
  CHECK(resource_metadata_urls("https://a.b:8") ==
        all{known + "oauth-protected-resource"});
  CHECK(authorization_metadata_urls("https://a.b:8/") ==
        all{known + "oauth-authorization-server",
            known + "openid-configuration"});
  CHECK(authorization_metadata_urls("https://a.b:8/t") ==
        all{known + "oauth-authorization-server/t",
            known + "openid-configuration/t",
            "https://a.b:8/t/.well-known/openid-configuration"});
  CHECK(resource_metadata_urls("file:///etc/passwd").empty());
}

TEST_CASE("metadata of another resource is refused") {
  const auto reads = [](const char* resource, const char* server) {
    return read_resource_metadata(json{{"resource", resource}}, server)
        .has_value();
  };
  CHECK(reads("https://a.b/mcp", "https://a.b/mcp"));
  CHECK(reads("https://a.b/", "https://a.b/mcp"));
  CHECK(reads("https://a.b", "https://a.b:443/mcp/x"));
  CHECK_FALSE(reads("https://a.b/mc", "https://a.b/mcp"));
  CHECK_FALSE(reads("https://a.b/mcp/x", "https://a.b/mcp"));
  CHECK_FALSE(reads("https://c.b/mcp", "https://a.b/mcp"));
  CHECK_FALSE(reads("http://a.b/mcp", "https://a.b/mcp"));
  CHECK_FALSE(reads("https://a.b:8/mcp", "https://a.b/mcp"));
  CHECK_FALSE(reads("", "https://a.b/mcp"));
}

TEST_CASE("metadata of another issuer, or without PKCE, is refused") {
  const json good = {{"issuer", "https://a.b/t"},
                     {"authorization_endpoint", "https://a.b/auth"},
                     {"token_endpoint", "https://a.b/token"},
                     {"code_challenge_methods_supported", {"plain", "S256"}}};
  const auto reads = [](json x, const char* key, const json& value,
                        const char* issuer = "https://a.b/t") {
    x[key] = value;
    const auto read = read_authorization_metadata(x, issuer);
    return read && fit_for_logins(*read);
  };
  CHECK(reads(good, "x", 1));
  CHECK(reads(good, "issuer", "https://a.b/t/"));
  CHECK(reads(good, "issuer", "https://else.where", ""));
  CHECK_FALSE(reads(good, "issuer", "https://else.where"));
  CHECK_FALSE(reads(good, "code_challenge_methods_supported", {"plain"}));
  CHECK_FALSE(reads(good, "code_challenge_methods_supported", "S256"));
  CHECK_FALSE(reads(good, "token_endpoint", ""));
  CHECK_FALSE(reads(good, "authorization_endpoint", 1));
  CHECK_FALSE(read_authorization_metadata(json::array(), "").has_value());
}

TEST_CASE("an answer without its state changes nothing") {
  const way_back::expectation want{"s+/=", "https://a.b", false};
  const auto said = [&](const std::string& target) {
    return read_answer(target, want);
  };
  CHECK(said("/callback?state=s%2B%2F%3D&code=c").code == "c");
  CHECK(said("/callback?code=c%26&state=s%2B%2f%3d&iss=https%3A//a.b").code ==
        "c&");
  for (const auto* x :
       {"/callback?code=c", "/callback?state=&code=c", "/callback",
        "/callback?state=S%2B%2F%3D&code=c", "/other?state=s%2B%2F%3D&code=c",
        "/callback?state=s%2B%2F%3Dx&code=c", "/callback/?state=s%2B%2F%3D",
        "/callback?state=x&state=s%2B%2F%3D&code=c", "", "/callback?%"})
    CHECK_FALSE(said(x).ours);
  const std::string ours = "/callback?state=s%2B%2F%3D";
  CHECK(said(ours).refusal == "the answer holds no code");
  CHECK(said(ours + "&error=access_denied&error_description=not+you&code=c")
            .refusal ==
        "the authorization server says no: access_denied: not you");
  CHECK(said(ours + "&code=c&iss=https://e.f").refusal ==
        "the answer is of another authorization server");
  CHECK(said(ours + "&error=e&iss=https://e.f").refusal ==
        "the answer is of another authorization server");
  CHECK(read_answer(ours + "&code=c", {"s+/=", "https://a.b", true}).refusal ==
        "the answer is of another authorization server");
  CHECK_FALSE(read_answer("/callback?state=&code=c", {"", "", false}).ours);
}

TEST_CASE("a proof is as RFC 7636 has it, and never the same twice") {
  // Its appendix B.
  CHECK(challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") ==
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  std::set<std::string> all;
  for (int i = 0; i < 100; ++i) {
    const auto x = make_proof();
    CHECK(x.verifier.size() == 43);
    CHECK(x.challenge == challenge_of(x.verifier));
    all.insert(x.verifier);
  }
  CHECK(all.size() == 100);
}

TEST_CASE("a token is made new when a tenth of its life is left") {
  login x;
  x.issued_at = 1000;
  const auto at = [](std::int64_t s) { return wall_time{s * 1'000'000}; };
  CHECK_FALSE(ends_soon(x, at(1'000'000)));
  x.expires_at = 1100;
  CHECK_FALSE(ends_soon(x, at(1089)));
  CHECK(ends_soon(x, at(1090)));
  x.expires_at = 1000 + 86'400;
  CHECK_FALSE(ends_soon(x, at(*x.expires_at - 61)));
  CHECK(ends_soon(x, at(*x.expires_at - 60)));
  x.expires_at = 900;  // it never lived
  CHECK(ends_soon(x, at(1000)));
}

TEST_CASE("a login asks only where a token may go") {
  const auto refused = [](const char* server, const char* url) {
    return reach{server, {}}.refusal(url).has_value();
  };
  CHECK_FALSE(refused("https://a.b/mcp", "https://c.d/token"));
  CHECK_FALSE(refused("http://127.0.0.1:1/mcp", "http://127.0.0.1:2/token"));
  CHECK_FALSE(refused("http://localhost:1/mcp", "http://[::1]:2/token"));
  for (const auto* x :
       {"http://c.d/token", "https://127.0.0.1:8/token", "https://[::1]/t",
        "https://10.0.0.1/token", "https://169.254.169.254/latest",
        "http://127.1:8/token", "https://2130706433:8080/",
        "file:///etc/passwd", "javascript:alert(1)", "https://u:p@c.d/token",
        "https://c.d:22/token", ""})
    CHECK(refused("https://a.b/mcp", x));
  CHECK(refused("http://127.0.0.1:1/mcp", "http://10.0.0.1/token"));
  CHECK(refused("http://127.0.0.1:1/mcp", "http://c.d/token"));
  // Its own host is where the person sent us.
  CHECK_FALSE(refused("https://10.0.0.1:8443/mcp", "https://10.0.0.1:8443/x"));
  CHECK(refused("https://10.0.0.1:8443/mcp", "https://10.0.0.1:9000/x"));
  CHECK(refused("http://10.0.0.1:8080/mcp", "http://10.0.0.1:8080/x"));
  const reach allowed{"https://a.b/mcp", {*parse_endpoint("10.0.0.0/8")}};
  CHECK_FALSE(allowed.refusal("https://10.0.0.1/token"));
}

TEST_CASE("what a server echoes of a secret is hidden before it is cut") {
  const std::string secret = "CANARYsecret0123456789";
  add_secret(secret);
  const auto begins = [&](const std::string& text) {
    return text.find(secret.substr(0, 4)) != std::string::npos;
  };
  for (std::size_t before = 70; before < 310; ++before) {
    CAPTURE(before);
    const auto echo = std::string(before, 'x') + secret;
    CHECK_FALSE(begins(words_of({400, {{"error", echo}}})));
    CHECK_FALSE(begins(
        words_of({400, {{"error", "no"}, {"error_description", echo}}})));
    exchange_end failed;
    failed.status = 500;
    failed.body = echo;
    CHECK_FALSE(begins(status_text(failed)));
  }
}
