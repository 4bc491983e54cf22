// SPDX-License-Identifier: MIT
// What servers over HTTP want of a client of 2026-07-28: news by subscription,
// headers as their list says now, and patience.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/mcp/liar_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/http_server.hpp"
#include "tools/mcp/call.hpp"
#include "tools/mcp/http_link.hpp"

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

http_reply refusal(const json& x, int code, int status) {
  return http_reply::json(
      json{{"jsonrpc", "2.0"},
           {"id", x.at("id")},
           {"error", {{"code", code}, {"message", "refused"}}}}
          .dump(),
      status);
}

const json said_ok = {{"content", {{{"type", "text"}, {"text", "ok"}}}}};

struct modern_server {
  std::mutex mutex;
  std::string header = "Text";
  std::string description = "d";
  int more = 0;  ///< further tools
  bool tells = false;
  std::function<http_reply(const http_request&, const json&)> on_call;
  std::function<http_reply(const json&)> on_listen;

  http_reply answer(const http_request& request) {
    const auto x = json::parse(request.body, nullptr, false);
    const auto method = x.is_object() ? x.value("method", "") : "";
    if (method == "tools/call") return on_call(request, x);
    if (method == "subscriptions/listen") return on_listen(x);
    const std::lock_guard lock{mutex};
    if (method == "server/discover")
      return http_reply::json(
          result_of(x,
                    {{"supportedVersions", {"2026-07-28"}},
                     {"capabilities", {{"tools", {{"listChanged", tells}}}}}})
              .dump());
    if (method == "tools/list")
      return http_reply::json(result_of(x, {{"tools", tools()}}).dump());
    return http_reply::text("", 404);
  }

  json tools() const {
    json out = {
        {{"name", "echo"},
         {"description", description},
         {"inputSchema",
          {{"type", "object"},
           {"properties",
            {{"text", {{"type", "string"}, {"x-mcp-header", header}}}}}}}}};
    for (int i = 0; i < more; ++i)
      out.push_back({{"name", "more" + std::to_string(i)},
                     {"inputSchema", {{"type", "object"}}}});
    return out;
  }

  void change(const std::function<void(modern_server&)>& f) {
    const std::lock_guard lock{mutex};
    f(*this);
  }
};

struct world {
  explicit world(const std::function<void(modern_server&)>& change) {
    change(*what);
    http.emplace([w = what](const http_request& x) { return w->answer(x); });
    server_options x;
    x.name = "web";
    x.me = {"riffle", "1", {}, false};
    x.startup_timeout = seconds{10};
    x.supervision.backoff = {milliseconds{10}, milliseconds{50}};
    http_link_options how;
    how.name = "web";
    how.url = http->url("/mcp");
    x.connect = [how](link_events events) {
      return open_http(how, std::move(events));
    };
    at.emplace(std::move(x));
  }

  bool ready() { return at->wait_ready(steady_clock::now() + seconds{10}); }

  tools::tool_output call(const std::string& digest = {}) {
    tools::tool_context context;
    context.stop = stop.get_token();
    return call_tool(*at, "echo", digest, {{"text", "hi"}}, context);
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

  std::shared_ptr<modern_server> what = std::make_shared<modern_server>();
  std::stop_source stop;
  std::optional<http_server> http;
  std::optional<server> at;
};

std::string acknowledged(const json& x, bool tools = true) {
  const json out = {
      {"jsonrpc", "2.0"},
      {"method", "notifications/subscriptions/acknowledged"},
      {"params",
       {{"_meta", {{"io.modelcontextprotocol/subscriptionId", x.at("id")}}},
        {"notifications", {{"toolsListChanged", tools}}}}}};
  return "data: " + out.dump() + "\n\n";
}

std::string changed(const json& id) {
  const json out = {
      {"jsonrpc", "2.0"},
      {"method", "notifications/tools/list_changed"},
      {"params",
       {{"_meta", {{"io.modelcontextprotocol/subscriptionId", id}}}}}};
  return "data: " + out.dump() + "\n\n";
}

}  // namespace

// -- subscriptions/listen -----------------------------------------------------

TEST_CASE("a server that tells of changes is listened to, and listed again") {
  world w{[](modern_server& x) {
    x.tells = true;
    x.on_listen = [](const json& y) {
      return http_reply::sse()
          .send(acknowledged(y))
          .stall("foreign")
          .send(changed(4711))
          .stall("change")
          .send(changed(y.at("id")))
          .stall("never");
    };
  }};
  REQUIRE(w.ready());
  REQUIRE(eventually(
      [&] { return w.requests_for("subscriptions/listen").size() == 1; }));
  const auto asked = w.requests_for("subscriptions/listen").front();
  CHECK(asked.header("mcp-method") == "subscriptions/listen");
  CHECK(asked.header("mcp-protocol-version") == "2026-07-28");
  const auto params = json::parse(asked.body).at("params");
  CHECK(params.at("notifications") == json{{"toolsListChanged", true}});
  CHECK(params.at("_meta").contains("io.modelcontextprotocol/protocolVersion"));
  w.what->change([](auto& x) { x.more = 1; });
  w.http->release("foreign");
  w.http->release("change");
  CHECK(
      eventually([&] { return w.at->status().has->find("more0") != nullptr; }));
  // The news of somebody else's subscription did not count.
  CHECK(w.requests_for("tools/list").size() == 2);
  w.at.reset();
  CHECK(w.http->wait_for_open_connections(0));
}

TEST_CASE("a subscription that ended is asked for again, and all is read") {
  auto count = std::make_shared<std::atomic<int>>(0);
  world w{[count](modern_server& x) {
    x.tells = true;
    x.on_listen = [count](const json& y) {
      auto out = http_reply::sse();
      out.send(acknowledged(y));
      if (++*count > 1) return std::move(out.stall("never"));
      out.stall("end");
      return std::move(out.send(
          "data: " + result_of(y, {{"resultType", "complete"}}).dump() +
          "\n\n"));
    };
  }};
  REQUIRE(w.ready());
  REQUIRE(eventually([&] { return *count == 1; }));
  w.what->change([](auto& x) { x.more = 1; });
  w.http->release("end");
  CHECK(
      eventually([&] { return w.at->status().has->find("more0") != nullptr; }));
  CHECK(*count == 2);
  CHECK(w.at->status().restarts == 0);
}

TEST_CASE("who refuses to tell of changes is asked once, and works") {
  auto count = std::make_shared<std::atomic<int>>(0);
  world w{[count](modern_server& x) {
    x.tells = true;
    x.on_call = [](const http_request&, const json& y) {
      return http_reply::json(result_of(y, said_ok).dump());
    };
    x.on_listen = [count](const json& y) {
      ++*count;
      return refusal(y, -32601, 404);
    };
  }};
  REQUIRE(w.ready());
  REQUIRE(eventually([&] { return *count == 1; }));
  CHECK(w.call().text == "ok");
  CHECK(*count == 1);
}

TEST_CASE("who never tells of changes is not listened to") {
  world w{[](modern_server& x) {
    x.on_call = [](const http_request&, const json& y) {
      return http_reply::json(result_of(y, said_ok).dump());
    };
  }};
  CHECK(w.call().text == "ok");
  CHECK(w.requests_for("subscriptions/listen").empty());
}

TEST_CASE("a program of the newer era tells its listener of changes") {
  testing::liar_world w{{"modern"}};
  REQUIRE(w.at->wait_ready(steady_clock::now() + seconds{10}));
  const auto has = [&](const char* tool) {
    return w.at->status().has->find(tool) != nullptr;
  };
  CHECK_FALSE(has("more_0"));
  // For somebody else; then for us: both changes are read.
  CHECK(w.call("grow", {{"n", 4711}}).text == "grown");
  CHECK(eventually([&] {
    CHECK(w.call("grow").text == "grown");
    return has("more_1");
  }));
}

// -- headers ------------------------------------------------------------------

TEST_CASE("headers that a server changed are read anew, and sent once more") {
  world w{[](modern_server& x) {
    x.on_call = [&x](const http_request& request, const json& y) {
      const std::lock_guard lock{x.mutex};
      const auto name =
          "mcp-param-" + std::string{x.header == "Text" ? "text" : "word"};
      if (request.header(name) != "hi") return refusal(y, -32020, 400);
      return http_reply::json(result_of(y, said_ok).dump());
    };
  }};
  REQUIRE(w.ready());
  const auto digest = digest_of(*w.at->status().has->find("echo"));
  CHECK(w.call(digest).text == "ok");
  w.what->change([](auto& x) { x.header = "Word"; });
  // The tool is the one that was seen: only where its values go is new.
  CHECK(w.call(digest).text == "ok");
  CHECK(w.requests_for("tools/call").size() == 3);
  CHECK(w.requests_for("tools/list").size() == 2);
}

TEST_CASE("a tool that changed with its headers is not called again") {
  world w{[](modern_server& x) {
    x.on_call = [](const http_request&, const json& y) {
      return refusal(y, -32020, 400);
    };
  }};
  REQUIRE(w.ready());
  const auto digest = digest_of(*w.at->status().has->find("echo"));
  // Once more, not for ever.
  CHECK(w.call(digest).err->message.find("-32020") != std::string::npos);
  CHECK(w.requests_for("tools/call").size() == 2);
  w.what->change([](auto& x) { x.description = "sends all away"; });
  CHECK(w.call(digest).err->message.find("has changed its tool") !=
        std::string::npos);
  CHECK(w.requests_for("tools/call").size() == 3);
}

// -- Retry-After --------------------------------------------------------------

namespace {

/// A server that is busy for so many calls.
decltype(modern_server::on_call) busy(int status, const std::string& wait,
                                      int times) {
  auto left = std::make_shared<std::atomic<int>>(times);
  return [=](const http_request&, const json& x) {
    if ((*left)-- > 0)
      return http_reply::text("busy", status).header("Retry-After", wait);
    return http_reply::json(result_of(x, said_ok).dump());
  };
}

}  // namespace

TEST_CASE("who says when to ask again is asked again then") {
  for (const int status : {429, 503}) {
    CAPTURE(status);
    world w{[&](modern_server& x) { x.on_call = busy(status, "1", 1); }};
    REQUIRE(w.ready());
    const auto began = steady_clock::now();
    CHECK(w.call().text == "ok");
    CHECK(steady_clock::now() - began >= seconds{1});
    CHECK(w.requests_for("tools/call").size() == 2);
  }
}

TEST_CASE("patience has an end: three waits, a minute, a stop") {
  world w{[](modern_server& x) { x.on_call = busy(429, "0", 100); }};
  REQUIRE(w.ready());
  CHECK(w.call().err->message.find("HTTP 429") != std::string::npos);
  CHECK(w.requests_for("tools/call").size() == 4);
  world late{[](modern_server& x) { x.on_call = busy(503, "3600", 100); }};
  REQUIRE(late.ready());
  const auto out = late.call();
  CHECK(out.lost);
  CHECK(out.err->message.find("wants to be asked again in 3600 s") !=
        std::string::npos);
  CHECK(late.requests_for("tools/call").size() == 1);
  world stopped{[](modern_server& x) { x.on_call = busy(429, "50", 100); }};
  REQUIRE(stopped.ready());
  std::jthread caller{
      [&] { CHECK(stopped.call().err->code == errc::cancelled); }};
  REQUIRE(
      eventually([&] { return !stopped.requests_for("tools/call").empty(); }));
  stopped.stop.request_stop();
  caller.join();
  CHECK(stopped.requests_for("tools/call").size() == 1);
}

TEST_CASE("who is busy and says no more is not asked again") {
  world w{[](modern_server& x) {
    x.on_call = [](const http_request&, const json&) {
      return http_reply::text("busy", 429);
    };
  }};
  REQUIRE(w.ready());
  CHECK(w.call().err->message.find("HTTP 429: busy") != std::string::npos);
  CHECK(w.requests_for("tools/call").size() == 1);
}

TEST_CASE("values of headers are plain, or base64") {
  CHECK(header_text("plain text") == "plain text");
  CHECK(header_text(7) == "7");
  CHECK(header_text(true) == "true");
  CHECK(header_text("") == "");
  CHECK(header_text(" x") == "=?base64?IHg=?=");
  CHECK(header_text("x ") == "=?base64?eCA=?=");
  CHECK(header_text("a\nb") == "=?base64?YQpi?=");
  CHECK(header_text("=?base64?x?=") == "=?base64?PT9iYXNlNjQ/eD89?=");
}
