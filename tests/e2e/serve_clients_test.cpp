// SPDX-License-Identifier: MIT
// Clients of the server that nobody here wrote, from npm.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/e2e/npm_packages.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string slow_script(int words) {
  std::string text;
  for (int i = 0; i < words; ++i) text += "words ";
  return "chunk = 6\ndelay = \"20ms\"\n[[steps]]\ntext = \"" + text + "\"\n";
}

fs::path script(const fs::path& packages, const std::string& name) {
  return packages.parent_path() / name;
}

void follow(const std::string& client, int cuts, bool kills) {
  const auto there = npm_packages();
  if (!there) return skip("npm or the network is missing");
  const work_folder folder;
  write_server(folder, slow_script(260), "[server]\nretry = \"50ms\"\n");
  served server{folder};
  const auto who = server.user();
  const auto x = who.post("/v1/runs", {{"task", "x"}});
  REQUIRE(x.status == 202);
  const std::string run = x.json()["run_id"];
  const auto path = "/v1/runs/" + run + "/events";
  program reader{
      node_of(*there),
      folder,
      {script(*there, "follow.mjs").string(), client,
       std::to_string(server.port()), who.token(), path, std::to_string(cuts)}};
  if (kills) {
    REQUIRE(eventually(
        [&] { return reader.out().find("\n60 ") != std::string::npos; }));
    server.kill_and_restart();
  }
  const auto end = reader.wait(100s);
  INFO(end.err);
  std::istringstream lines{end.out};
  std::uint64_t n = 0;
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("end ")) {
      CHECK(line == (client == "eventsource" ? "end stopped cuts left 0"
                                             : "end finished cuts left 0"));
      break;
    }
    CHECK(line.substr(0, line.find(' ')) == std::to_string(++n));
    last = line;
  }
  CHECK(last.find("run_finished") != std::string::npos);
  const auto stored = events_of("\r\n\r\n" + server.user().get(path).body);
  CHECK(stored.size() == n);
}

}  // namespace

TEST_CASE("eventsource follows a run through 30 cuts and a kill -9") {
  follow("eventsource", 30, true);
}

TEST_CASE("eventsource-client follows a run through 30 cuts and a kill -9") {
  follow("eventsource-client", 30, true);
}

TEST_CASE(
    "a client that is generated from OpenAPI types the server, and uses it") {
  const auto there = npm_packages();
  if (!there) return skip("npm or the network is missing");
  const work_folder folder;
  write_server(folder, R"(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "note.txt", content = "as the model wants it" }
[[steps]]
text = '{"done": true}'
)");
  served server{folder};
  const auto who = server.user();
  const auto home = there->parent_path();
  std::ofstream{home / "openapi.json"}
      << server.user("").get("/openapi.json").body;
  const auto use = script(*there, "use_api.mts");
  const auto node = node_of(*there).string();
  const auto run = [&](const std::string& command) {
    return std::system(("cd '" + home.string() + "' && PATH='" +
                        fs::path{node}.parent_path().string() +
                        "':$PATH timeout 120 " + command + " >api.log 2>&1")
                           .c_str());
  };
  REQUIRE(run(node + " node_modules/openapi-typescript/bin/cli.js "
                     "openapi.json -o api.d.ts") == 0);
  CHECK(run(node + " node_modules/typescript/bin/tsc --noEmit --strict "
                   "--target es2022 --module nodenext --skipLibCheck "
                   "--moduleResolution nodenext --allowImportingTsExtensions "
                   "--lib es2022,dom use_api.mts") == 0);
  program client{node,
                 folder,
                 {"--experimental-strip-types", use.string(),
                  std::to_string(server.port()), who.token()}};
  const auto end = client.wait(60s);
  INFO(end.err);
  const auto told = json::parse(end.out, nullptr, false);
  REQUIRE(told.is_object());
  INFO(told.dump());
  CHECK(told["status"] == "completed");
  CHECK(json::parse(told["answer"].get<std::string>()) == json{{"done", true}});
  CHECK(folder.read("note.txt") == "as the person wants it");
  CHECK(told["by"] == "http:default");
  CHECK(told["said"].size() == 3);
  CHECK(told["calls"] == json{"write ok"});
  CHECK(told["steps"] == 2);
  CHECK(told["type"] == "run_finished");
  CHECK(told["planned"] == json{"say completed"});
  CHECK(told["listed"] == true);
  CHECK(told["schema"] == "string");
  CHECK(told["problem"] == "not_found");
}
