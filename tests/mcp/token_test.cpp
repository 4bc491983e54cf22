// SPDX-License-Identifier: MIT
// The token of a login on its way: with each request, made new in time, and
// never asked for in a loop.
#include <atomic>
#include <thread>

#include "tests/mcp/login_place.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::mcp;
using namespace riffle::mcp::at_login;
using riffle::testing::log_lines;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST_CASE("without a login a server says how to log in; then it works") {
  place x;
  served web{x};
  CHECK_FALSE(web.at->wait_ready(steady_clock::now() + seconds{1}));
  CHECK(has_part(web.at->status().last_error,
                 "it answers with HTTP 401: it wants a token: run 'riffle mcp "
                 "login web', or "
                 "name the variable that holds one in token_env"));
  x.log_in();  // another process; nobody starts this one again
  CHECK(web.at->wait_ready(steady_clock::now() + seconds{20}));
  CHECK(web.call("read").text == "did read");
}

TEST_CASE("a server of one era alone says how to log in, too") {
  place x;
  x.world.change([](auto& rules) { rules.modern = true; });
  served web{x};
  CHECK_FALSE(web.at->wait_ready(steady_clock::now() + seconds{1}));
  CHECK(has_part(web.at->status().last_error, "run 'riffle mcp login web'"));
}

TEST_CASE("a token that is refused is made new, and the call goes on") {
  place x;
  x.log_in();
  served web{x};
  CHECK(web.call("read").text == "did read");
  x.world.forget_tokens();
  CHECK(web.call("read").text == "did read");
  CHECK(x.sent_to_giver() == 2);
  const auto kept = oauth::read_login(x.file, x.world.server());
  REQUIRE(kept.has_value());
  x.world.forget_tokens();
  CHECK(web.call("read").text == "did read");
  CHECK(oauth::read_login(x.file, x.world.server())->refresh_token !=
        kept->refresh_token);
  CHECK(x.world.reused() == 0);
}

TEST_CASE("many calls that are refused at once ask for one new token") {
  place x;
  x.log_in();
  const auto one = x.entry();
  const auto other = x.entry();  // as another process has it
  CHECK(one->exchange(x.request()).status == 200);
  CHECK(other->exchange(x.request()).status == 200);
  x.world.forget_tokens();
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 16; ++i)
      all.emplace_back([&, i] {
        const auto& who = i % 2 == 0 ? one : other;
        if (who->exchange(x.request()).status == 200) ++good;
      });
  }
  CHECK(good == 16);
  CHECK(x.sent_to_giver() == 2);
  CHECK(x.world.reused() == 0);
}

TEST_CASE("a token that ends soon is made new before it is used") {
  oauth_rules rules;
  rules.life = 3600;
  place x{rules};
  x.log_in();
  auto old = *oauth::read_login(x.file, x.world.server());
  old.issued_at -= 3600;
  *old.expires_at -= 3600;
  REQUIRE(oauth::write_login(x.file, old).has_value());
  const auto who = x.entry();
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(x.sent_to_giver() == 2);
  for (const auto& request : x.world.server_requests())
    CHECK_FALSE(has_part(std::string{request.header("authorization")},
                         old.access_token));
  CHECK(who->exchange(x.request()).status == 200);
  CHECK(x.sent_to_giver() == 2);
}

TEST_CASE("a token that nobody takes is made new once, never in a loop") {
  place x;
  x.log_in();
  const auto who = x.entry();
  CHECK(who->exchange(x.request()).status == 200);
  x.world.change([](auto& rules) { rules.forgets = true; });
  x.world.forget_tokens();
  const auto before = x.world.server_requests().size();
  for (int i = 0; i < 5; ++i) {
    const auto end = who->exchange(x.request());
    CHECK(end.status == 401);
    CHECK(has_part(end.advice, "run 'riffle mcp login web'"));
  }
  CHECK(x.sent_to_giver() == 2);
  CHECK(x.world.server_requests().size() - before == 2 + 4);
}

TEST_CASE("a login that has ended says so, and is not asked for again") {
  place x;
  x.log_in();
  const auto who = x.entry();
  x.world.forget_logins();
  const auto end = who->exchange(x.request());
  CHECK(end.status == 401);
  CHECK(has_part(end.advice, "your login has ended"));
  CHECK(has_part(end.advice, "invalid_grant"));
  CHECK(has_part(end.advice, "run 'riffle mcp login web'"));
  CHECK(who->exchange(x.request()).status == 401);
  CHECK(x.entry()->exchange(x.request()).status == 401);
  CHECK(x.sent_to_giver() == 2);
  x.log_in();
  CHECK(who->exchange(x.request()).status == 200);
}

TEST_CASE("an authorization server in trouble costs no login") {
  place x;
  x.log_in();
  const auto before = oauth::read_login(x.file, x.world.server());
  const auto who = x.entry();
  x.world.forget_tokens();
  x.world.change([](auto& rules) { rules.token_status = 500; });
  const auto end = who->exchange(x.request());
  CHECK(has_part(end.advice, "no token just now: HTTP 500"));
  CHECK(who->exchange(x.request()).status == 401);  // it is left in peace
  CHECK(x.sent_to_giver() == 2);
  CHECK(oauth::read_login(x.file, x.world.server()) == before);
  x.world.change([](auto& rules) { rules.token_status = 200; });
  CHECK(x.entry()->exchange(x.request()).status == 200);
}

TEST_CASE("what a token does not allow is answered with what to do") {
  place x;
  x.log_in();
  served web{x};
  CHECK(web.call("read").text == "did read");
  const auto said = web.call("write");
  REQUIRE(said.err.has_value());
  CHECK(has_part(said.text,
                 "your login allows too little: run 'riffle mcp login web "
                 "--scope \"read write\"'"));
  x.log_in("read write");
  CHECK(web.call("write").text == "did write");
  const auto evil = x.entry()->exchange(x.request("$(touch x)"));
  CHECK(evil.advice ==
        "your login allows too little: run 'riffle mcp login web'");
  const auto given = x.entry("the token in WEB_TOKEN");
  CHECK(given->exchange(x.request()).advice ==
        "the token in WEB_TOKEN is not accepted");
}

TEST_CASE("a logout counts for a process that runs") {
  place x;
  x.log_in();
  const auto who = x.entry();
  CHECK(who->exchange(x.request()).status == 200);
  std::filesystem::remove(x.file);
  const auto end = who->exchange(x.request());
  CHECK(end.status == 401);
  CHECK(has_part(end.advice, "it wants a token"));
  CHECK(x.world.server_requests().back().header("authorization").empty());
}

TEST_CASE("a login goes to its own server alone") {
  place x;
  x.log_in();
  const oauth_world other;
  auto options = x.options();
  options.server = other.server();
  token_holder elsewhere{std::move(options)};
  auto request = x.request();
  request.url = other.server();
  CHECK(elsewhere.exchange(request).status == 401);
  CHECK(other.server_requests().at(0).header("authorization").empty());
}

TEST_CASE("a call that is stopped does not lose the token that comes") {
  place x;
  x.log_in();
  x.world.forget_tokens();
  std::stop_source stop;
  x.world.change([&](auto& rules) {
    rules.on_token = [&] {
      stop.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds{300});
    };
  });
  {
    const auto who = x.entry();
    auto request = x.request();
    request.stop = stop.get_token();
    const auto began = steady_clock::now();
    CHECK(who->exchange(request).status != 200);
    CHECK(steady_clock::now() - began < seconds{5});
  }
  x.world.change([&](auto& rules) { rules.on_token = {}; });
  CHECK(x.entry()->exchange(x.request()).status == 200);
  CHECK(x.world.reused() == 0);
}

TEST_CASE("no token stands in a log, an error or a result") {
  log_lines log{"trace"};
  place x;
  x.log_in();
  std::string said;
  {
    served web{x};
    said += web.call("read").text;
    x.world.forget_tokens();
    said += web.call("read").text;
    x.world.forget_logins();
    const auto end = web.call("read");
    said += end.text + (end.err ? render(*end.err) : "");
    said += web.at->status().last_error;
  }
  CHECK(has_part(said, "did readdid read"));
  said += log.text();
  CHECK(has_part(said, "its token is not made new"));
  CHECK(x.world.secrets().size() >= 5);
  for (const auto& secret : x.world.secrets()) {
    CHECK_FALSE(has_part(said, secret));
    CHECK_FALSE(has_part(said, secret.substr(0, 20)));
  }
}
