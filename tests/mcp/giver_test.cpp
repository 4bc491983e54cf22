// SPDX-License-Identifier: MIT
// Where secrets go: to whom the configuration names, else to the server
// itself, whatever it says of who gives its tokens.
#include "tests/mcp/robot.hpp"

using namespace riffle;
using namespace riffle::mcp;
using namespace riffle::mcp::at_login;
using riffle::testing::http_reply;
using riffle::testing::http_server;

namespace {

/// A server of 2025-03-26 that says of itself what `says` holds.
struct older_server {
  http_server at{[this](const riffle::testing::http_request& x) {
    if (x.target == "/mcp") return http_reply::text("", 401);
    if (x.target == "/.well-known/oauth-authorization-server")
      return http_reply::json(says.dump());
    return http_reply::text("", 404);
  }};
  json says = json::object();
};

http_server nobody() {
  return http_server{[](const auto&) { return http_reply::text("", 404); }};
}

}  // namespace

TEST_CASE("whom the configuration names is asked, not who bears his name") {
  auto thief = nobody();
  older_server liar;
  robot x;
  x.with_secret();
  x.how.server = liar.at.url("/mcp");
  liar.says = {{"issuer", x.world.issuer()},
               {"token_endpoint", thief.url("/t")}};
  // He gives nothing for such a server, and that is it.
  CHECK(has_part(x.problem(), "invalid_target"));
  CHECK(x.forms().size() == 1);
  CHECK(thief.requests().empty());
  auto silent = nobody();
  x.how.issuer = silent.url("");
  liar.says["issuer"] = silent.url("");
  CHECK(has_part(x.problem(), "says nothing of itself"));
  CHECK(thief.requests().empty());
}

TEST_CASE("a person logs in with whom the configuration names") {
  auto thief = nobody();
  older_server liar;
  const oauth_world world;
  liar.says = {{"issuer", world.issuer()},
               {"authorization_endpoint", thief.url("/a")},
               {"token_endpoint", thief.url("/t")},
               {"code_challenge_methods_supported", {"S256"}}};
  std::string shown;
  std::stop_source stop;
  oauth::sign_in_options how;
  how.server = liar.at.url("/mcp");
  how.issuer = world.issuer();
  how.client_id = "by-hand";
  how.client_secret = "canary-secret";
  how.stop = stop.get_token();
  how.show = [&](const std::string& url) {
    shown = url;
    stop.request_stop();
  };
  CHECK_FALSE(oauth::sign_in(how).has_value());
  CHECK(shown.starts_with(world.issuer() + "/authorize?"));
  CHECK(thief.requests().empty());
}

TEST_CASE("where nobody is named, secrets go to the server's own place alone") {
  auto thief = nobody();
  older_server liar;
  robot x;
  x.with_secret();
  x.how.server = liar.at.url("/mcp");
  x.how.issuer.clear();
  const auto own = liar.at.url("");
  liar.says = {{"issuer", own}, {"token_endpoint", thief.url("/t")}};
  CHECK(has_part(x.problem(), "the server names " + own +
                                  " as who gives its tokens, at " +
                                  thief.url("/t") + ": if that is right"));
  // What is signed for somebody else must not come to the server either.
  liar.says = {{"issuer", "https://login.example"},
               {"token_endpoint", liar.at.url("/t")}};
  CHECK(has_part(x.problem(), "the server names https://login.example as"));
  for (const auto& one : liar.at.requests()) CHECK(one.target != "/t");
  liar.says = {{"issuer", own}, {"token_endpoint", liar.at.url("/t")}};
  CHECK(has_part(x.problem(), "gives no token: HTTP 404"));
  CHECK(thief.requests().empty());
}
