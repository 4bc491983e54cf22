// SPDX-License-Identifier: MIT
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "tests/model/http_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

namespace riffle::model {

using namespace std::chrono_literals;

namespace {

using steady = std::chrono::steady_clock;

transport_request limited(std::string url, transport_timeouts limits) {
  transport_request out;
  out.url = std::move(url);
  out.timeouts = limits;
  return out;
}

/// A port that accepts no more connections: its queue is full.
class full_port {
 public:
  full_port() {
    auto* generic = reinterpret_cast<sockaddr*>(&address_);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    listener_ = add();
    REQUIRE(::bind(listener_, generic, size) == 0);
    REQUIRE(::listen(listener_, 0) == 0);
    REQUIRE(::getsockname(listener_, generic, &size) == 0);
    for (int i = 0; i < 8; ++i) {
      (void)::connect(add(), generic, size);
    }
  }
  ~full_port() {
    for (int fd : fds_) {
      ::close(fd);
    }
  }
  full_port(const full_port&) = delete;
  full_port& operator=(const full_port&) = delete;

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port));
  }

 private:
  int add() {
    fds_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    return fds_.back();
  }

  sockaddr_in address_{};
  std::vector<int> fds_;
  int listener_ = -1;
};

/// Checks that the transfer ends by this limit, not too early and not hours
/// too late (a loaded machine may be slow).
void check_limit(http_client& client, transport_request request,
                 std::string_view name, duration limit) {
  auto start = steady::now();
  auto end = client.post(std::move(request))->end();
  auto took = steady::now() - start;
  REQUIRE(code_of(end) == "timeout");
  INFO(end.failure->message);
  CHECK(end.failure->message.find(name) != std::string::npos);
  // "200 ms", or "0.2 s": no noughts behind.
  CHECK(end.failure->message.find(".200") == std::string::npos);
  CHECK(took >= limit - limit / 10);
  CHECK(took < limit + testing::scaled(2s));
}

}  // namespace

TEST_CASE("a connection that does not come about ends by its limit") {
  full_port port;
  http_client client;
  check_limit(client, limited(port.url(), {200ms, 5s, 5s, 8s}), "onnect",
              200ms);
}

TEST_CASE("a server that does not answer ends by the first byte's limit") {
  http_client client;
  SECTION("no status") {
    http_server server{http_reply{200, http_reply::framing::raw}.stall()};
    check_limit(client, limited(server.url(), {5s, 200ms, 5s, 8s}),
                "first_byte", 200ms);
  }
  SECTION("status without a body") {
    http_server server{http_reply::sse().stall()};
    check_limit(client, limited(server.url(), {5s, 200ms, 5s, 8s}),
                "first_byte", 200ms);
  }
}

TEST_CASE("a stream that falls silent ends by the idle limit") {
  http_server server{
      http_reply::sse().send("a").pause(100ms).send("b").stall()};
  http_client client;
  check_limit(client, limited(server.url(), {5s, 5s, 200ms, 8s}), "idle",
              300ms);
}

TEST_CASE("a slow stream that never falls silent is fine") {
  http_server server{http_reply::sse().trickle("0123456789", 30ms)};
  http_client client;
  auto x = client.post(limited(server.url(), {5s, 5s, 1s, 8s}));
  CHECK(code_of(x->end()) == "none");
  CHECK(x->body() == "0123456789");
}

TEST_CASE("one byte at a time cannot hold longer than the total limit") {
  http_server server{http_reply::sse().trickle(std::string(500, 'x'), 20ms)};
  http_client client;
  check_limit(client, limited(server.url(), {5s, 5s, 2s, 300ms}), "total",
              300ms);
}

TEST_CASE("a refusal without end keeps its status when time is up") {
  http_server server{
      http_reply{503, http_reply::framing::chunked}.send("busy").stall()};
  http_client client;
  auto end = client.post(limited(server.url(), {5s, 5s, 100ms, 8s}))->end();
  CHECK(end.http_status == 503);
  CHECK(code_of(end) == "model_error");
}

TEST_CASE("without credit the clocks stand still") {
  http_server server{http_reply::sse().send("0123456789").stall()};
  http_client client;
  auto request = limited(server.url(), {5s, 5s, 150ms, 300ms});
  request.credit = 4;
  auto x = client.post(request);
  REQUIRE(x->wait_for_bytes(4));
  // Longer than both limits: only a clock that runs would end it.
  std::this_thread::sleep_for(500ms);
  CHECK(x->ends() == 0);
  auto start = steady::now();
  client.transport->grant(x.id, 100);
  CHECK(code_of(x->end()) == "timeout");
  CHECK(x->body() == "0123456789");
  CHECK(steady::now() - start >= 130ms);
}

TEST_CASE("a limit of zero does not end anything") {
  http_server server{http_reply::sse().pause(50ms).send("a").pause(50ms)};
  http_client client;
  auto x = client.post(limited(server.url(), {0s, 0s, 0s, 0s}));
  CHECK(code_of(x->end()) == "none");
}

}  // namespace riffle::model
