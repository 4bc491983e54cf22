// SPDX-License-Identifier: MIT
// Tokens without a person, over real sockets: what is asked for, with what, and
// where no secret goes.
#include "tools/mcp/oauth/unattended.hpp"

#include <atomic>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/jwt_reader.hpp"
#include "tests/support/log_lines.hpp"
#include "tests/support/oauth_world.hpp"
#include "tools/mcp/token_holder.hpp"

using namespace riffle;
using namespace riffle::mcp;
using riffle::testing::log_lines;
using riffle::testing::new_pem;
using riffle::testing::oauth_rules;
using riffle::testing::oauth_world;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

using oauth::unattended_grant;

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

oauth::secret_source text(std::string x) {
  return [x = std::move(x)]() -> expected<std::string> { return x; };
}

/// A program without a person at a server that wants tokens.
struct robot {
  explicit robot(oauth_rules rules = {}) : world{std::move(rules)} {
    how.server = world.server();
    how.client_id = "robot";
  }

  void with_secret() {
    world.change([](auto& x) { x.client_auth = "client_secret_basic"; });
    how.client_secret = text("canary-secret-of-robot");
  }

  std::shared_ptr<token_holder> entry() {
    const auto from = std::make_shared<oauth::unattended>(how);
    token_holder_options options;
    options.name = "web";
    options.server = world.server();
    options.ask = [from](const std::stop_token& stop) {
      return from->ask(stop);
    };
    return std::make_shared<token_holder>(std::move(options));
  }

  /// Why there is no token.
  std::string problem() {
    const auto got = oauth::unattended{how}.ask({});
    return got ? "a token" : got.error().message;
  }

  exchange_request request(const std::string& tool = "read") const {
    exchange_request x;
    x.url = world.server();
    x.body = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{)"
             R"("name":")" +
             tool + "\"}}";
    x.until = steady_clock::now() + seconds{20};
    return x;
  }

  std::vector<std::map<std::string, std::string>> forms() const {
    return world.forms("/token");
  }

  oauth_world world;
  oauth::unattended_options how;
};

}  // namespace

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
  CHECK(x.forms()[0].at("client_secret") == "canary-secret-of-robot");
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
        testing::read_unsigned_jwt(x.forms()[0].at("client_assertion"));
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
  testing::http_server thief{
      [](const auto&) { return testing::http_reply::text("", 404); }};
  robot x;
  x.with_secret();
  // Another name for the same machine is another host all the same.
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

namespace {

/// Who knows the people of a company.
struct company {
  std::vector<std::map<std::string, std::string>> asked() const {
    std::vector<std::map<std::string, std::string>> out;
    for (const auto& one : idp.requests())
      if (one.target == "/token") out.push_back(testing::read_form(one.body));
    return out;
  }

  testing::http_server idp{[this](const testing::http_request& x) {
    using testing::http_reply;
    if (x.target == "/.well-known/openid-configuration")
      return http_reply::json(json{
          {"issuer", idp.url("")},
          {"token_endpoint",
           idp.url("/token")}}.dump());
    if (x.target != "/token") return http_reply::text("", 404);
    const auto form = testing::read_form(x.body);
    if (form.at("subject_token") != "canary-id-token")
      return http_reply::json(R"({"error":"invalid_grant"})", 400);
    return http_reply::json(json{{"access_token", "canary-id-jag"},
                                 {"issued_token_type", kind},
                                 {"token_type", "N_A"}}
                                .dump());
  }};
  std::string kind = "urn:ietf:params:oauth:token-type:id-jag";
};

}  // namespace

TEST_CASE("a company's token of a person is exchanged, then used") {
  company work;
  robot x;
  x.with_secret();
  x.how.grant = unattended_grant::enterprise;
  x.how.identity = text("canary-id-token");
  x.how.idp = work.idp.url("");
  x.how.idp_client_id = "riffle-at-work";
  x.how.idp_client_secret = text("canary-secret-at-work");
  x.world.change([](auto& r) { r.assertion = "canary-id-jag"; });
  CHECK(x.entry()->exchange(x.request()).status == 200);
  REQUIRE(work.asked().size() == 1);
  CHECK(work.asked()[0] ==
        std::map<std::string, std::string>{
            {"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
            {"requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"},
            {"audience", x.world.issuer()},
            {"resource", x.world.server()},
            {"subject_token", "canary-id-token"},
            {"subject_token_type", "urn:ietf:params:oauth:token-type:id_token"},
            {"scope", "read"}});
  CHECK(
      work.idp.requests().back().header("authorization").starts_with("Basic "));
  REQUIRE(x.forms().size() == 1);
  CHECK(x.forms()[0].at("assertion") == "canary-id-jag");
  // The token of the person is for the company alone.
  for (const auto& one : x.world.giver_requests())
    CHECK_FALSE(has_part(one.body, "canary-id-token"));
  work.kind = "urn:ietf:params:oauth:token-type:access_token";
  CHECK(has_part(x.problem(), "holds no ID-JAG"));
  x.how.identity = text("canary-of-somebody");
  CHECK(has_part(x.problem(),
                 "the identity provider gives nothing for the "
                 "token in auth.token_file"));
  CHECK(x.forms().size() == 1);
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
