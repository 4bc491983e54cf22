// SPDX-License-Identifier: MIT
// Servers of 2024-11-05 over HTTP: one stream for all that they say, and a
// place of its own for what they are told.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/http_server.hpp"
#include "tools/mcp/call.hpp"
#include "tools/mcp/http_link.hpp"
#include "tools/mcp/server.hpp"

using namespace riffle;
using namespace riffle::mcp;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::eventually;
using testing::http_reply;
using testing::http_request;
using testing::http_server;

namespace {

std::string event(const json& x, const std::string& type = "message") {
  return "event: " + type + "\ndata: " + x.dump() + "\n\n";
}

std::string result(int id, const json& x) {
  return event({{"jsonrpc", "2.0"}, {"id", id}, {"result", x}});
}

/// Says on its stream what each request that is posted wants; the ids are
/// those that a new connection gives.
struct old_server {
  int refusal = 404;  ///< of what is posted to the stream's place
  std::string refusal_text = "Cannot POST /sse";
  std::string endpoint = "/messages?id=1";
  bool has_stream = true;
  int taken = 202;    ///< what a call is answered with where it is posted
  bool mute = false;  ///< never answers a call
  bool ends = false;  ///< the stream, with the first call
  std::atomic<int> streams{0};
  std::function<void(std::string)> release;

  http_reply answer(const http_request& x) {
    if (x.target == "/sse" && x.method == "GET") return stream();
    if (x.target == "/sse") return http_reply::text(refusal_text, refusal);
    if (x.target != "/messages?id=1") return http_reply::text("", 404);
    const auto body = json::parse(x.body);
    const auto method = body.value("method", "answer");
    if (method == "tools/call" && taken != 202)
      return http_reply::text("no room", taken);
    if (mute && method == "tools/call") return http_reply::text("", 202);
    release(method + std::to_string(streams));
    return http_reply::text("Accepted", 202);
  }

  http_reply stream() {
    if (!has_stream) return http_reply::text("", 405);
    const auto n = std::to_string(++streams);
    auto out = http_reply::sse();
    out.send("event: endpoint\ndata: " + endpoint + "\n\n");
    out.stall("initialize" + n);
    out.send(result(1, {{"protocolVersion", "2024-11-05"},
                        {"capabilities", {{"tools", json::object()}}},
                        {"serverInfo", {{"name", "old"}}}}));
    out.stall("tools/list" + n);
    out.send(result(
        2, {{"tools",
             {{{"name", "echo"}, {"inputSchema", {{"type", "object"}}}}}}}));
    out.stall("tools/call" + n);
    if (ends && streams == 1) return std::move(out.cut());
    out.send(event({{"jsonrpc", "2.0"},
                    {"method", "notifications/progress"},
                    {"params", {{"progressToken", 3}, {"progress", 1}}}}));
    out.send(event({{"jsonrpc", "2.0"}, {"id", 9}, {"method", "ping"}}));
    out.stall("answer" + n);
    out.send(result(3, {{"content", {{{"type", "text"}, {"text", "ok"}}}}}));
    return std::move(out.stall("never"));
  }
};

struct world {
  explicit world(const std::function<void(old_server&)>& change = {}) {
    if (change) change(*what);
    http.emplace([w = what](const http_request& x) { return w->answer(x); });
    what->release = [this](std::string gate) { http->release(gate); };
    server_options x;
    x.name = "old";
    x.me = {"riffle", "1", {}, false};
    x.startup_timeout = seconds{10};
    x.supervision.backoff = {milliseconds{10}, milliseconds{50}};
    x.supervision.intensity = 3;
    http_link_options how;
    how.name = "old";
    how.url = http->url("/sse");
    how.headers = {"Authorization: Bearer token-1"};
    x.connect = [how](link_events events) {
      return open_http(how, std::move(events));
    };
    at.emplace(std::move(x));
  }

  tools::tool_output call() {
    tools::tool_context context;
    context.stop = stop.get_token();
    context.progress = [this](tool_progress_report) { ++reports; };
    return call_tool(*at, "echo", {}, json::object(), context);
  }

  /// What it says of a server that never comes up.
  std::string why() {
    at->wait_ready(steady_clock::now() + seconds{10});
    CHECK(eventually([&] { return !at->status().last_error.empty(); }));
    return at->status().last_error;
  }

  std::size_t asked(const std::string& method, const std::string& target) {
    std::size_t out = 0;
    for (const auto& x : http->requests())
      if (x.method == method && x.target == target) ++out;
    return out;
  }

  std::shared_ptr<old_server> what = std::make_shared<old_server>();
  std::stop_source stop;
  std::atomic<int> reports{0};
  std::optional<http_server> http;
  std::optional<server> at;
};

}  // namespace

TEST_CASE("a server of 2024-11-05 is found where initialize is unknown") {
  for (const int refusal : {400, 404, 405}) {
    CAPTURE(refusal);
    world w{[&](old_server& x) { x.refusal = refusal; }};
    const auto out = w.call();
    CAPTURE(out.text);
    CHECK(out.text == "ok");
    CHECK(w.reports == 1);
    const auto about = w.at->status().has->about;
    CHECK(about.speaks == era::legacy);
    CHECK(about.version == "2024-11-05");
    bool ponged = false;
    for (const auto& x : w.http->requests()) {
      if (x.target == "/sse") continue;
      CHECK(x.method == "POST");
      CHECK(x.header("authorization") == "Bearer token-1");
      CHECK(x.header("content-type") == "application/json");
      CHECK(x.header("mcp-protocol-version").empty());
      ponged = ponged || x.body == R"({"id":9,"jsonrpc":"2.0","result":{}})";
    }
    CHECK(ponged);
    CHECK(w.asked("GET", "/sse") == 1);
    CHECK(w.at->status().restarts == 0);
    w.at.reset();
    CHECK(w.http->wait_for_open_connections(0));
  }
}

TEST_CASE("an endpoint at another place gets nothing") {
  const http_server other{http_reply::text("")};
  const auto port = std::to_string(other.port());
  for (const std::string& endpoint :
       {other.url("/messages"), "//127.0.0.1:" + port + "/messages",
        std::string{"https://127.0.0.1/messages"},
        std::string{"http://user@127.0.0.1:"} + port + "/messages"}) {
    CAPTURE(endpoint);
    world w{[&](old_server& x) { x.endpoint = endpoint; }};
    CHECK(w.why().find("at another host, port or scheme") != std::string::npos);
  }
  CHECK(other.request_count() == 0);
  world w{[&](old_server& x) { x.endpoint = "http://[/"; }};
  CHECK(w.why().find("is no URL") != std::string::npos);
}

TEST_CASE("a stream that ends loses its calls, and the server comes back") {
  world w{[](old_server& x) { x.ends = true; }};
  const auto out = w.call();
  CHECK(out.lost);
  CHECK(w.call().text == "ok");
  CHECK(w.at->status().restarts == 1);
  CHECK(w.what->streams == 2);
}

TEST_CASE("what is refused where it is posted costs that call alone") {
  world w{[](old_server& x) { x.taken = 500; }};
  const auto out = w.call();
  REQUIRE(out.err);
  CHECK(out.err->message.find("HTTP 500: no room") != std::string::npos);
  CHECK(w.at->status().state == server_state::ready);
  CHECK(w.what->streams == 1);
}

TEST_CASE("a call over the older transport is stopped, and its server told") {
  world w{[](old_server& x) { x.mute = true; }};
  REQUIRE(w.at->wait_ready(steady_clock::now() + seconds{10}));
  const auto came = [&](const char* method) {
    for (const auto& x : w.http->requests())
      if (x.body.find(method) != std::string::npos) return true;
    return false;
  };
  std::jthread caller{[&] { CHECK(w.call().err->code == errc::cancelled); }};
  REQUIRE(eventually([&] { return came("tools/call"); }));
  w.stop.request_stop();
  caller.join();
  CHECK(eventually([&] { return came("notifications/cancelled"); }));
  w.at.reset();
  CHECK(w.http->wait_for_open_connections(0));
}

TEST_CASE("where there is no endpoint either, both are told") {
  world w{[](old_server& x) { x.has_stream = false; }};
  const auto why = w.why();
  CAPTURE(why);
  CHECK(why.find("HTTP 404: Cannot POST /sse") != std::string::npos);
  CHECK(why.find("HTTP 405") != std::string::npos);
}

TEST_CASE("what a newer server refuses is not asked of an older one") {
  world w{[](old_server& x) {
    x.refusal_text =
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})";
  }};
  CHECK(w.why().find("-32601: no") != std::string::npos);
  CHECK(w.asked("GET", "/sse") == 0);
}
