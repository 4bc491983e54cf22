// SPDX-License-Identifier: MIT
#include "runtime/http/gate.hpp"

#include "runtime/base/digest.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::http;

namespace {

request asked(const std::string& host, const std::string& origin = "") {
  request x;
  x.method = "POST";
  x.path = "/v1/runs";
  x.peer = "127.0.0.1";
  x.fields.push_back({"host", host});
  if (!origin.empty()) x.fields.push_back({"origin", origin});
  return x;
}

gate make(gate_rules rules = {}) {
  return {std::move(rules),
          std::make_shared<token_book>(
              "main", std::map<std::string, config::token_config>{}, "key")};
}

unsigned status(const gate& x, const request& r) {
  const auto refused = x.check_place(r);
  return refused ? refused->status : 200;
}

}  // namespace

TEST_CASE("a name that is not ours is somebody else's request") {
  gate_rules rules;
  rules.hosts = {"Riffle.Example"};
  const auto x = make(rules);
  for (const auto* host :
       {"localhost", "localhost:7433", "LOCALHOST:1", "127.0.0.1:7433", "[::1]",
        "[::1]:7433", "10.1.2.3", "riffle.example", "riffle.example:443"})
    CHECK(status(x, asked(host)) == 200);
  for (const auto* host :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
        "riffle.example.evil", "2130706433", "0x7f.1", "[::1", "[::1]x",
        "[::1]:8x", "localhost:evil", "localhost:80:80", "localhost@evil",
        "[localhost]"})
    CHECK(status(x, asked(host)) == 421);
}

TEST_CASE("a page of another site may not ask") {
  const auto x = make();
  CHECK(status(x, asked("localhost:1", "http://localhost:1")) == 200);
  for (const auto* origin :
       {"null", "http://evil.example", "http://localhost", "http://localhost:2",
        "https://localhost:1", "http://localhost:1.evil.example"})
    CHECK(status(x, asked("localhost:1", origin)) == 403);
  auto empty = asked("localhost:1");
  empty.fields.push_back({"origin", ""});
  CHECK(status(x, empty) == 403);
}

TEST_CASE("a page of an allowed origin may ask, and read the answer") {
  gate_rules rules;
  rules.origins = {"https://app.example"};
  const auto x = make(rules);
  const auto good = asked("localhost", "https://app.example");
  CHECK(status(x, good) == 200);
  reply to;
  x.allow_origin(good, to);
  const auto has = [](const reply& r, const std::string& name,
                      const std::string& value) {
    for (const auto& f : r.fields)
      if (f.name == name) return f.value == value;
    return false;
  };
  CHECK(has(to, "Access-Control-Allow-Origin", "https://app.example"));
  CHECK(has(to, "Vary", "Origin"));
  CHECK(has(x.preflight(good), "Access-Control-Allow-Methods",
            "GET, POST, PUT, DELETE"));
  // Those of /mcp, too.
  CHECK(has(x.preflight(good), "Access-Control-Allow-Headers",
            "authorization, content-type, idempotency-key, last-event-id, "
            "mcp-method, mcp-name, mcp-protocol-version, mcp-session-id"));
  CHECK(has(to, "Access-Control-Expose-Headers",
            "Location, Mcp-Session-Id, Riffle-Run-Id"));
  reply other;
  x.allow_origin(asked("localhost", "https://other.example"), other);
  CHECK_FALSE(
      has(other, "Access-Control-Allow-Origin", "https://other.example"));
  reply plain;
  make().allow_origin(good, plain);
  CHECK(plain.fields.empty());
}

TEST_CASE("a token is a bearer's, or a cookie's") {
  const auto x = make();
  const wall_time now{1'000'000};
  auto r = asked("localhost");
  CHECK_FALSE(x.recognise(r, now));
  r.fields.push_back({"authorization", "Bearer main"});
  REQUIRE(x.recognise(r, now));
  CHECK(x.recognise(r, now)->may(role::admin));
  r.fields.back().value = "bearer   main ";
  CHECK(x.recognise(r, now));
  for (const auto* bad : {"main", "Basic main", "Bearer", "Bearer ",
                          "Bearer mai", "Bearer mainn", "Bearer MAIN"}) {
    r.fields.back().value = bad;
    CHECK_FALSE(x.recognise(r, now));
  }
  r.fields.pop_back();
  const auto who = x.tokens().find("main");
  const auto cookie = x.tokens().cookie_for(*who, {2'000'000});
  r.fields.push_back({"cookie", "a=b; riffle=" + cookie + "; c=d"});
  CHECK(x.recognise(r, now));
  CHECK_FALSE(x.recognise(r, {3'000'000}));
  r.fields.back().value = "riffle=" + cookie + "0";
  CHECK_FALSE(x.recognise(r, now));
  r.fields.back().value = "xriffle=" + cookie;
  CHECK_FALSE(x.recognise(r, now));
}

TEST_CASE("without tokens everybody is the main one") {
  gate_rules rules;
  rules.tokens_required = false;
  const auto who = make(rules).recognise(asked("localhost"), {});
  REQUIRE(who);
  CHECK(who->may(role::admin));
}

TEST_CASE("what a client says of itself counts behind a trusted proxy only") {
  gate_rules rules;
  rules.proxies = {*parse_network("10.0.0.0/8")};
  const auto x = make(rules);
  auto r = asked("127.0.0.1:7433");
  r.fields.push_back({"x-forwarded-for", "1.1.1.1, 2.2.2.2, 10.0.0.9"});
  r.fields.push_back({"x-forwarded-proto", "https"});
  r.fields.push_back({"x-forwarded-host", "riffle.example"});
  auto stranger = r;
  x.see_through_proxy(stranger);
  CHECK(stranger.peer == "127.0.0.1");
  CHECK_FALSE(stranger.secure);
  CHECK(stranger.header("host") == "127.0.0.1:7433");
  // A proxy that adds a line of its own: the last line is its.
  auto lines = r;
  lines.peer = "10.0.0.1";
  lines.fields.push_back({"x-forwarded-for", "3.3.3.3"});
  x.see_through_proxy(lines);
  CHECK(lines.peer == "3.3.3.3");
  r.peer = "10.0.0.1";
  x.see_through_proxy(r);
  CHECK(r.peer == "2.2.2.2");
  CHECK(r.secure);
  CHECK(r.header("host") == "riffle.example");
}

TEST_CASE("an address to listen at is a host and a port") {
  CHECK(parse_listen("127.0.0.1:7433")->is_loopback());
  CHECK(parse_listen("[::1]:1")->is_loopback());
  CHECK(parse_listen("localhost:0")->port == 0);
  CHECK_FALSE(parse_listen("0.0.0.0:1")->is_loopback());
  CHECK_FALSE(parse_listen("[::]:1")->is_loopback());
  for (const auto* bad : {"", "7433", "a:", ":1", "a:65536", "a:1x"})
    CHECK_FALSE(parse_listen(bad));
}
