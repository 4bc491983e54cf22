// SPDX-License-Identifier: MIT
// Tokens without a person, over real sockets: what is asked for, with what, and
// where no secret goes.
#include "tools/mcp/oauth/unattended.hpp"

#include <atomic>
#include <thread>

#include "tests/mcp/robot.hpp"
#include "tests/support/jwt_reader.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::mcp;
using namespace riffle::mcp::at_login;
using oauth::unattended_grant;
using riffle::testing::log_lines;
using riffle::testing::new_pem;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST_CASE("a program gets its own token with its secret, when it is needed") {
  robot x;
  x.with_secret();
  const auto who = x.entry();
  CHECK(x.forms().empty());
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(who->exchange(x.request()).status == 200);
  REQUIRE(x.forms().size() == 1);
  CHECK(x.forms()[0] ==
        std::map<std::string, std::string>{{"grant_type", "client_credentials"},
                                           {"scope", "read"},
                                           {"resource", x.world.server()}});
  // Nothing is asked of who registers programs.
  CHECK(x.world.forms("/register").empty());
}

TEST_CASE("a secret goes into the form where a server wants it there") {
  robot x;
  x.with_secret();
  x.world.change([](auto& r) { r.client_auth = "client_secret_post"; });
  x.how.scope = "read write";
  CHECK(x.entry()->exchange(x.request("write")).status == 200);
  REQUIRE(x.forms().size() == 1);
  CHECK(x.forms()[0].at("client_secret") == "canary-secret:5%41 + robot");
  CHECK(x.forms()[0].at("client_id") == "robot");
  CHECK(x.forms()[0].at("scope") == "read write");
}

TEST_CASE("a program shows its key by what it signs, each time anew") {
  for (const auto* kind : {"P-256", "RSA", "ED25519"}) {
    CAPTURE(kind);
    const auto pem = new_pem(kind);
    oauth_rules rules;
    rules.client_auth = "private_key_jwt";
    rules.client_pem = pem;
    robot x{rules};
    x.how.private_key = text(pem);
    x.how.key_id = "key-1";
    const auto who = x.entry();
    CHECK(who->exchange(x.request()).status == 200);
    x.world.forget_tokens();
    CHECK(who->exchange(x.request()).status == 200);
    REQUIRE(x.forms().size() == 2);
    const auto one =
        riffle::testing::read_unsigned_jwt(x.forms()[0].at("client_assertion"));
    CHECK(one->header.at("kid") == "key-1");
    CHECK(one->claims.at("exp").get<int>() - one->claims.at("iat").get<int>() ==
          60);
    // Another key is not believed.
    x.how.private_key = text(new_pem(kind));
    CHECK(has_part(x.problem(), "invalid_client"));
  }
}

TEST_CASE("a program's key that the server does not take is told") {
  robot x;
  x.how.private_key = text(new_pem("P-256"));
  x.world.change([](auto& r) { r.client_auth = "client_secret_basic"; });
  CHECK(has_part(x.problem(),
                 "takes no signature of a client, but: client_secret_basic"));
  x.world.change([](auto& r) {
    r.client_auth = "private_key_jwt";
    r.server_lie = {
        {"token_endpoint_auth_signing_alg_values_supported", {"RS256"}}};
  });
  CHECK(
      has_part(x.problem(), "takes no ES256 of the client's key, but: RS256"));
  x.how.private_key = text("canary-of-no-key");
  CHECK(has_part(x.problem(), "auth.private_key_env gives is no private key"));
  CHECK_FALSE(has_part(x.problem(), "canary"));
  x.how.private_key = {};
  x.how.client_secret = text("canary-secret");
  CHECK(has_part(x.problem(), "give auth.private_key_file instead"));
  CHECK(x.forms().empty());
}

TEST_CASE("a server without logins, codes and PKCE gives programs a token") {
  robot x;
  x.with_secret();
  x.world.change([](auto& r) {
    r.server_lie = {{"authorization_endpoint", nullptr},
                    {"code_challenge_methods_supported", nullptr}};
  });
  CHECK(x.entry()->exchange(x.request()).status == 200);
}

TEST_CASE("many calls of a program without a token ask once") {
  robot x;
  x.with_secret();
  const auto who = x.entry();
  const auto all_at_once = [&] {
    std::atomic<int> good{0};
    {
      std::vector<std::jthread> all;
      for (int i = 0; i < 16; ++i)
        all.emplace_back([&] {
          if (who->exchange(x.request()).status == 200) ++good;
        });
    }
    return good.load();
  };
  CHECK(all_at_once() == 16);
  CHECK(x.forms().size() == 1);
  x.world.forget_tokens();
  CHECK(all_at_once() == 16);
  CHECK(x.forms().size() == 2);
}

TEST_CASE("a program's token that ends soon is asked for again in time") {
  robot x;
  x.with_secret();
  x.least_life = {};
  x.world.change([](auto& r) { r.life = 1; });  // all of it is its last tenth
  const auto who = x.entry();
  CHECK(who->exchange(x.request()).status == 200);
  x.world.change([](auto& r) { r.life = 0; });
  const auto until = steady_clock::now() + seconds{10};
  while (x.forms().size() < 2 && steady_clock::now() < until)
    CHECK(who->exchange(x.request()).status == 200);
  CHECK(x.forms().size() == 2);
  // Though this server gives refresh tokens: it asks as the first time.
  CHECK(x.forms()[1].at("grant_type") == "client_credentials");
}

TEST_CASE("a refused secret is told, and not shown again at once") {
  robot x;
  x.with_secret();
  x.world.change([](auto& r) { r.client_auth = "client_secret_post"; });
  x.world.change([](auto& r) {
    r.server_lie = {
        {"token_endpoint_auth_methods_supported", {"client_secret_basic"}}};
  });
  const auto who = x.entry();
  for (int i = 0; i < 3; ++i) {
    const auto end = who->exchange(x.request());
    CHECK(end.status == 401);
    CHECK(has_part(end.advice,
                   "it gets no token: the authorization server "
                   "gives no token: HTTP 400, invalid_client"));
  }
  CHECK(x.forms().size() == 1);
}

TEST_CASE("a program's token that allows too little says what to change") {
  robot x;
  x.with_secret();
  CHECK(x.entry()->exchange(x.request("write")).advice ==
        "its token allows too little: it needs the scope write, which "
        "mcp.web.auth.scope has to name");
}

TEST_CASE("no secret goes to a host that nobody has named") {
  riffle::testing::http_server thief{
      [](const auto&) { return riffle::testing::http_reply::text("", 404); }};
  robot x;
  x.with_secret();
  x.how.issuer.clear();
  // Another port is another giver; another name for the same machine is another
  // host all the same.
  auto named = x.world.issuer();
  named.replace(named.find("127.0.0.1"), 9, "localhost");
  x.world.change([&](auto& r) {
    r.resource_lie = {{"authorization_servers", {named}}};
    r.server_lie = {{"issuer", named}};
  });
  CHECK(has_part(x.problem(), "the server names " + named +
                                  " as who gives its tokens: if that is "
                                  "right, say so in auth.issuer"));
  CHECK(x.forms().empty());
  x.how.issuer = named;
  CHECK(x.problem() == "a token");
  x.how.issuer = thief.url("");
  CHECK(has_part(x.problem(), "does not name " + thief.url("")));
  CHECK(x.forms().size() == 1);
  CHECK(thief.requests().empty());
}

TEST_CASE("a token of the workload is read anew each time") {
  robot x;
  x.how.grant = unattended_grant::workload_identity;
  int count = 0;
  x.how.identity = [&]() -> expected<std::string> {
    return "canary-workload-" + std::to_string(++count);
  };
  x.world.change([](auto& r) { r.assertion = "canary-workload-1"; });
  const auto who = x.entry();
  CHECK(who->exchange(x.request()).status == 200);
  x.world.change([](auto& r) { r.assertion = "canary-workload-2"; });
  x.world.forget_tokens();
  CHECK(who->exchange(x.request()).status == 200);
  REQUIRE(x.forms().size() == 2);
  CHECK(x.forms()[1] ==
        std::map<std::string, std::string>{
            {"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
            {"assertion", "canary-workload-2"},
            {"client_id", "robot"},
            {"scope", "read"},
            {"resource", x.world.server()}});
  // One that is refused is not sent twice.
  x.world.forget_tokens();
  x.world.change([](auto& r) { r.assertion = "another"; });
  for (int i = 0; i < 3; ++i)
    CHECK(has_part(who->exchange(x.request()).advice, "invalid_grant"));
  CHECK(x.forms().size() == 3);
}

TEST_CASE("what is no token of a workload is not sent") {
  robot x;
  x.how.grant = unattended_grant::workload_identity;
  for (const auto* bad : {"", "two words", "a\nb"}) {
    x.how.identity = text(bad);
    CHECK(has_part(x.problem(), "auth.token_env gives is no token"));
  }
  CHECK(x.forms().empty());
}

TEST_CASE("a program's tokens are bound to a key that it keeps to itself") {
  robot x;
  x.with_secret();
  x.world.change([](auto& r) { r.binds = true; });
  const auto who = x.entry();
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(who->exchange(x.request()).status == 200);
  x.world.forget_tokens();
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(x.world.bad_proofs().empty());
  CHECK(x.world.good_proofs() == 6);  // two tokens, four requests
  x.how.dpop = oauth::dpop_use::never;
  CHECK(x.entry()->exchange(x.request()).status == 200);
  CHECK(x.world.good_proofs() == 6);
}

TEST_CASE("a token for any bearer is refused where it has to be bound") {
  robot x;
  x.with_secret();
  x.how.dpop = oauth::dpop_use::always;
  CHECK(has_part(x.problem(), "a token for any bearer"));
  x.how.dpop = oauth::dpop_use::automatic;
  CHECK(x.problem() == "a token");
  x.world.change([](auto& r) {
    r.resource_lie = {{"dpop_bound_access_tokens_required", true}};
  });
  CHECK(has_part(x.problem(), "a token for any bearer"));
}

TEST_CASE("no secret of a program stands in a log or an error") {
  log_lines log{"trace"};
  std::string said;
  {
    const auto pem = new_pem("P-256");
    oauth_rules rules;
    rules.client_auth = "private_key_jwt";
    rules.client_pem = pem;
    rules.binds = true;
    robot x{rules};
    x.how.private_key = text(pem);
    const auto who = x.entry();
    CHECK(who->exchange(x.request()).status == 200);
    x.world.change([](auto& r) { r.client_pem = new_pem("P-256"); });
    x.world.forget_tokens();
    said += who->exchange(x.request()).advice;
    for (const auto& secret : x.world.secrets())
      CHECK_FALSE(has_part(said + log.text(), secret));
    CHECK_FALSE(has_part(said + log.text(), pem.substr(60, 40)));
  }
  CHECK(has_part(said, "invalid_client"));
  CHECK(has_part(log.text(), "it gets no token"));
}
