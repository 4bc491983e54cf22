// SPDX-License-Identifier: MIT
// All steps to a token have one limit, whichever of them hangs; and a token of
// another kind than was asked for is none.
#include <atomic>
#include <future>
#include <memory>

#include "tests/mcp/robot.hpp"

using namespace riffle;
using namespace riffle::mcp;
using namespace riffle::mcp::at_login;
using riffle::testing::http_reply;
using riffle::testing::http_request;
using riffle::testing::http_server;

namespace {

constexpr auto short_limit = std::chrono::milliseconds{300};

/// A server that gives its own tokens, and never answers at one path.
struct stalling {
  explicit stalling(std::string where) : stalls{std::move(where)} {
    how.server = at.url("/mcp");
    how.client_id = "robot";
    how.limit = short_limit;
  }
  ~stalling() { at.release("end"); }

  http_reply answer(const http_request& x) const {
    if (x.target == stalls)
      return http_reply{200, http_reply::framing::raw}.stall("end");
    const auto own = at.url("");
    if (x.target == "/mcp") return http_reply::text("", 401);
    if (x.target == "/.well-known/oauth-protected-resource/mcp")
      return http_reply::json(json{
          {"resource", own + "/mcp"},
          {"authorization_servers",
           {own}}}.dump());
    if (x.target == "/.well-known/oauth-authorization-server")
      return http_reply::json(json{
          {"issuer", own},
          {"token_endpoint", own + "/token"},
          {"dpop_signing_alg_values_supported",
           {"ES256"}}}.dump());
    return http_reply::text("", 404);
  }

  std::string stalls;
  http_server at{[this](const http_request& x) { return answer(x); }};
  oauth::unattended_options how;
};

/// Holds answers of a token endpoint, from the `first` one on, until the end.
class closed_gate {
 public:
  explicit closed_gate(oauth_world& world, int first = 1) {
    world.change([&](oauth_rules& rules) {
      rules.on_token = [x = state_, first] {
        if (++x->asked >= first) x->opened.wait();
      };
    });
  }
  ~closed_gate() { state_->open.set_value(); }
  closed_gate(const closed_gate&) = delete;
  closed_gate& operator=(const closed_gate&) = delete;

  [[nodiscard]] int asked() const { return state_->asked; }

 private:
  /// The server's thread may still wait when the gate is gone.
  struct state {
    std::promise<void> open;
    std::shared_future<void> opened = open.get_future().share();
    std::atomic<int> asked = 0;
  };
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace

TEST_CASE(
    "a token that is asked for by a program has one limit for all steps") {
  const auto* const where =
      GENERATE("/.well-known/oauth-protected-resource/mcp",
               "/.well-known/oauth-authorization-server", "/token");
  CAPTURE(where);
  stalling x{where};
  const auto got = oauth::unattended{x.how}.ask({});
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().code == errc::timeout);
  CHECK(has_part(got.error().message,
                 "no token after 300ms, the limit of all steps together; the "
                 "last one was " +
                     x.at.url(where)));
}

TEST_CASE("a server that does not answer a program that has no token yet") {
  stalling x{"/mcp"};
  const auto got = oauth::unattended{x.how}.ask({});
  REQUIRE_FALSE(got.has_value());
  CHECK(has_part(got.error().message, "no answer in time"));
}

TEST_CASE("a proof that is asked for anew counts among the steps") {
  oauth_rules rules;
  rules.binds = true;
  rules.giver_nonce = "nonce";
  robot x{rules};
  x.with_secret();
  x.how.limit = short_limit;
  const closed_gate gate{x.world, 2};
  const auto got = oauth::unattended{x.how}.ask({});
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().code == errc::timeout);
  CHECK(has_part(got.error().message, "the limit of all steps together"));
  CHECK(gate.asked() == 2);
}

TEST_CASE("what a login asks of servers has a limit, beside the person's") {
  oauth_world world;
  const closed_gate gate{world};
  std::thread browser;
  oauth::sign_in_options how;
  how.server = world.server();
  how.asking = std::chrono::seconds{1};
  how.show = [&](const std::string& url) {
    browser = std::thread{[url] { oauth_world::agree(url); }};
  };
  const auto got = oauth::sign_in(how);
  if (browser.joinable()) browser.join();
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().code == errc::timeout);
  CHECK(has_part(got.error().message, "the limit of all steps together"));
}

TEST_CASE("a token that a key binds is none where no key was shown") {
  robot x;
  x.with_secret();
  x.how.dpop = oauth::dpop_use::never;
  x.world.change([](auto& rules) { rules.token_type = "dpop"; });
  CHECK(has_part(x.problem(), "binds the token to a key (DPoP), and none was"));
  // Nor is it sent as one of any bearer.
  const auto end = x.entry()->exchange(x.request());
  CHECK(end.status == 401);
  for (const auto& request : x.world.server_requests())
    CHECK(request.header("authorization").empty());
}

TEST_CASE("a login takes no bound token for its one of any bearer") {
  place x;
  x.log_in();
  const auto before = oauth::read_login(x.file, x.world.server());
  REQUIRE(before);
  x.world.change([](auto& rules) { rules.token_type = "DPoP"; });
  x.world.forget_tokens();
  const auto end = x.entry()->exchange(x.request());
  CHECK(end.status == 401);
  CHECK(has_part(end.advice, "binds the token to a key (DPoP)"));
  const auto after = oauth::read_login(x.file, x.world.server());
  REQUIRE(after);
  CHECK(after->access_token == before->access_token);
}
