// SPDX-License-Identifier: MIT
// Servers that breed and are killed, runtimes that are killed, configurations
// that change: nothing stays behind, counted in /proc. 1,000 of these events
// with RIFFLE_TORTURE=1, 1,000 runtimes with RIFFLE_TEST_FULL=1.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <thread>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/time_scale.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
namespace rt = riffle::testing;

namespace {

std::vector<pid_t> servers_in(const rt::work_folder& folder) {
  auto out = rt::processes_in(folder);
  std::erase_if(out, [](pid_t x) {
    std::ifstream in{"/proc/" + std::to_string(x) + "/cmdline"};
    const std::string line{std::istreambuf_iterator<char>{in}, {}};
    return !line.starts_with(RIFFLE_MCP_LIAR);
  });
  return out;
}

/// The servers of one round: another command is another server.
std::string tables(int round) {
  const auto table = [](const std::string& name, const std::string& words) {
    return "[mcp." + name + "]\ncommand = [\"" RIFFLE_MCP_LIAR "\", " + words +
           "]\nagents = [\"default\"]\n";
  };
  std::string out = "[tools]\napproval = \"allow\"\n";
  out += table("liar", "\"brood\", \"" + std::to_string(round % 2) + "\"");
  if (round % 3 != 0) out += table("other", "\"modern\"");
  return out;
}

}  // namespace

TEST_CASE("starts, kills, restarts, changes: no process of a server is left") {
  const int rounds = rt::repetitions(15, 200, 1000);
  std::mt19937_64 random{rt::fresh_seed()};
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n - 1}(random);
  };
  rt::http_server model{[](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("done"));
    return rt::respond_sse(rt::calls({{"liar__die", json::object()},
                                      {"liar__brood", json::object()},
                                      {"liar__mute", json::object()}}));
  }};
  const rt::work_folder folder;
  std::size_t most = 0;
  std::size_t killed = 0;
  std::size_t starts = 0;
  milliseconds longest{0};
  for (int i = 0; i < rounds; ++i) {
    folder.configure(model.url("/v1"), tables(i) +
                                           "[mcp.starts]\ncommand = "
                                           "[\"" RIFFLE_MCP_LIAR
                                           "\", \"state=starts\"]\nagents = "
                                           "[\"default\"]\n");
    rt::program run{rt::installed_riffle(), folder, {"run", "go"}};
    for (int k = 0; k < 2; ++k) {
      std::this_thread::sleep_for(milliseconds{below(250)});
      most = std::max(most, rt::processes_in(folder).size());
      // Also children that a server has bred, which need not be missed.
      const auto all = servers_in(folder);
      if (!all.empty() && ::kill(all[below(all.size())], SIGKILL) == 0)
        ++killed;
    }
    run.signal(below(3) == 0 ? SIGTERM : SIGKILL);
    static_cast<void>(run.wait());
    const auto ended = steady_clock::now();
    REQUIRE(rt::eventually([&] { return rt::processes_in(folder).empty(); }));
    longest = std::max(longest, std::chrono::duration_cast<milliseconds>(
                                    steady_clock::now() - ended));
  }
  starts = folder.lines("starts").size();
  std::cout << rounds << " runtimes killed, as many changes of the "
            << "configuration, " << killed << " servers or their children "
            << "killed, one of them started " << starts << " times, up to "
            << most << " processes at once; 0 left, the last gone after at "
            << "most " << longest.count() << " ms\n";
  CHECK(most > 4);
  CHECK(killed > 0);
  CHECK(starts > 0);
  CHECK(longest < 1s * rt::time_scale);
}

TEST_CASE(
    "a server that goes from a living process's configuration goes whole") {
  const auto table = [](const std::string& name, const std::string& words) {
    return "[mcp." + name + "]\ncommand = [\"" RIFFLE_MCP_LIAR "\", " + words +
           "]\nagents = [\"default\"]\n";
  };
  const std::string script = "[[steps]]\ntext = \"Done.\"\n";
  const rt::work_folder folder;
  rt::write_server(folder, script,
                   table("gone", "\"brood\"") + table("other", "\"brood\"") +
                       table("stays", "\"modern\""));
  rt::served server{folder};
  const auto who = server.user();
  const auto run = [&] {
    const auto begun = who.post("/v1/runs", {{"task", "go"}});
    REQUIRE(begun.status == 202);
    const auto end = rt::await_end(who, begun.json().at("run_id"));
    CHECK(end.at("status") == "completed");
  };
  run();
  REQUIRE(servers_in(folder).size() > 2);
  rt::write_server(folder, script,
                   table("other", "\"modern\"") + table("stays", "\"modern\""));
  const auto asked = steady_clock::now();
  server.process().signal(SIGHUP);
  CHECK(rt::eventually([&] { return servers_in(folder).size() == 1; }));
  CHECK(steady_clock::now() - asked < 1s * rt::time_scale);
  const auto tools = who.get("/v1/tools").json().dump();
  CHECK(tools.find("gone__") == std::string::npos);
  CHECK(tools.find("other__") == std::string::npos);
  CHECK(tools.find("stays__echo") != std::string::npos);
  run();
  CHECK(servers_in(folder).size() == 1);
  const auto said = server.process().err();
  INFO(said);
  CHECK(said.find("mcp.gone: it was taken out of the configuration") !=
        std::string::npos);
  CHECK(said.find("mcp.other: the configuration has another one") !=
        std::string::npos);
  CHECK(said.find("[mcp.gone] has changed") == std::string::npos);
}
