// SPDX-License-Identifier: MIT
// Cancels over HTTP: what works is dead soon, and is cancelled once.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using clock_type = std::chrono::steady_clock;

namespace {

const std::string script = R"(
[[steps]]
text = "I wait. "
[[steps.calls]]
tool = "bash"
arguments = { command = "echo x >> began; (sleep 600 & sleep 600) & wait" }
[[steps]]
text = "Done."
)";

const std::string allowed = "[tools.bash]\napproval = \"allow\"\n";

std::string begin(const http_user& who) {
  const auto x = who.post("/v1/runs", {{"task", "wait"}});
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

http_answer cancel(const http_user& who, const std::string& run) {
  return who.post("/v1/runs/" + run + "/cancel", json::object());
}

/// Of the events of a run: those that end it, and how.
std::vector<std::string> ends_of(const http_user& who, const std::string& run) {
  std::vector<std::string> out;
  const auto all =
      who.get("/v1/runs/" + run + "/events", {"Accept: application/json"})
          .json();
  INFO(all.dump());
  REQUIRE(all.is_array());
  for (const auto& x : all)
    if (x["event_type"] == "run_finished") out.push_back(x["data"]["status"]);
  return out;
}

}  // namespace

TEST_CASE("what is cancelled over HTTP is dead in a second, and ends once") {
  const work_folder folder;
  write_server(folder, script, allowed);
  served server{folder};
  const auto who = server.user();
  std::vector<clock_type::duration> times;
  const auto rounds = static_cast<std::size_t>(repetitions(20, 50, 1000));
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto run = begin(who);
    REQUIRE(eventually([&] { return folder.lines("began").size() == i + 1; }));
    // The server, its tool with a shell and what that started.
    REQUIRE(eventually([&] { return processes_in(folder).size() >= 4; }));
    const auto asked = clock_type::now();
    CHECK(cancel(who, run).status == 202);
    REQUIRE(eventually([&] { return processes_in(folder).size() == 1; }));
    times.push_back(clock_type::now() - asked);
    const auto end = await_end(who, run);
    CHECK(end["status"] == "cancelled");
    // Once more is nothing.
    const auto again = cancel(who, run);
    CHECK(again.status == 200);
    CHECK(again.json()["cancel"] == "finished");
    CHECK(ends_of(who, run) == std::vector<std::string>{"cancelled"});
  }
  std::ranges::sort(times);
  const auto p99 = times[times.size() * 99 / 100];
  std::printf(
      "%zu cancels over HTTP, the last process is gone after %ld ms "
      "(p50), %ld ms (p99)\n",
      times.size(), static_cast<long>(times[times.size() / 2] / 1ms),
      static_cast<long>(p99 / 1ms));
  CHECK(p99 < 1s);
}

TEST_CASE("a run that waits for a person is cancelled, and asks nobody more") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who);
  std::string id;
  REQUIRE(eventually([&] {
    const auto all = who.get("/v1/proposals?status=pending").json();
    if (all["proposals"].empty()) return false;
    id = all["proposals"][0]["proposal_id"];
    return true;
  }));
  for (int i = 0; i < 3; ++i) {
    const auto x = cancel(who, run);
    CHECK((x.status == 202 || x.status == 200));
  }
  CHECK(await_end(who, run)["status"] == "cancelled");
  CHECK(ends_of(who, run) == std::vector<std::string>{"cancelled"});
  CHECK(who.get("/v1/proposals?status=pending").json()["proposals"].empty());
  CHECK(who.post("/v1/proposals/" + id, {{"decision", "approve"}}).status ==
        409);
  CHECK(folder.lines("began").empty());
}
