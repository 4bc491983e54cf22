// SPDX-License-Identifier: MIT
// Tokens without a person over a long time: those that are refused, that end
// at once, that are bound no more; and keys that do not sign.
#include <algorithm>
#include <stdexcept>

#include "runtime/base/secrets.hpp"
#include "tests/mcp/robot.hpp"
#include "tests/support/jwt_reader.hpp"

using namespace riffle;
using namespace riffle::mcp;
using namespace riffle::mcp::at_login;
using riffle::testing::new_pem;

TEST_CASE("a new token that nobody takes is followed by another in a while") {
  robot x;
  x.with_secret();
  x.pause = std::chrono::milliseconds{200};
  x.world.change([](auto& r) { r.forgets = true; });
  const auto who = x.entry();
  const auto end = who->exchange(x.request());
  CHECK(end.status == 401);
  CHECK(has_part(end.advice,
                 "not accepted, though it was just given: look at the issuer "
                 "and the scope in mcp.web.auth"));
  x.world.change([](auto& r) { r.forgets = false; });
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds{20};
  auto status = 401;
  while (status == 401 && std::chrono::steady_clock::now() < until)
    status = who->exchange(x.request()).status;
  CHECK(status == 200);
}

TEST_CASE("a new token that nobody takes is not asked for in a loop") {
  robot x;
  x.with_secret();
  x.world.change([](auto& r) { r.forgets = true; });
  const auto who = x.entry();
  for (int i = 0; i < 5; ++i) CHECK(who->exchange(x.request()).status == 401);
  CHECK(x.forms().size() == 1);
}

TEST_CASE("a server that has moved to another giver is looked at again") {
  robot x;
  x.with_secret();
  x.pause = {};
  const auto who = x.entry();
  CHECK(who->exchange(x.request()).status == 200);
  const auto looked = [&] {
    std::size_t out = 0;
    for (const auto& one : x.world.server_requests())
      if (has_part(one.target, "oauth-protected-resource")) ++out;
    return out;
  };
  CHECK(looked() == 1);
  x.world.change([](auto& r) { r.forgets = true; });
  x.world.forget_tokens();
  CHECK(who->exchange(x.request()).status == 401);
  CHECK(looked() == 1);
  x.world.change([](auto& r) { r.forgets = false; });
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(looked() == 2);
}

TEST_CASE("tokens that end at once are not asked for with each request") {
  robot x;
  x.with_secret();
  x.world.change([](auto& r) { r.life = -1; });
  const auto who = x.entry();
  for (int i = 0; i < 50; ++i) CHECK(who->exchange(x.request()).status == 200);
  CHECK(x.forms().size() == 1);
  // A refusal counts at once.
  x.world.forget_tokens();
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(x.forms().size() == 2);
}

TEST_CASE("a giver that wants another proof gets another signature, too") {
  const auto pem = new_pem("P-256");
  oauth_rules rules;
  rules.client_auth = "private_key_jwt";
  rules.client_pem = pem;
  rules.binds = true;
  rules.giver_nonce = "nonce-of-giver";
  robot x{rules};
  x.how.private_key = text(pem);
  CHECK(x.problem() == "a token");
  REQUIRE(x.forms().size() == 2);
  CHECK(x.forms()[0].at("client_assertion") !=
        x.forms()[1].at("client_assertion"));
}

TEST_CASE("a program's bound token is not exchanged for one of any bearer") {
  robot x;
  x.with_secret();
  x.pause = {};
  x.world.change([](auto& r) { r.binds = true; });
  const auto who = x.entry();
  CHECK(who->exchange(x.request()).status == 200);
  x.world.change([](auto& r) { r.binds = false; });
  x.world.forget_tokens();
  CHECK(has_part(who->exchange(x.request()).advice, "a token for any bearer"));
  CHECK(has_part(who->exchange(x.request()).advice,
                 "has bound tokens to a key (DPoP), and says now"));
  for (const auto& one : x.world.server_requests())
    CHECK_FALSE(one.header("authorization").starts_with("Bearer "));
}

TEST_CASE("a program's server that knows bearers alone is told what to set") {
  robot x;
  x.with_secret();
  x.world.change([](auto& r) {
    r.binds = true;
    r.bears = true;
  });
  CHECK(has_part(x.entry()->exchange(x.request()).advice,
                 "set mcp.web.auth.dpop = \"never\""));
  x.how.dpop = oauth::dpop_use::never;
  CHECK(x.entry()->exchange(x.request()).status == 200);
}

TEST_CASE("a server that takes bound tokens alone rules out \"never\"") {
  robot x;
  x.with_secret();
  x.how.dpop = oauth::dpop_use::never;
  x.world.change([](auto& r) {
    r.resource_lie = {{"dpop_bound_access_tokens_required", true}};
  });
  CHECK(has_part(x.problem(), "auth.dpop = \"never\" rules out"));
  CHECK(x.forms().empty());
}

TEST_CASE("old tokens and assertions are no secrets for ever") {
  const auto pem = new_pem("P-256");
  oauth_rules rules;
  rules.client_auth = "private_key_jwt";
  rules.client_pem = pem;
  rules.refreshes = false;
  robot x{rules};
  x.how.private_key = text(pem);
  const auto who = x.entry();
  for (int i = 0; i < 30; ++i) {
    x.world.forget_tokens();
    CHECK(who->exchange(x.request()).status == 200);
  }
  std::vector<std::string> hidden;
  const auto all = x.world.secrets();
  for (const auto& one : all) {
    // Assertions begin alike: that of an old one is hidden with a new one's;
    // tokens of other tests begin like these.
    const auto end =
        one.substr(one.rfind(one.starts_with("canary") ? '-' : '.') + 1);
    if (!has_part(redact("> " + one + " <"), end)) hidden.push_back(one);
  }
  CHECK(all.size() == 60);
  // The last ones of both kinds.
  CHECK(hidden.size() == 2 * oauth::passing_secrets::most);
  CHECK(hidden == std::vector(all.end() - std::ssize(hidden), all.end()));
}

TEST_CASE("a key that does not sign is told, and ends no process") {
  robot x;
  x.world.change([](auto& r) { r.client_auth = "private_key_jwt"; });
  x.how.private_key = text(riffle::testing::broken_pem());
  const auto end = x.entry()->exchange(x.request());
  CHECK(end.status == 401);
  CHECK(has_part(end.advice, "gives is a key that does not sign"));
}

TEST_CASE("what is thrown where a token is asked for ends no process") {
  robot x;
  token_holder_options options;
  options.name = "web";
  options.server = x.world.server();
  options.ask = [](const auto&, bool) -> expected<oauth::login> {
    throw std::runtime_error{"no random bytes"};
  };
  token_holder who{std::move(options)};
  CHECK(has_part(who.exchange(x.request()).advice, "no random bytes"));
}
