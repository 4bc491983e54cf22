// SPDX-License-Identifier: MIT
// `riffle serve`: what many at once get.
#include <fcntl.h>
#include <memory>
#include <unistd.h>
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

namespace {

/// While it lives nothing can be written to the journal: it holds SQLite's
/// WAL_WRITE_LOCK (walIndexLock, wal.c: byte 120 of the -shm file).
class write_lock {
 public:
  explicit write_lock(const std::filesystem::path& data)
      : fd_{::open((data / "riffle.db-shm").c_str(), O_RDWR | O_CLOEXEC)} {
    struct flock x{};
    x.l_type = F_WRLCK;
    x.l_whence = SEEK_SET;
    x.l_start = 120;
    x.l_len = 1;
    REQUIRE(eventually([&] { return ::fcntl(fd_, F_SETLK, &x) == 0; }));
  }
  ~write_lock() { ::close(fd_); }
  write_lock(const write_lock&) = delete;
  write_lock& operator=(const write_lock&) = delete;

 private:
  int fd_ = -1;
};

std::string put_value(const std::string& session) {
  return "PUT /v1/sessions/" + session +
         "/state/k HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer bob"
         "\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n1";
}

}  // namespace

TEST_CASE("what one token's requests wait for leaves others their turn") {
  const work_folder folder;
  write_server(folder, spoken_slowly(2, "10ms"),
               token_table("ann") + token_table("bob"));
  served server{folder};
  const auto ann = server.user("ann");
  const auto bob = server.user("bob");
  const auto x = bob.post("/v1/runs", {{"task", "x"}});
  REQUIRE(x.status == 202);
  await_end(bob, x.json()["run_id"]);
  const std::string session = x.json()["session_id"];
  std::vector<std::unique_ptr<raw_client>> waiting;
  const write_lock held{folder.path() / "data"};
  // Until even what only reads waits for them.
  REQUIRE(eventually([&] {
    waiting.push_back(std::make_unique<raw_client>(server.port()));
    waiting.back()->send(put_value(session));
    waiting.push_back(std::make_unique<raw_client>(server.port()));
    waiting.back()->ask("/v1/proposals", "bob");
    return waiting.back()->read(100ms).empty();
  }));
  raw_client other{server.port()};
  other.ask("/v1/proposals", "ann");
  CHECK(other.read_until("\r\n\r\n", 3s).starts_with("HTTP/1.1 200"));
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
