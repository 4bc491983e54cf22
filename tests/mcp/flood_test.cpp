// SPDX-License-Identifier: MIT
// A server whose own stream never stops telling news.
#include <chrono>
#include <memory>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/http_server.hpp"
#include "tools/mcp/http_link.hpp"
#include "tools/mcp/server.hpp"

using namespace riffle;
using namespace riffle::mcp;
using namespace std::chrono_literals;
using testing::eventually;
using testing::http_reply;
using testing::http_request;
using testing::http_server;

namespace {

http_reply reply_to(const http_request& request) {
  static const std::string news = [] {
    constexpr int many = 20'000;
    std::string out;
    for (int i = 0; i < many; ++i)
      out +=
          "data: {\"jsonrpc\":\"2.0\",\"method\":"
          "\"notifications/tools/list_changed\"}\n\n";
    return out;
  }();
  if (request.method == "GET") {
    auto out = http_reply::sse();
    for (int i = 0; i < 50; ++i) out.send(news);
    return out.stall();
  }
  if (request.method == "DELETE") return http_reply::text("");
  const auto x = json::parse(request.body);
  const auto result = [&](const json& y) {
    return http_reply::json(
        json{{"jsonrpc", "2.0"}, {"id", x.at("id")}, {"result", y}}.dump());
  };
  const auto method = x.value("method", "");
  if (!x.contains("id")) return http_reply::text("", 202);
  if (method == "server/discover") return http_reply::text("no session", 400);
  if (method == "initialize")
    return result({{"protocolVersion", "2025-11-25"},
                   {"capabilities", {{"tools", json::object()}}},
                   {"serverInfo", {{"name", "fake"}}}});
  return result({{"tools", json::array()}});
}

}  // namespace

TEST_CASE("news without end keep nobody from ending a server") {
  const http_server http{reply_to};
  for (int i = 0; i < 5; ++i) {
    server_options x;
    x.name = "web";
    x.me = {"riffle", "1", {}, false};
    x.connect = [url = http.url("/mcp")](link_events events) {
      http_link_options how;
      how.name = "web";
      how.url = url;
      return open_http(how, std::move(events));
    };
    // Kept where it does not end: then this fails, and does not hang.
    auto* at = new server{std::move(x)};
    REQUIRE(at->wait_ready(std::chrono::steady_clock::now() + 10s));
    REQUIRE(eventually([&] { return at->status().has != nullptr; }));
    auto ended = std::make_shared<std::atomic<bool>>(false);
    std::thread{[at, ended] {
      delete at;
      *ended = true;
    }}.detach();
    REQUIRE(eventually([&] { return ended->load(); }, 20s));
  }
}
