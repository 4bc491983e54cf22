// SPDX-License-Identifier: MIT
#include "runtime/model/http_credit.hpp"

#include <thread>

#include "tests/model/http_fixture.hpp"
#include "tests/support/catch.hpp"

namespace riffle::model {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t large = 50u << 20;
constexpr std::size_t line = 64;

std::string one_line() {
  std::string text(line, 'x');
  text.back() = '\n';
  return text;
}

/// Waits until the server cannot get rid of any more bytes.
std::size_t wait_until_stuck(const http_server& server) {
  auto last = server.bytes_sent();
  for (int i = 0; i < 100; ++i) {
    std::this_thread::sleep_for(100ms);
    auto now = server.bytes_sent();
    if (now == last && now > 0) {
      return now;
    }
    last = now;
  }
  return last;
}

}  // namespace

TEST_CASE("credit is taken up to what there is") {
  http_credit credit{10};
  CHECK(credit.take(4) == 4);
  CHECK(credit.take(100) == 6);
  CHECK(credit.take(1) == 0);
}

TEST_CASE("only a grant that somebody waits for tells") {
  http_credit credit{0};
  CHECK_FALSE(credit.add(1));
  CHECK_FALSE(credit.wait());
  CHECK(credit.take(1) == 1);
  CHECK(credit.wait());
  CHECK_FALSE(credit.add(0));
  CHECK(credit.add(1));
  CHECK_FALSE(credit.add(1));
}

TEST_CASE("credit without end does not overflow") {
  http_credit credit{static_cast<std::size_t>(-1)};
  credit.add(static_cast<std::size_t>(-1));
  CHECK(credit.take(5) == 5);
  credit.add(100);
  CHECK(credit.take(1000) == 1000);
}

TEST_CASE("a sender at full speed is stopped where the credit ends") {
  http_server server{http_reply::sse().repeat(one_line(), large / line)};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.credit = 1u << 20;
  request.timeouts.idle = 200ms;
  auto before = resident_bytes();
  auto x = client.post(request);
  REQUIRE(x->wait_for_bytes(request.credit));
  auto sent = wait_until_stuck(server);
  CHECK(x->size() == request.credit);
  CHECK(sent < large);
  // Kernel buffers are not ours; what is left is the recorder's own copy.
  CHECK(grown_since(before) < 16u << 20);
  CHECK(x->ends() == 0);

  client.transport->grant(x.id, 2 * large);
  CHECK(code_of(x->end()) == "none");
  REQUIRE(x->size() == large);
  auto body = x->body();
  bool intact = true;
  for (std::size_t i = 0; i < large; i += line) {
    intact = intact && body.compare(i, line, one_line()) == 0;
  }
  CHECK(intact);
}

TEST_CASE("without any credit nothing is delivered") {
  http_server server{http_reply::sse().repeat(one_line(), large / line)};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.credit = 0;
  auto x = client.post(request);
  REQUIRE(server.wait_for_requests(1));
  CHECK(wait_until_stuck(server) < large);
  CHECK(x->reads() == 0);
  client.transport->grant(x.id, 1);
  REQUIRE(x->wait_for_bytes(1));
  client.transport->grant(x.id, 9);
  REQUIRE(x->wait_for_bytes(10));
  CHECK(x->body() == "xxxxxxxxxx");
}

TEST_CASE("a receiver that grants what it has got receives everything") {
  struct eager final : transfer_listener {
    void on_bytes(std::string bytes) override {
      most = std::max(most, bytes.size());
      copy.on_bytes(std::move(bytes));
    }
    void on_end(transport_end end) override { copy.on_end(std::move(end)); }
    recorder copy;
    std::size_t most = 0;
  };
  http_server server{http_reply::sse().repeat(one_line(), 4u << 10)};
  http_client client;
  auto listener = std::make_shared<eager>();
  transport_request request;
  request.url = server.url();
  request.credit = 8000;
  auto id = client.transport->open(request, listener);
  // From another thread, as an actor would.
  std::size_t granted = 0;
  while (listener->copy.wait_for_more(granted)) {
    auto got = listener->copy.size();
    client.transport->grant(id, got - granted);
    granted = got;
  }
  CHECK(code_of(listener->copy.end()) == "none");
  CHECK(listener->copy.size() == (4u << 10) * line);
  CHECK(listener->most <= 8000);
}

TEST_CASE("an end that needs no credit is told without any") {
  http_server server{http_reply::sse().send("0123456789")};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.credit = 10;
  auto x = client.post(request);
  CHECK(code_of(x->end()) == "none");
  CHECK(x->body() == "0123456789");
}

TEST_CASE("an end waits for the bytes before it") {
  http_server server{http_reply::sse().send("0123456789").cut()};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.credit = 3;
  auto x = client.post(request);
  REQUIRE(x->wait_for_bytes(3));
  REQUIRE(server.wait_for_open_connections(0));
  CHECK(x->ends() == 0);
  client.transport->grant(x.id, 7);
  CHECK(code_of(x->end()) == "stream_interrupted");
  CHECK(x->body() == "0123456789");
}

TEST_CASE("a transfer without credit does not hold up another") {
  http_server server{[](const http_request& request) {
    return request.target == "/large"
               ? http_reply::sse().repeat(one_line(), large / line)
               : http_reply::json("{}");
  }};
  http_client client;
  transport_request request;
  request.url = server.url("/large");
  request.credit = 1;
  auto starved = client.post(request);
  REQUIRE(starved->wait_for_bytes(1));
  for (int i = 0; i < 20; ++i) {
    CHECK(code_of(client.post(server.url())->end()) == "none");
  }
  CHECK(starved->size() == 1);
}

}  // namespace riffle::model
