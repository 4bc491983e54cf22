// SPDX-License-Identifier: MIT
// The tool over real sockets; what it must not reach is watched by a canary.
#include "tools/builtin/web/fetch.hpp"

#include <cstdlib>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/packed.hpp"
#include "tests/support/time_scale.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/registry.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

namespace {

struct fetching : tool_fixture {
  explicit fetching(const std::vector<std::string>& allow) {
    for (const auto& text : allow) {
      auto x = parse_endpoint(text);
      REQUIRE(x);
      options.allow.push_back(*std::move(x));
    }
  }
  explicit fetching(const http_server& server)
      : fetching{{"127.0.0.1:" + std::to_string(server.port())}} {}

  tools::tool_output get(const std::string& url, bool raw = false) {
    json arguments{{"url", url}};
    if (raw) arguments["raw"] = true;
    const auto tool = tools::make_fetch(options);
    auto out = run(*tool, arguments);
    metadata = out.metadata.empty() ? json{} : json::parse(out.metadata);
    return out;
  }

  tools::fetch_options options;
  json metadata;
};

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string address(std::string_view host, const http_server& server) {
  return "http://" + std::string{host} + ":" + std::to_string(server.port()) +
         "/";
}

}  // namespace

TEST_CASE("a page comes as text with its status, URL, type and size") {
  http_server server{
      http_reply::text("<title>Hi</title><p>caf\xE9 <a href='x'>more</a>", 200,
                       "text/html; charset=iso-8859-1")};
  fetching f{server};
  const auto out = f.get(server.url("/dir/page?q=1#part"));
  CHECK_FALSE(out.err);
  CHECK(out.text == "Hi\n\ncaf\xC3\xA9 [more](" + server.url("/dir/x") + ")");
  CHECK(f.metadata.at("status") == 200);
  CHECK(f.metadata.at("url") == server.url("/dir/page?q=1"));
  CHECK(f.metadata.at("content_type") == "text/html; charset=iso-8859-1");
  CHECK(f.metadata.at("bytes") == 45);
  CHECK(f.metadata.at("total_bytes") == 45);
  CHECK_FALSE(f.metadata.contains("truncated"));
  const auto asked = server.requests().at(0);
  CHECK(asked.method == "GET");
  CHECK(asked.target == "/dir/page?q=1");
  CHECK(asked.header("cookie") == "");
  CHECK(asked.header("authorization") == "");
  CHECK(f.get(server.url("/"), true).text.starts_with("<title>Hi</title>"));
}

TEST_CASE("text and JSON come as they are") {
  http_server server{http_reply::json(R"({"a": [1,  2]})"),
                     http_reply::text("  two\n\n lines\n"),
                     http_reply::text("plain", 200, "application/octet-stream"),
                     http_reply::text("", 204)};
  fetching f{server};
  CHECK(f.get(server.url()).text == R"({"a": [1,  2]})");
  CHECK(f.get(server.url()).text == "  two\n\n lines\n");
  CHECK(f.get(server.url()).text == "plain");
  CHECK(f.get(server.url()).text == "[there is nothing in it]");
}

TEST_CASE("binary content is refused with its type and size") {
  const std::string image(5000, '\x01');
  http_server server{http_reply::text(image, 200, "image/png"),
                     http_reply::text(std::string("\x7f"
                                                  "ELF\0\1\2\3",
                                                  8),
                                      200, "text/plain")};
  fetching f{server};
  auto out = f.get(server.url());
  REQUIRE(out.err);
  CHECK(out.err->message ==
        "it is binary: image/png, 4.9 KB, which cannot be read as text");
  CHECK(f.metadata.at("content_type") == "image/png");
  CHECK(f.metadata.at("total_bytes") == 5000);
  CHECK(f.metadata.at("binary") == true);
  CHECK(f.metadata.at("bytes") == 0);  // it was not loaded
  out = f.get(server.url());
  REQUIRE(out.err);
  CHECK(says(out.err->message, "binary"));
}

TEST_CASE("a page that is compressed is read, as far as that costs little") {
  http_server server{
      packed(squeezed(), "gzip", "text/plain"),
      packed(squeezed(), "X-Gzip", "text/plain"),
      packed(gzip_bomb(2000), "gzip", "text/plain"),
      packed(squeezed(), "gzip, gzip", "text/plain"),
      packed(squeezed(), "zstd", "text/plain"),
      http_reply::garbage("HTTP/1.1 200 OK\r\ntransfer-encoding: zstd, "
                          "chunked\r\n\r\n0\r\n\r\n")};
  fetching f{server};
  CHECK(says(f.get(server.url("/")).text, "data: squeezed"));
  CHECK(says(f.get(server.url("/")).text, "data: squeezed"));
  CHECK(server.requests().at(0).header("accept-encoding") ==
        "gzip, deflate, br");
  const auto bomb = f.get(server.url("/"));
  CHECK_FALSE(bomb.err);
  CHECK(f.metadata.at("truncated") == true);
  CHECK(says(bomb.text, "xxx"));
  for (const std::string how : {"gzip, gzip", "zstd", "zstd, chunked"}) {
    const auto out = f.get(server.url("/"));
    REQUIRE(out.err);
    CHECK(says(out.err->message, "compressed as " + how + ", which is not"));
  }
}

TEST_CASE("an error status is a failure that keeps the server's words") {
  http_server server{http_reply::text("no such thing", 404),
                     http_reply::text("broken", 500)};
  fetching f{server};
  auto out = f.get(server.url());
  REQUIRE(out.err);
  CHECK(out.err->code == errc::not_found);
  CHECK(out.text == "no such thing\n[HTTP status 404]");
  CHECK(f.metadata.at("status") == 404);
  out = f.get(server.url());
  REQUIRE(out.err);
  CHECK(out.err->code == errc::tool_execution_error);
}

TEST_CASE("a page beyond the limit is cut and not loaded further") {
  http_server server{http_reply{200, http_reply::framing::chunked}
                         .header("Content-Type", "text/plain")
                         .repeat("0123456789", 50'000'000)};
  fetching f{server};
  f.options.limits.bytes = 100'000;
  const auto out = f.get(server.url());
  CHECK_FALSE(out.err);
  CHECK(out.text.starts_with("0123456789"));
  CHECK(
      out.text.ends_with("[only the first 97.7 KB were loaded, there is "
                         "more]"));
  CHECK(f.metadata.at("bytes") == 100'000);
  CHECK(f.metadata.at("truncated") == true);
  CHECK(server.bytes_sent() < 50'000'000);
}

TEST_CASE("long text is cut to what is worth keeping") {
  http_server server{http_reply::text(std::string(50'000, 'x'))};
  fetching f{server};
  f.context.output_cap = 10'000;
  const auto out = f.get(server.url());
  CHECK(out.text.size() <= 10'000);
  CHECK(f.metadata.at("truncated") == true);
  CHECK(says(out.text, "left out"));
}

TEST_CASE("redirects are followed up to a limit") {
  http_server server{[](const http_request& x) {
    if (x.target == "/loop")
      return http_reply::text("", 302).header("Location", "/loop");
    if (x.target == "/a")
      return http_reply::text("", 301).header("Location", "b?x");
    return http_reply::text("end");
  }};
  fetching f{server};
  auto out = f.get(server.url("/a"));
  CHECK(says(out.text, "end"));
  CHECK(says(out.text, "[the URL led to " + server.url("/b?x") + "]"));
  CHECK(f.metadata.at("redirects") == 1);
  CHECK(f.metadata.at("url") == server.url("/b?x"));
  const auto before = server.request_count();
  f.options.limits.redirects = 4;
  out = f.get(server.url("/loop"));
  REQUIRE(out.err);
  CHECK(says(out.err->message, "more than 4 redirects"));
  CHECK(server.request_count() - before == 5);
}

TEST_CASE("a local address is not reached, however it is written") {
  http_server canary{http_reply::text("secret")};
  fetching f{std::vector<std::string>{}};
  f.options.resolve = {"rebound.test:" + std::to_string(canary.port()) +
                       ":127.0.0.1"};
  for (const auto* host : {"127.0.0.1",
                           "127.1",
                           "2130706433",
                           "0x7f000001",
                           "017700000001",
                           "0177.0.0.1",
                           "0x7f.1",
                           "0",
                           "0.0.0.0",
                           "[::1]",
                           "[::]",
                           "[::ffff:127.0.0.1]",
                           "[::ffff:7f00:1]",
                           "localhost",
                           "LOCALHOST.",
                           "127.0.0.1.",
                           "%31%32%37.0.0.1",
                           "a.localhost",
                           "rebound.test",
                           "example.org@127.0.0.1",
                           "127.0.0.1%00.example.org"}) {
    CAPTURE(host);
    const auto out = f.get(address(host, canary));
    CHECK(out.err);
    CHECK_FALSE(says(out.text, "secret"));
  }
  CHECK(canary.connection_count() == 0);
}

TEST_CASE("a redirect does not lead to a local address or another scheme") {
  http_server canary{http_reply::text("secret")};
  std::string target;
  http_server server{[&](const http_request&) {
    return http_reply::text("", 302).header("Location", target);
  }};
  fetching f{server};
  f.options.resolve = {"rebound.test:" + std::to_string(canary.port()) +
                       ":127.0.0.1"};
  for (const auto& to :
       {address("127.0.0.1", canary), address("2130706433", canary),
        address("[::ffff:127.0.0.1]", canary), address("localhost", canary),
        address("rebound.test", canary), address("u:p@127.0.0.1", canary),
        "//127.0.0.1:" + std::to_string(canary.port()) + "/",
        std::string{"file:///etc/hostname"}, std::string{"ftp://127.0.0.1/"},
        "gopher://127.0.0.1:" + std::to_string(canary.port()) + "/x",
        std::string{"javascript:1"}}) {
    CAPTURE(to);
    target = to;
    const auto out = f.get(server.url());
    REQUIRE(out.err);
    CHECK(out.err->code == errc::invalid_arguments);
    CHECK_FALSE(says(out.text, "secret"));
  }
  CHECK(canary.connection_count() == 0);
}

TEST_CASE("a name with a good and a bad address reaches only the good one") {
  http_server canary{http_reply::text("secret")};
  const auto port = std::to_string(canary.port());
  // Nobody listens at the first one, so that curl goes on to the second.
  fetching f{{"127.0.0.2:" + port}};
  f.options.resolve = {"two.test:" + port + ":127.0.0.2,127.0.0.1"};
  CHECK(f.get("http://two.test:" + port + "/").err);
  CHECK(canary.connection_count() == 0);
}

TEST_CASE("a name that meant an allowed address is checked again each time") {
  http_server canary{http_reply::text("secret")};
  const auto port = std::to_string(canary.port());
  fetching f{{"127.0.0.2:" + port}};
  f.options.resolve = {"changes.test:" + port + ":127.0.0.2"};
  CHECK(f.get("http://changes.test:" + port + "/").err);
  f.options.resolve = {"changes.test:" + port + ":127.0.0.1"};
  const auto out = f.get("http://changes.test:" + port + "/");
  REQUIRE(out.err);
  CHECK(says(out.err->message, "127.0.0.1 of changes.test is not"));
  CHECK(canary.connection_count() == 0);
}

TEST_CASE("a proxy of the environment is not asked") {
  http_server proxy{http_reply::text("from the proxy")};
  http_server server{http_reply::text("direct")};
  for (const auto* name : {"http_proxy", "all_proxy", "ALL_PROXY"})
    ::setenv(name, proxy.url().c_str(), 1);
  fetching f{server};
  const auto out = f.get(server.url());
  for (const auto* name : {"http_proxy", "all_proxy", "ALL_PROXY"})
    ::unsetenv(name);
  CHECK(out.text == "direct");
  CHECK(proxy.connection_count() == 0);
}

TEST_CASE("cookies are not kept") {
  http_server server{[](const http_request& x) {
    if (x.target == "/a")
      return http_reply::text("", 302)
          .header("Location", "/b")
          .header("Set-Cookie", "id=1; Path=/");
    return http_reply::text("ok");
  }};
  fetching f{server};
  CHECK_FALSE(f.get(server.url("/a")).err);
  CHECK(server.requests().back().header("cookie") == "");
}

TEST_CASE("a stopped fetch ends at once") {
  http_server server{
      http_reply{200, http_reply::framing::chunked}.send("x").stall()};
  fetching f{server};
  std::thread stopper{[&] {
    server.wait_for_requests(1);
    f.stop.request_stop();
  }};
  const auto begin = std::chrono::steady_clock::now();
  const auto out = f.get(server.url());
  stopper.join();
  REQUIRE(out.err);
  CHECK(out.err->code == errc::cancelled);
  CHECK(std::chrono::steady_clock::now() - begin < scaled(5s));
}

TEST_CASE("a server that is silent or cut is told of") {
  http_server server{http_reply{200, http_reply::framing::chunked}.stall(),
                     http_reply::text("begin").announce(100).cut()};
  fetching f{server};
  f.options.limits.total = 300ms;
  auto out = f.get(server.url());
  REQUIRE(out.err);
  CHECK(out.err->code == errc::timeout);
  f.options.limits.total = 30s;
  out = f.get(server.url());
  REQUIRE(out.err);
  CHECK(says(out.err->message, "broke the answer off after 5 bytes"));
  out = f.get("http://127.0.0.1:" + std::to_string(dead_port()) + "/");
  REQUIRE(out.err);
}

TEST_CASE("progress tells how much is loaded") {
  http_server server{http_reply::text(std::string(1u << 20, 'x'))};
  fetching f{server};
  CHECK_FALSE(f.get(server.url()).err);
  const auto reports = f.reports();
  REQUIRE_FALSE(reports.empty());
  CHECK(reports.back().total == double{1u << 20});
}

TEST_CASE("fetch is read-only and says what it is about to do") {
  tools::registry registry;
  REQUIRE(registry.add(tools::make_fetch({})));
  const auto& tool = *registry.find("fetch");
  CHECK(tool->spec().eff == effect::read_only);
  CHECK(tool->title({{"url", "https://example.org/x"}}) ==
        "Fetching https://example.org/x");
  CHECK(registry.check("fetch", R"({"url":"https://a.b/","raw":true})"));
  CHECK_FALSE(registry.check("fetch", "{}"));
  CHECK_FALSE(registry.check("fetch", R"({"url":"x","method":"POST"})"));
}
