// SPDX-License-Identifier: MIT
// What has finished is not done again: kill -9 while many calls are under way.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr int calls_of_a_step = 6;

/// Two steps of parallel calls, each of which leaves a line in `done`.
http_reply provider(const http_request& request) {
  const auto told = tool_messages(request);
  if (told.size() >= 2 * calls_of_a_step) return respond_sse(answer("Done."));
  std::vector<std::pair<std::string, json>> all;
  for (int i = 1; i <= calls_of_a_step; ++i)
    all.push_back({"note", {{"n", static_cast<int>(told.size()) + i}}});
  return respond_sse(calls(all));
}

void prepare(const work_folder& folder, const http_server& server) {
  folder.write("note.sh",
               "n=$(tr -dc 0-9)\nsleep 0.0$((n % 7))\necho $n >> done\n"
               "echo $n\n");
  folder.configure(server.url("/v1"), R"([publish]
batching = "token"
[tools.note]
type = "command"
command = ["/bin/sh", "./note.sh"]
description = "notes a number"
parameters = { type = "object", properties = { n = { type = "integer" } } }
effect = "read_only"
[agents.default]
tools = ["note"]
)");
}

/// Numbers of the calls whose results are in these events.
std::vector<std::string> finished_in(const std::string& jsonl) {
  std::vector<std::string> out;
  std::istringstream lines{jsonl};
  for (std::string line; std::getline(lines, line);) {
    const auto event = json::parse(line, nullptr, false);
    if (!event.is_object() || event.at("event_type") != "tool_result") continue;
    const auto& data = event.at("data");
    if (data.at("outcome") != "ok") continue;
    std::string n = data.at("output");
    std::erase(n, '\n');
    out.push_back(n);
  }
  return out;
}

}  // namespace

TEST_CASE("a call whose result was told never runs again", "[torture]") {
  const auto seed = fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  const int rounds = std::getenv("RIFFLE_TEST_FULL") != nullptr ? 500
                     : std::getenv("RIFFLE_TORTURE") != nullptr ? 20
                                                                : 6;
  std::size_t killed_with_results = 0;
  for (int i = 0; i < rounds; ++i) {
    const work_folder folder;
    http_server server{provider};
    prepare(folder, server);
    program running{installed_riffle(),
                    folder,
                    {"run", "go", "--session", "s1", "--output", "jsonl"}};
    const auto results = 1 + random() % (2 * calls_of_a_step);
    eventually([&] {
      return folder.lines("done").size() >= results ||
             folder.read("out.txt").find("run_finished") != std::string::npos;
    });
    running.signal(SIGKILL);
    const auto end = running.wait();
    const auto before = finished_in(end.out);
    if (end.status != 0 && !before.empty()) ++killed_with_results;
    const auto again = riffle::testing::riffle(
        folder, {"sessions", "resume", "s1", "--output", "jsonl"});
    INFO(again.err);
    CHECK(again.status == 0);
    const auto done = folder.lines("done");
    for (const auto& n : before) {
      CAPTURE(i, n);
      CHECK(std::count(done.begin(), done.end(), n) == 1);
    }
    const auto log =
        riffle::testing::riffle(folder, {"sessions", "events", "s1"});
    CHECK(finished_in(log.out).size() >= 2 * calls_of_a_step);
    checked_events(log.out);
    for (const auto& request : server.requests()) check_results(request);
  }
  CHECK(killed_with_results > 0);
}
