// SPDX-License-Identifier: MIT
// The secrets of `riffle serve`: in nothing that it writes or answers.
#include <filesystem>
#include <fstream>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string begin(const http_user& who, const json& body) {
  const auto x = who.post("/v1/runs", body);
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

/// Of a run's only call.
std::string output_of(const http_user& who, const std::string& run) {
  const auto events =
      who.get("/v1/runs/" + run + "/events", {"Accept: application/json"});
  std::string call;
  for (const auto& x : events.json())
    if (x["event_type"] == "tool_call") call = x["data"]["id"];
  const auto output = who.get("/v1/runs/" + run + "/calls/" + call + "/output");
  CHECK(output.status == 200);
  return output.body;
}

}  // namespace

TEST_CASE("no secret of the server gets into what a tool brings") {
  const work_folder folder;
  write_server(folder, R"(
[[steps]]
text = "I look. "
[[steps.calls]]
tool = "bash"
arguments = { command = "cat data/server/token; cat data/server/token >&2; for i in $(seq 300000); do echo line $i; done; cat data/server/token" }
[[steps]]
text = "Done."
)",
               "[tools.bash]\napproval = \"allow\"\n");
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who, {{"task", "look"}});
  CHECK(await_end(who, run)["status"] == "completed");
  const auto secret = who.token();
  REQUIRE(secret.size() > 20);
  const auto events =
      who.get("/v1/runs/" + run + "/events", {"Accept: application/json"});
  CHECK(events.body.find(secret) == std::string::npos);
  CHECK(events.body.find("***") != std::string::npos);
  const auto output = output_of(who, run);
  CHECK(output.find(secret) == std::string::npos);
  CHECK(output.find("line 300000") != std::string::npos);
  CHECK(output.find("***") != std::string::npos);
  for (const auto& x :
       std::filesystem::recursive_directory_iterator{folder.path() / "data"}) {
    if (!x.is_regular_file() || x.path().filename() == "token") continue;
    CAPTURE(x.path().string());
    CHECK(
        folder.read(std::filesystem::relative(x.path(), folder.path()).string())
            .find(secret) == std::string::npos);
  }
}

TEST_CASE("no secret is in logs, events or the journal") {
  const work_folder folder;
  write_server(
      folder, R"(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "env; cat /proc/$PPID/environ; echo; echo canary-end" }
[[steps]]
text = "Done."
)",
      "[server]\ntoken_env = \"MY_TOKEN\"\n[runtime.log]\nlevel = \"debug\"\n");
  const std::string canary = "canary-4f1c9a7e5d";
  served server{folder, {}, {{"MY_TOKEN", canary}}};
  const auto who = server.user(canary);
  const auto run = begin(who, {{"task", "x"}, {"approve", "all"}});
  await_end(who, run);
  // It ran, and could read what a process of its own has.
  const auto output = output_of(who, run);
  CHECK(output.find("PATH=") != std::string::npos);
  CHECK(output.find("\ncanary-end") != std::string::npos);
  CHECK(output.find(canary) == std::string::npos);
  CHECK(who.get("/v1/runs/" + run + "/events").body.find(canary) ==
        std::string::npos);
  CHECK(server.process().err().find(canary) == std::string::npos);
  CHECK(server.process().out().find(canary) == std::string::npos);
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(folder.path() / "data")) {
    if (!file.is_regular_file()) continue;
    std::ifstream in{file.path(), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    CAPTURE(file.path());
    CHECK(text.find(canary) == std::string::npos);
  }
}
