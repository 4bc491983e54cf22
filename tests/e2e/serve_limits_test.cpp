// SPDX-License-Identifier: MIT
// `riffle serve`: what many at once get.
#include <memory>
#include <vector>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

TEST_CASE(
    "streams that all come at once wait for their turn, none is refused") {
  const work_folder folder;
  write_server(folder, spoken_slowly(2, "10ms"),
               "[server.limits]\nrequests_per_second = 20\n");
  served server{folder};
  const auto who = server.user();
  const auto x = who.post("/v1/runs", {{"task", "x"}});
  REQUIRE(x.status == 202);
  const std::string run = x.json()["run_id"];
  await_end(who, run);
  std::vector<std::unique_ptr<raw_client>> all;
  for (int i = 0; i < 60; ++i) {
    all.push_back(std::make_unique<raw_client>(server.port()));
    all.back()->ask("/v1/runs/" + run + "/events", who.token());
  }
  for (const auto& one : all) {
    const auto head = one->read_until("event: run_finished");
    CHECK(head.starts_with("HTTP/1.1 200"));
  }
}

TEST_CASE("large bodies are held up to a sum, and others come again") {
  const work_folder folder;
  write_server(folder, spoken_slowly(2, "10ms"),
               "[server.limits]\nattachment_bytes = 120000000\n");
  served server{folder};
  const auto who = server.user();
  const auto announce = [&](raw_client& to, std::size_t bytes) {
    to.send(
        "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
        "Bearer " +
        who.token() + "\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(bytes) + "\r\n\r\n{");
  };
  {
    raw_client first{server.port()};
    announce(first, 100'000'000);
    raw_client second{server.port()};
    REQUIRE(eventually([&] {
      raw_client next{server.port()};
      announce(next, 100'000'000);
      return next.read_until("\r\n\r\n", 2s).find(" 503 ") != std::string::npos;
    }));
    // Small ones are not concerned.
    CHECK(who.post("/v1/runs", {{"task", "x"}}).status == 202);
  }
  // Who goes gives his part back.
  CHECK(eventually([&] {
    raw_client next{server.port()};
    announce(next, 100'000'000);
    return next.read(500ms).empty() && !next.ended();
  }));
}
