// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "tests/model/http_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/packed.hpp"

namespace riffle::model {

using testing::packed;
using namespace std::chrono_literals;

namespace {

std::string words_of(const transport_end& end) {
  return end.failure ? end.failure->message : "";
}

}  // namespace

TEST_CASE("a stream arrives whole and ends cleanly") {
  http_server server{testing::respond_sse("data: a\n\ndata: b\n\n")};
  http_client client;
  auto x = client.post(server.url("/v1/chat/completions"));
  auto end = x->end();
  CHECK(end.http_status == 200);
  CHECK(code_of(end) == "none");
  CHECK(end.content_type == "text/event-stream");
  CHECK_FALSE(end.retry_after);
  CHECK(x->body() == "data: a\n\ndata: b\n\n");
  CHECK(x->ends() == 1);
}

TEST_CASE("a request without a body goes out as GET, between others") {
  http_server server{http_reply::json("{}")};
  http_client client;
  transport_request request;
  for (const bool get : {false, true, false}) {
    request.url = server.url("/v1/models");
    request.get = get;
    request.body = get ? "" : "{}";
    CHECK(client.post(request)->end().http_status == 200);
  }
  const auto seen = server.requests();
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].method == "POST");
  CHECK(seen[1].method == "GET");
  CHECK(seen[1].header("content-length").empty());
  CHECK(seen[2].method == "POST");
  CHECK(seen[2].body == "{}");
}

TEST_CASE("what the server says of its limits is read") {
  http_server server{http_reply::json("{}")
                         .header("X-RateLimit-Limit-Requests", "100")
                         .header("x-ratelimit-remaining-requests", "1")
                         .header("x-ratelimit-reset-requests", "20s")};
  http_client client;
  transport_request request;
  request.url = server.url("/v1");
  CHECK(client.post(request)->end().pace == 10s);
  http_server refusing{http_reply::json("{}", 429)
                           .header("x-ratelimit-remaining-requests", "0")
                           .header("x-ratelimit-reset-requests", "20s")
                           .header("Retry-After", "1")};
  request.url = refusing.url("/v1");
  const auto refused = client.post(request)->end();
  CHECK_FALSE(refused.pace);
  CHECK(refused.retry_after == 1s);
  http_server silent{http_reply::json("{}")};
  request.url = silent.url("/v1");
  CHECK_FALSE(client.post(request)->end().pace);
}

TEST_CASE("the request goes out as it was given") {
  http_server server{http_reply::json("{}")};
  http_client client;
  transport_request request;
  request.url = server.url("/v1/x?y=1");
  request.headers = {"Authorization: Bearer k",
                     "Content-Type: application/json"};
  request.body = std::string(300'000, 'b') + std::string("\0end", 4);
  auto body = request.body;
  CHECK(client.post(request)->end().http_status == 200);
  auto seen = server.requests().at(0);
  CHECK(seen.method == "POST");
  CHECK(seen.target == "/v1/x?y=1");
  CHECK(seen.header("authorization") == "Bearer k");
  CHECK(seen.header("content-type") == "application/json");
  CHECK(seen.header("user-agent") == "riffle");
  CHECK(seen.header("accept-encoding") == "identity");
  CHECK(seen.header("expect").empty());
  CHECK(seen.body == body);
}

TEST_CASE("an empty body and an empty answer are fine") {
  http_server server{http_reply{200}};
  http_client client;
  auto x = client.post(server.url(), "");
  CHECK(code_of(x->end()) == "none");
  CHECK(x->reads() == 0);
  CHECK(server.requests().at(0).header("content-length") == "0");
}

TEST_CASE("the media type comes in lower case without parameters") {
  http_server server{
      http_reply::text("{}", 200, "Application/JSON ; charset=utf-8")};
  http_client client;
  CHECK(client.post(server.url())->end().content_type == "application/json");
}

TEST_CASE("requests one after the other share a connection") {
  http_server server{testing::respond_sse("data: a\n\n")};
  http_client client;
  for (int i = 0; i < 3; ++i) {
    CHECK(code_of(client.post(server.url())->end()) == "none");
  }
  CHECK(server.request_count() == 3);
  CHECK(server.connection_count() == 1);
}

TEST_CASE("a refusal keeps the connection") {
  http_server server{http_reply::json(R"({"error":{"message":"x"}})", 500),
                     http_reply::json("{}")};
  http_client client;
  CHECK(client.post(server.url())->end().http_status == 500);
  CHECK(client.post(server.url())->end().http_status == 200);
  CHECK(server.connection_count() == 1);
}

TEST_CASE("a connection that the server has closed is replaced") {
  http_server server{
      http_reply{200, http_reply::framing::until_close}.send("a"),
      http_reply::json("{}")};
  http_client client;
  auto first = client.post(server.url());
  CHECK(code_of(first->end()) == "none");
  CHECK(first->body() == "a");
  REQUIRE(server.wait_for_open_connections(0));
  CHECK(code_of(client.post(server.url())->end()) == "none");
  CHECK(server.connection_count() == 2);
}

TEST_CASE("an answer in pieces of one byte arrives whole") {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += "data: " + std::to_string(i) + "\n\n";
  }
  http_server server{testing::respond_sse(text).pieces(1)};
  http_client client;
  auto x = client.post(server.url());
  CHECK(code_of(x->end()) == "none");
  CHECK(x->body() == text);
}

TEST_CASE("many chunks of one read come in one call") {
  http_server server{
      http_reply::sse().stall().send("1").send("2").send("3").repeat("x", 9)};
  http_client client;
  transport_request request;
  request.url = server.url();
  auto x = client.post(request);
  REQUIRE(server.wait_for_requests(1));
  server.release();
  CHECK(code_of(x->end()) == "none");
  CHECK(x->body() == "123xxxxxxxxx");
}

TEST_CASE("a large stream takes far fewer calls than it has chunks") {
  auto reply = http_reply::sse();
  for (int i = 0; i < 20'000; ++i) {
    reply.send(std::string(150, 'c'));
  }
  http_server server{reply};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.credit = 1u << 30;
  auto x = client.post(request);
  CHECK(code_of(x->end()) == "none");
  CHECK(x->size() == 3'000'000);
  CHECK(x->reads() < 15'000);  // how many depends on who is faster
}

TEST_CASE("200 streams at once each get their own bytes") {
  http_server server{[](const http_request& request) {
    auto reply = http_reply::sse();
    for (int i = 0; i < 5; ++i) {
      reply.send(request.target + "\n").pause(5ms);
    }
    return reply;
  }};
  http_client client;
  std::vector<http_client::transfer> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(client.post(server.url("/" + std::to_string(i))));
  }
  for (int i = 0; i < 200; ++i) {
    auto line = "/" + std::to_string(i) + "\n";
    auto& x = all[static_cast<std::size_t>(i)];
    CHECK(code_of(x->end()) == "none");
    CHECK(x->body() == line + line + line + line + line);
    CHECK(x->ends() == 1);
  }
  CHECK(server.connection_count() <= 200);
}

TEST_CASE("a compressed body that nobody asked for is refused, and said") {
  for (const std::string how : {"gzip", "identity, BR", "no, way"}) {
    http_server server{packed(testing::squeezed(), how)};
    http_client client;
    auto x = client.post(server.url());
    const auto end = x->end();
    CAPTURE(how);
    CHECK(code_of(end) == "model_error");
    CHECK_FALSE(end.failure->retryable);
    const auto name = how == "gzip" ? how : how == "no, way" ? "no" : "br";
    CHECK(words_of(end).starts_with("the answer is compressed (" + name + ")"));
    CHECK(x->body().empty());
  }
  http_server plain{packed("data: a\n\n", "Identity")};
  http_client client;
  auto x = client.post(plain.url());
  CHECK(code_of(x->end()) == "none");
  CHECK(x->body() == "data: a\n\n");
}

TEST_CASE("a compressed transfer is refused as a compressed body is") {
  http_server server{http_reply::garbage(
      "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n24\r\n" +
      testing::squeezed() + "\r\n0\r\n\r\n")};
  http_client client;
  auto x = client.post(server.url());
  CHECK(words_of(x->end()).starts_with("the answer is compressed (gzip)"));
  CHECK(x->body().empty());
}

TEST_CASE("of a refusal that is compressed the status is told") {
  http_server server{packed(testing::gzip_bomb(2000), "gzip", "text/html", 429),
                     http_reply::json("{}")};
  http_client client;
  const auto end = client.post(server.url())->end();
  CHECK(end.http_status == 429);
  CHECK(code_of(end) == "model_rate_limited");
  CHECK(words_of(end).find('x') == std::string::npos);
}

TEST_CASE("a bomb of gzip costs nothing") {
  http_server server{packed(testing::gzip_bomb(2000))};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.credit = 10;
  const auto before = resident_bytes();
  auto x = client.post(request);
  CHECK(code_of(x->end()) == "model_error");
  CHECK(x->body().empty());
  CHECK(grown_since(before) < 8u << 20);
}

TEST_CASE("a proxy gets the whole URL") {
  http_server proxy{http_reply::json("{}")};
  http_options options;
  options.proxy = proxy.url("");
  http_client client{options};
  CHECK(client.post("http://model.invalid/v1/x")->end().http_status == 200);
  CHECK(proxy.requests().at(0).target == "http://model.invalid/v1/x");
}

TEST_CASE("a listener may grant, cancel and open from within its calls") {
  http_server server{testing::respond_sse("data: a\n\n")};
  http_client client;

  struct chain final : transfer_listener {
    void on_bytes(std::string) override { client->transport->grant(id, 1); }
    void on_end(transport_end) override {
      client->transport->cancel(id);
      transport_request request;
      request.url = url;
      client->transport->open(request, next);
    }
    http_client* client = nullptr;
    transfer_id id = 1;
    std::string url;
    std::shared_ptr<recorder> next = std::make_shared<recorder>();
  };
  auto first = std::make_shared<chain>();
  first->client = &client;
  first->url = server.url();
  transport_request request;
  request.url = server.url();
  client.transport->open(request, first);
  CHECK(code_of(first->next->end()) == "none");
}

}  // namespace riffle::model
