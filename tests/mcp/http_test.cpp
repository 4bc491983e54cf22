// SPDX-License-Identifier: MIT
// Servers over HTTP, of both eras, which lie and break.
#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/base/trace.hpp"
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

json result_of(const json& x, const json& result) {
  return {{"jsonrpc", "2.0"}, {"id", x.at("id")}, {"result", result}};
}

json text(const std::string& x) {
  return {{"content", {{{"type", "text"}, {"text", x}}}}};
}

std::string event(const json& x, const std::string& id = {}) {
  return (id.empty() ? "" : "id: " + id + "\n") + "data: " + x.dump() + "\n\n";
}

const json tool_list = {
    {"tools",
     {{{"name", "echo"},
       {"description", "d"},
       {"inputSchema",
        {{"type", "object"},
         {"properties",
          {{"text", {{"type", "string"}, {"x-mcp-header", "Text"}}}}}}}}}}};

/// What a server of one era says to everything but `tools/call`.
struct fake {
  bool modern = false;
  std::atomic<bool> hangs = false;  ///< where answers are posted
  std::atomic<int> sessions{0};
  std::function<http_reply(const http_request&, const json&)> on_call;
  std::function<http_reply()> on_get;

  http_reply answer(const http_request& request) {
    if (request.method == "GET" && on_get) return on_get();
    if (request.method == "GET") return http_reply::text("", 405);
    if (request.method == "DELETE") return http_reply::text("");
    const auto x = json::parse(request.body);
    const auto method = x.value("method", "");
    if (method.empty() && hangs) return http_reply::sse().stall();
    if (method == "notifications/cancelled" && hangs)
      return http_reply::sse().stall();
    if (!x.contains("id") || method.empty()) return http_reply::text("", 202);
    if (method == "server/discover" && !modern)
      return http_reply::text("Bad Request: no session", 400);
    if (method == "server/discover")
      return http_reply::json(
          result_of(x, {{"supportedVersions", {"2026-07-28"}},
                        {"capabilities", {{"tools", json::object()}}}})
              .dump());
    if (method == "initialize")
      return http_reply::json(
                 result_of(x, {{"protocolVersion", "2025-11-25"},
                               {"capabilities", {{"tools", json::object()}}},
                               {"serverInfo", {{"name", "fake"}}}})
                     .dump())
          .header("Mcp-Session-Id", "s" + std::to_string(++sessions));
    if (method == "tools/list")
      return http_reply::json(result_of(x, tool_list).dump());
    if (method == "ping")
      return http_reply::json(result_of(x, json::object()).dump());
    return on_call(request, x);
  }
};

struct world {
  explicit world(bool modern, decltype(fake::on_call) on_call) {
    what->modern = modern;
    what->on_call = std::move(on_call);
    http.emplace([w = what](const http_request& x) { return w->answer(x); });
    server_options x;
    x.name = "web";
    x.me = {"riffle", "1", {}, false};
    x.startup_timeout = seconds{10};
    x.ping_limit = milliseconds{500};
    x.supervision.backoff = {milliseconds{10}, milliseconds{50}};
    x.supervision.intensity = 50;
    http_link_options how;
    how.name = "web";
    how.url = http->url("/mcp");
    how.headers = {"Authorization: Bearer token-1"};
    how.retry = milliseconds{20};
    x.connect = [how](link_events events) {
      return open_http(how, std::move(events));
    };
    at.emplace(std::move(x));
  }

  tools::tool_output call(const json& arguments = {{"text", "hi"}}) {
    tools::tool_context context;
    context.call = call_id{"call_1"};
    context.stop = stop.get_token();
    context.progress = [this](tool_progress_report) { ++reports; };
    return call_tool(*at, "echo", {}, arguments, context);
  }

  std::vector<http_request> requests_for(const std::string& method) const {
    std::vector<http_request> out;
    for (auto& x : http->requests()) {
      const auto body = json::parse(x.body, nullptr, false);
      if (body.is_object() && body.value("method", "") == method)
        out.push_back(x);
    }
    return out;
  }

  std::shared_ptr<fake> what = std::make_shared<fake>();
  std::stop_source stop;
  std::atomic<int> reports{0};
  std::optional<http_server> http;
  std::optional<server> at;
};

}  // namespace

TEST_CASE("a modern server gets the headers and the meta of its era") {
  world w{true, [](const http_request&, const json& x) {
            return http_reply::json(result_of(x, text("ok")).dump());
          }};
  CHECK(w.call({{"text", " \xC3\xA9"}}).text == "ok");
  CHECK(w.at->status().has->about.speaks == era::modern);
  const auto all = w.requests_for("tools/call");
  REQUIRE(all.size() == 1);
  CHECK(all[0].header("authorization") == "Bearer token-1");
  CHECK(all[0].header("mcp-protocol-version") == "2026-07-28");
  CHECK(all[0].header("mcp-method") == "tools/call");
  CHECK(all[0].header("mcp-name") == "echo");
  CHECK(all[0].header("mcp-param-text") == "=?base64?IMOp?=");
  CHECK(all[0].header("mcp-session-id").empty());
  CHECK(all[0].header("accept") == "application/json, text/event-stream");
  const auto meta = json::parse(all[0].body).at("params").at("_meta");
  CHECK(meta.at("io.modelcontextprotocol/protocolVersion") == "2026-07-28");
  CHECK(meta.at("io.modelcontextprotocol/clientCapabilities") ==
        json::object());
  // It belongs to no run, so it is a trace of its own.
  CHECK(meta.at("traceparent") == trace_of(run_id{"call_1"}));
  CHECK(w.requests_for("initialize").empty());
}

TEST_CASE("a legacy server gets its session, and DELETE at the end") {
  world w{false, [](const http_request&, const json& x) {
            return http_reply::json(result_of(x, text("ok")).dump());
          }};
  CHECK(w.call().text == "ok");
  const auto all = w.requests_for("tools/call");
  REQUIRE(all.size() == 1);
  CHECK(all[0].header("mcp-session-id") == "s1");
  CHECK(all[0].header("mcp-protocol-version") == "2025-11-25");
  CHECK(all[0].header("mcp-method").empty());
  CHECK(all[0].header("mcp-param-text").empty());
  CHECK(w.requests_for("notifications/initialized").size() == 1);
  w.at.reset();
  const auto last = w.http->requests().back();
  CHECK(last.method == "DELETE");
  CHECK(last.header("mcp-session-id") == "s1");
}

TEST_CASE("a stream brings progress, requests of the server, and the result") {
  world w{
      false, [](const http_request&, const json& x) {
        auto out = http_reply::sse();
        out.send(": a comment\n\n");
        for (int i = 1; i <= 3; ++i)
          out.send(event({{"jsonrpc", "2.0"},
                          {"method", "notifications/progress"},
                          {"params",
                           {{"progressToken",
                             x.at("params").at("_meta").at("progressToken")},
                            {"progress", i}}}}));
        out.send(event({{"jsonrpc", "2.0"}, {"id", 9}, {"method", "ping"}}));
        out.pause(milliseconds{150});
        out.send(event(result_of(x, text("ok"))));
        return out;
      }};
  CHECK(w.call().text == "ok");
  CHECK(w.reports == 3);
  CHECK(eventually([&] {
    for (const auto& x : w.http->requests())
      if (x.body == R"({"id":9,"jsonrpc":"2.0","result":{}})") return true;
    return false;
  }));
}

TEST_CASE("a server that asks much and takes no answer holds up no call") {
  world w{false, [](const http_request&, const json& x) {
            auto out = http_reply::sse();
            for (int i = 0; i < 500; ++i)
              out.send(event(
                  {{"jsonrpc", "2.0"}, {"id", 1000 + i}, {"method", "ping"}}));
            if (x.at("params").at("arguments").contains("text"))
              return std::move(out.stall());
            return std::move(out.send(event(result_of(x, text("ok")))));
          }};
  w.what->hangs = true;
  CHECK(w.call(json::object()).text == "ok");
  std::jthread caller{[&] { CHECK(w.call().err->code == errc::cancelled); }};
  REQUIRE(eventually([&] { return w.requests_for("tools/call").size() == 2; }));
  const auto began = steady_clock::now();
  w.stop.request_stop();
  caller.join();
  w.at.reset();
  CHECK(steady_clock::now() - began < seconds{5});
}

TEST_CASE("who wants to be asked again at once is asked after a pause") {
  auto asked = std::make_shared<std::atomic<int>>(0);
  world w{false, [](const http_request&, const json& x) {
            return http_reply::json(result_of(x, text("ok")).dump());
          }};
  w.what->on_get = [asked] {
    ++*asked;
    return http_reply::sse().send("id: e1\nretry: 0\ndata:\n\n");
  };
  CHECK(w.call().text == "ok");
  const auto began = steady_clock::now();
  REQUIRE(eventually([&] { return *asked >= 4; }));
  CHECK(steady_clock::now() - began >= milliseconds{400});
}

TEST_CASE("a legacy stream that broke goes on where it was") {
  auto held = std::make_shared<json>();
  world w{false, [held](const http_request&, const json& x) {
            *held = result_of(x, text("resumed"));
            return http_reply::sse().send("id: e7\nretry: 30\ndata:\n\n").cut();
          }};
  w.http.reset();
  // Another server at the same address is not possible: one that answers GET.
  auto what = w.what;
  http_server http{[what, held](const http_request& x) {
    if (x.method == "GET" && x.header("last-event-id") == "e7")
      return http_reply::sse().send(event(*held, "e8"));
    return what->answer(x);
  }};
  server_options how = w.at->options();
  http_link_options to;
  to.url = http.url("/mcp");
  how.connect = [to](link_events events) {
    return open_http(to, std::move(events));
  };
  server at{how};
  tools::tool_context context;
  CHECK(call_tool(at, "echo", {}, json::object(), context).text == "resumed");
}

TEST_CASE("a server's own stream is opened again after trouble") {
  auto asked = std::make_shared<std::atomic<int>>(0);
  world w{false, [](const http_request&, const json& x) {
            return http_reply::json(result_of(x, text("ok")).dump());
          }};
  w.what->on_get = [asked] {
    constexpr int refusal = 405;
    switch (++*asked) {
      case 1:
        return http_reply::sse().send("id: e1\nretry: 10\ndata:\n\n").cut();
      case 2: return http_reply::text("restarting", 503);
      default: return http_reply::text("", refusal);
    }
  };
  CHECK(w.call().text == "ok");
  CHECK(eventually([&] { return *asked >= 3; }));
  CHECK(w.call().text == "ok");
  CHECK(*asked == 3);  // not behind the refusal
}

TEST_CASE("a broken stream of the modern era loses the call, not the server") {
  world w{true, [](const http_request&, const json&) {
            return http_reply::sse().send("id: e7\ndata: {}\n\n").cut();
          }};
  const auto out = w.call();
  CHECK(out.lost);
  CHECK(w.at->status().state == server_state::ready);
  CHECK(w.requests_for("tools/call").size() == 1);
}

TEST_CASE("a session that the server forgot is begun again") {
  world w{false, [](const http_request& request, const json& x) {
            if (request.header("mcp-session-id") == "s1")
              return http_reply::text("no such session", 404);
            return http_reply::json(result_of(x, text("ok")).dump());
          }};
  const auto first = w.call();
  CHECK(first.lost);
  CHECK(w.call().text == "ok");
  CHECK(w.what->sessions == 2);
}

TEST_CASE("errors of HTTP are told in words") {
  int status = 401;
  std::string body = "who are you?";
  world w{false, [&](const http_request&, const json&) {
            return http_reply::text(body, status);
          }};
  CHECK(w.call().err->message.find("HTTP 401: it wants a token") !=
        std::string::npos);
  status = 400;
  body =
      R"({"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad"}})";
  CHECK(w.call().err->message.find("-32602: bad") != std::string::npos);
  status = 503;
  CHECK(w.call().err->message.find("-32602: bad") != std::string::npos);
  body = "down";
  const auto out = w.call();
  CHECK(out.lost);
  CHECK(out.err->message.find("HTTP 503: down") != std::string::npos);
  status = 307;
  body = "";
  CHECK(w.call().err->message.find("HTTP 307") != std::string::npos);
}

TEST_CASE("lies over HTTP cost the call") {
  std::string kind;
  world w{
      true, [&](const http_request&, const json& x) {
        if (kind == "garbage") return http_reply::json("<html>");
        if (kind == "other id")
          return http_reply::json(R"({"jsonrpc":"2.0","id":4711,"result":{}})");
        if (kind == "silence") return http_reply::sse().send(": x\n\n");
        if (kind == "long")
          return http_reply::json(
              result_of(x, text(std::string(10u << 20, 'x'))).dump());
        return http_reply::garbage("no HTTP at all");
      }};
  for (const auto* x : {"garbage", "other id", "silence", "long", "no HTTP"}) {
    CAPTURE(x);
    kind = x;
    const auto out = w.call();
    REQUIRE(out.err);
    CHECK(out.lost);
  }
}

TEST_CASE("a call that is stopped is cancelled as its era wants") {
  for (const bool modern : {true, false}) {
    CAPTURE(modern);
    world w{modern, [](const http_request&, const json&) {
              return http_reply::sse().send(": x\n\n").stall();
            }};
    REQUIRE(w.at->wait_ready(steady_clock::now() + seconds{10}));
    std::jthread caller{[&] { CHECK(w.call().err->code == errc::cancelled); }};
    REQUIRE(eventually([&] { return !w.requests_for("tools/call").empty(); }));
    const auto began = steady_clock::now();
    w.stop.request_stop();
    caller.join();
    CHECK(steady_clock::now() - began < seconds{2});
    // On the side: nobody waits for it.
    const std::size_t told = modern ? 0 : 1;
    CHECK(eventually([&] {
      return w.requests_for("notifications/cancelled").size() == told;
    }));
  }
}

TEST_CASE("who is not heard when a call is stopped holds up nobody") {
  world w{false, [](const http_request&, const json&) {
            return http_reply::sse().send(": x\n\n").stall();
          }};
  REQUIRE(w.at->wait_ready(steady_clock::now() + seconds{10}));
  w.what->hangs = true;
  std::jthread caller{[&] { CHECK(w.call().err->code == errc::cancelled); }};
  REQUIRE(eventually([&] { return !w.requests_for("tools/call").empty(); }));
  const auto began = steady_clock::now();
  w.stop.request_stop();
  caller.join();
  CHECK(steady_clock::now() - began < seconds{3});  // it waits for 5
}

TEST_CASE("a server that is gone is tried again, and comes back by itself") {
  world w{true, [](const http_request&, const json& x) {
            return http_reply::json(result_of(x, text("ok")).dump());
          }};
  CHECK(w.call().text == "ok");
  w.http.reset();
  const auto out = w.call();
  CHECK(out.lost);
  CHECK(out.err->message.find("cannot be reached") != std::string::npos);
  CHECK(eventually([&] { return w.at->status().restarts >= 2; }));
}
