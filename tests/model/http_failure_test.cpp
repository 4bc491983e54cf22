// SPDX-License-Identifier: MIT
#include "tests/model/http_fixture.hpp"
#include "tests/support/catch.hpp"

namespace riffle::model {

using namespace std::chrono_literals;

namespace {

transport_end answer(const http_reply& reply) {
  http_server server{reply};
  http_client client;
  return client.post(server.url())->end();
}

bool contains(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("nobody listens: unreachable and worth another try") {
  http_client client;
  auto url = "http://127.0.0.1:" + std::to_string(testing::dead_port());
  auto end = client.post(url)->end();
  CHECK(end.http_status == 0);
  REQUIRE(code_of(end) == "model_unreachable");
  CHECK(end.failure->retryable);
}

TEST_CASE("a name that does not exist is unreachable") {
  http_client client;
  auto end = client.post("http://name.invalid/")->end();
  CHECK(code_of(end) == "model_unreachable");
}

TEST_CASE("a URL that cannot work is not tried again") {
  http_client client;
  for (const auto* url : {"", "ftp://127.0.0.1/x", "http://[::1", "file:///"}) {
    auto end = client.post(url)->end();
    INFO(url);
    REQUIRE(code_of(end) == "model_unreachable");
    CHECK_FALSE(end.failure->retryable);
  }
}

TEST_CASE("a header with a line break is not sent") {
  http_server server{http_reply::json("{}")};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.headers = {"Authorization: Bearer secret\n"};
  auto end = client.post(request)->end();
  REQUIRE(code_of(end) == "invalid_request");
  CHECK(contains(end.failure->message, "Authorization"));
  CHECK_FALSE(contains(end.failure->message, "secret"));
  CHECK(server.request_count() == 0);
}

TEST_CASE("plain text on a TLS address is unreachable") {
  http_server server{http_reply::json("{}")};
  http_client client;
  auto url = "https://127.0.0.1:" + std::to_string(server.port());
  auto end = client.post(url)->end();
  CHECK(end.http_status == 0);
  CHECK(code_of(end) == "model_unreachable");
}

TEST_CASE("a connection closed before any answer is unreachable") {
  auto closed = http_reply{200, http_reply::framing::raw};
  for (const auto& reply : {closed.cut(), closed.reset()}) {
    auto end = answer(reply);
    CHECK(end.http_status == 0);
    REQUIRE(code_of(end) == "model_unreachable");
    CHECK(end.failure->retryable);
  }
}

TEST_CASE("a body cut in the middle is an interrupted stream") {
  auto cut = GENERATE(0, 1, 2, 3);
  http_reply reply = http_reply::sse().send("data: a\n\n");
  switch (cut) {
    case 0: reply.cut(); break;
    case 1: reply.pause(20ms).reset(); break;
    case 2:
      reply = http_reply{200}.announce(100).send("data: a\n\n").cut();
      break;
    default:
      reply = http_reply{200, http_reply::framing::raw}
                  .send(
                      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                      "9\r\ndata: a\n\n\r\n7\r\ndat")
                  .cut();
  }
  http_server server{reply};
  http_client client;
  auto x = client.post(server.url());
  auto end = x->end();
  CAPTURE(cut);
  CHECK(end.http_status == 200);
  REQUIRE(code_of(end) == "stream_interrupted");
  CHECK(end.failure->retryable);
  CHECK(x->body().starts_with("data: a\n\n"));
}

TEST_CASE("a broken chunk size is an interrupted stream") {
  auto end = answer(http_reply::garbage(
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
      "zz\r\nhello"));
  CHECK(code_of(end) == "stream_interrupted");
}

TEST_CASE("garbage instead of HTTP is an error of the server") {
  auto end = answer(http_reply::garbage("\x01\x02\x03 what is this\r\n\r\n"));
  REQUIRE(code_of(end) == "model_error");
  CHECK_FALSE(end.failure->retryable);
}

TEST_CASE("a status 500 carries the server's own words") {
  auto end = answer(http_reply::json(
      R"({"error":{"message":"The server had an error"}})", 500));
  CHECK(end.http_status == 500);
  REQUIRE(code_of(end) == "model_error");
  CHECK(end.failure->message == "HTTP 500: The server had an error");
  CHECK(end.failure->retryable);
  CHECK(end.content_type == "application/json");
}

TEST_CASE("a status 429 says when to come back") {
  auto end = answer(http_reply::json(R"({"error":{"message":"slow"}})", 429)
                        .header("Retry-After", "3"));
  REQUIRE(code_of(end) == "model_rate_limited");
  CHECK(end.failure->retryable);
  CHECK(end.retry_after == duration{3s});
}

TEST_CASE("retry-after-ms goes before retry-after") {
  auto end = answer(http_reply::json("{}", 503)
                        .header("retry-after-ms", "250")
                        .header("retry-after", "9"));
  CHECK(end.retry_after == duration{250ms});
}

TEST_CASE("an exhausted quota is not tried again, unless the server says so") {
  auto quota = http_reply::json(
      R"({"error":{"message":"quota","code":"insufficient_quota"}})", 429);
  CHECK_FALSE(answer(quota).failure->retryable);
  CHECK(answer(quota.header("x-should-retry", "true")).failure->retryable);
  CHECK_FALSE(
      answer(http_reply::json("{}", 500).header("x-should-retry", "false"))
          .failure->retryable);
}

TEST_CASE("an HTML page is told without its tags") {
  auto end = answer(http_reply::text(
      "<html><body><h1>502 Bad Gateway</h1></body></html>", 502, "text/html"));
  CHECK(end.failure->message == "HTTP 502: 502 Bad Gateway");
}

TEST_CASE("a redirect is not followed") {
  auto end = answer(http_reply{302}.header("location", "/elsewhere"));
  CHECK(end.http_status == 302);
  REQUIRE(code_of(end) == "model_error");
  CHECK(contains(end.failure->message, "base_url"));
}

TEST_CASE("a refusal does not repeat the key") {
  http_server server{http_reply::json(
      R"({"error":{"message":"Incorrect API key: sk-canary"}})", 401)};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.headers = {"Authorization: Bearer sk-canary"};
  auto end = client.post(request)->end();
  CHECK(contains(end.failure->message, "Incorrect API key: ***"));
  CHECK_FALSE(contains(end.failure->message, "canary"));
}

TEST_CASE("a refusal that is cut or endless is still its status") {
  SECTION("cut") {
    auto end = answer(http_reply{503}.announce(100).send("busy").cut());
    CHECK(end.http_status == 503);
    CHECK(end.failure->message == "HTTP 503: busy");
  }
  SECTION("endless") {
    auto end = answer(http_reply{503, http_reply::framing::chunked}.repeat(
        "0123456789", 1'000'000));
    CHECK(end.http_status == 503);
    CHECK(end.failure->message.size() < 2100);
  }
}

TEST_CASE("a refusal arrives without credit too") {
  http_server server{http_reply::json(R"({"error":"x"})", 400)};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.credit = 0;
  auto x = client.post(request);
  CHECK(x->end().http_status == 400);
  CHECK(x->reads() == 0);
}

}  // namespace riffle::model
