// SPDX-License-Identifier: MIT
// Tokens of a login that are bound to a key (RFC 9449): proofs, what servers
// want in them, and no way back.
#include "tests/mcp/login_place.hpp"

using namespace riffle;
using namespace riffle::mcp;
using namespace riffle::mcp::at_login;

namespace {

oauth_rules bound(const std::string& giver = {}, const std::string& at = {}) {
  oauth_rules rules;
  rules.binds = true;
  rules.giver_nonce = giver;
  rules.server_nonce = at;
  return rules;
}

}  // namespace

TEST_CASE("a login's token is bound to a key where its giver can do that") {
  place x{bound()};
  x.log_in();
  served web{x};
  CHECK(web.call("read").text == "did read");
  x.world.forget_tokens();
  CHECK(web.call("read").text == "did read");
  CHECK(x.world.bad_proofs().empty());
  for (const auto& request : x.world.server_requests()) {
    const std::string header{request.header("authorization")};
    CHECK((header.empty() || header.starts_with("DPoP ")));
  }
  const auto kept = oauth::read_login(x.file, x.world.server());
  REQUIRE(kept.has_value());
  CHECK(kept->bound_only);
  CHECK(oauth::dpop_key_of(*kept).has_value());
  CHECK((std::filesystem::status(x.file).permissions() &
         std::filesystem::perms::mask) ==
        (std::filesystem::perms::owner_read |
         std::filesystem::perms::owner_write));
  // Another process has the same key.
  CHECK(x.entry()->exchange(x.request()).status == 200);
  CHECK(x.world.bad_proofs().empty());
}

TEST_CASE("what a server wants in proofs is given to it, and remembered") {
  place x{bound("nonce-of-giver", "nonce-of-server")};
  x.log_in();
  CHECK(x.sent_to_giver() == 2);
  const auto who = x.entry();
  const auto asked = [&] { return x.world.server_requests().size(); };
  auto before = asked();
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(asked() - before == 2);
  before = asked();
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(asked() - before == 1);
  // Another one takes its place; no token is asked for because of it.
  x.world.change([](auto& rules) { rules.server_nonce = "another"; });
  before = asked();
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(asked() - before == 2);
  CHECK(x.sent_to_giver() == 2);
  CHECK(x.world.bad_proofs().empty());
}

TEST_CASE("a server that is never pleased with a proof is asked twice") {
  place x{bound({}, "nonce-of-server")};
  x.log_in();
  x.world.change([](auto& rules) { rules.displeased = true; });
  const auto who = x.entry();
  const auto given = x.sent_to_giver();
  auto before = x.world.server_requests().size();
  CHECK(who->exchange(x.request()).status == 401);
  CHECK(x.world.server_requests().size() - before == 2);
  // What cannot be sent is not tried.
  x.world.change([](auto& rules) { rules.server_nonce = "a b"; });
  before = x.world.server_requests().size();
  CHECK(who->exchange(x.request()).status == 401);
  CHECK(x.world.server_requests().size() - before == 1);
  // Another token would be refused for the same reason.
  CHECK(x.sent_to_giver() == given);
}

TEST_CASE("a server that knows bearers alone is told how it gets them") {
  place x{bound()};
  x.log_in();
  x.world.change([](auto& rules) { rules.bears = true; });
  const auto end = x.entry()->exchange(x.request());
  CHECK(end.status == 401);
  CHECK(has_part(end.advice,
                 "set mcp.web.auth.dpop = \"never\", and run "
                 "'riffle mcp login web' again"));
}

TEST_CASE("a login that has lost its key is none") {
  place x{bound()};
  x.log_in();
  auto kept = *oauth::read_login(x.file, x.world.server());
  for (const auto* key : {"", "damaged"}) {
    CAPTURE(key);
    kept.dpop_key = key;
    REQUIRE(oauth::write_login(x.file, kept).has_value());
    CHECK_FALSE(oauth::read_login(x.file, x.world.server()).has_value());
    CHECK(has_part(x.entry()->exchange(x.request()).advice, "wants a token"));
    CHECK(x.world.server_requests().back().header("authorization").empty());
  }
}

TEST_CASE("a login that the configuration rules out is none") {
  place x;
  x.log_in();
  const auto advice_with = [&](auto change) {
    auto options = x.options();
    change(options);
    const auto end = token_holder{options}.exchange(x.request());
    const auto sent = x.world.server_requests().back();
    CHECK(sent.header("authorization").empty() == (end.status == 401));
    return end.advice;
  };
  CHECK(
      advice_with([&](auto& o) { o.issuer = x.world.issuer() + "/"; }).empty());
  CHECK(advice_with([](auto& o) { o.issuer = "https://login.example"; }) ==
        "your login is of " + x.world.issuer() +
            ", and auth.issuer names another: run 'riffle mcp login web' "
            "again");
  CHECK(has_part(advice_with([](auto& o) { o.bound_only = true; }),
                 "your login is bound to no key, which auth.dpop = "
                 "\"always\" wants: run"));
}

TEST_CASE("a bound login is not exchanged for a token of any bearer") {
  place x{bound()};
  x.log_in();
  x.world.change([](auto& rules) { rules.binds = false; });
  x.world.forget_tokens();
  const auto end = x.entry()->exchange(x.request());
  CHECK(end.status == 401);
  CHECK(has_part(end.advice, "a token for any bearer"));
}
