// SPDX-License-Identifier: MIT
#include "tests/model/http_fixture.hpp"
#include "tests/support/catch.hpp"

namespace riffle::model {

namespace {

void check_cancelled(const http_client::transfer& x) {
  CHECK(code_of(x->end()) == "cancelled");
  CHECK(x->ends() == 1);
  CHECK_FALSE(x->heard_after_end());
}

}  // namespace

TEST_CASE("a cancel right after the start ends the transfer") {
  http_server server{http_reply::sse().stall()};
  http_client client;
  auto x = client.post(server.url());
  client.transport->cancel(x.id);
  client.transport->cancel(x.id);
  check_cancelled(x);
}

TEST_CASE("a cancel before the answer ends transfer and connection") {
  http_server server{http_reply{200, http_reply::framing::raw}.stall()};
  http_client client;
  auto x = client.post(server.url());
  REQUIRE(server.wait_for_requests(1));
  client.transport->cancel(x.id);
  check_cancelled(x);
  CHECK(server.wait_for_open_connections(0));
}

TEST_CASE("a cancel in the middle of the body ends transfer and connection") {
  http_server server{http_reply::sse().send("data: a\n\n").stall()};
  http_client client;
  auto x = client.post(server.url());
  REQUIRE(x->wait_for_bytes(9));
  client.transport->cancel(x.id);
  check_cancelled(x);
  CHECK(x->body() == "data: a\n\n");
  CHECK(server.wait_for_open_connections(0));
}

TEST_CASE("a cancel while there is no credit ends the transfer") {
  auto reply = http_reply::sse().send(std::string(100, 'x'));
  auto finished = GENERATE(false, true);
  http_server server{finished ? reply : reply.stall()};
  http_client client;
  transport_request request;
  request.url = server.url();
  request.credit = 10;
  auto x = client.post(request);
  REQUIRE(x->wait_for_bytes(10));
  client.transport->cancel(x.id);
  check_cancelled(x);
  CHECK(x->size() == 10);
}

TEST_CASE("a cancel while connecting ends the transfer") {
  // An address of the documentation range: packets go nowhere, or are
  // refused at once.
  http_client client;
  auto x = client.post("http://192.0.2.1:81/");
  client.transport->cancel(x.id);
  CHECK(x->wait_for_end());
  CHECK(x->ends() == 1);
}

TEST_CASE("a cancel after the end, or of nothing, is ignored") {
  http_server server{http_reply::json("{}")};
  http_client client;
  auto x = client.post(server.url());
  CHECK(code_of(x->end()) == "none");
  client.transport->cancel(x.id);
  client.transport->cancel(12345);
  client.transport->grant(x.id, 1);
  client.transport->grant(12345, 1);
  CHECK(code_of(client.post(server.url())->end()) == "none");
  CHECK(x->ends() == 1);
  CHECK(code_of(x->end()) == "none");
}

TEST_CASE("the end of the transport cancels what is under way") {
  http_server server{http_reply::sse().send("data: a\n\n").stall()};
  std::vector<http_client::transfer> all;
  {
    http_client client;
    for (int i = 0; i < 20; ++i) {
      all.push_back(client.post(server.url()));
    }
    REQUIRE(all[0]->wait_for_bytes(9));
    transport_request starved;
    starved.url = server.url();
    starved.credit = 0;
    all.push_back(client.post(starved));
  }
  for (auto& x : all) {
    CHECK(x->ends() == 1);
    check_cancelled(x);
  }
}

TEST_CASE("a transport that was never used ends at once") {
  http_client client;
  SUCCEED();
}

}  // namespace riffle::model
