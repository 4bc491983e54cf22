// SPDX-License-Identifier: MIT
// A volley that is killed while its tasks wait between two runs.
#include <atomic>

#include "tests/e2e/tasks_place.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

/// Two tasks had three runs each, and wait for the fourth, when it is killed.
struct killed_volley {
  killed_volley() {
    folder.configure(server.url("/v1"),
                     "[models.default.retry]\nmax_attempts = 1\n");
    program volley{installed_riffle(),
                   folder,
                   {"run", "--max-retries", "9", "fails x", "fails y"}};
    const bool there = eventually(
        [&] {
          return server.requests().size() == 6 && both_failed(volley.err());
        },
        std::chrono::seconds{60});
    CAPTURE(volley.err());
    REQUIRE(there);
    volley.signal(SIGKILL);
    volley.wait();
  }
  finished run(std::vector<std::string> arguments) const {
    return riffle::testing::riffle(folder, std::move(arguments));
  }

 private:
  /// And both are on record.
  bool both_failed(const std::string& err) {
    const auto at = err.find("volley_");
    id = err.substr(at, err.find(',', at) - at);
    const auto shown = run({"sessions", "show", id, "--output", "json"});
    if (shown.status != 0) return false;
    const auto tasks = json::parse(shown.out).at("tasks");
    return tasks[0].value("tries_left", 0) == 7 &&
           tasks[1].value("tries_left", 0) == 7;
  }

 public:
  const work_folder folder;
  std::string id;
  std::atomic<bool> works = false;
  http_server server{[this](const http_request& x) {
    if (works || !holds(x.body, "fails")) return respond_sse(answer("ok"));
    return http_reply::json("{}", 503);
  }};
};

}  // namespace

TEST_CASE("a volley that is killed between two runs is offered, and goes on") {
  killed_volley x;
  const auto shown = x.run({"sessions", "show", x.id});
  CHECK(holds(shown.out, "[1/2] failed, 7 tries left: fails x\n"));
  const auto offered = x.run({"run", "another"});
  CHECK(offered.status == 0);
  CHECK(holds(offered.err,
              "A volley of 2 tasks of this folder was not finished: " + x.id));
  CHECK(
      holds(offered.err, "'riffle sessions resume " + x.id + "' finishes it"));
  x.works = true;
  const auto end = x.run({"sessions", "resume", x.id, "--output", "json"});
  INFO(end.err);
  CHECK(end.status == 0);
  for (const auto& one : json::parse(end.out).at("results")) {
    CHECK(one.at("status") == "completed");
    CHECK(one.at("attempts") == 4);
  }
  CHECK_FALSE(holds(x.run({"run", "one more"}).err, "not finished"));
}

TEST_CASE("sessions cancel ends a volley that was killed between two runs") {
  killed_volley x;
  const auto end = x.run({"sessions", "cancel", x.id});
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(holds(end.err, "volley " + x.id +
                           " is cancelled; 0 of 2 tasks had ended; go on with: "
                           "riffle sessions resume " +
                           x.id));
  CHECK_FALSE(holds(x.run({"run", "another"}).err, "not finished"));
  const auto again = x.run({"sessions", "cancel", x.id});
  CHECK(again.status == 2);
  CHECK(holds(again.err, "no run of volley " + x.id + " is under way"));
  CHECK(x.server.requests().size() == 7);  // nothing went on
}
