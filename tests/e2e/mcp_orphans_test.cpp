// SPDX-License-Identifier: MIT
// Servers that breed, runtimes that are killed: nothing stays behind, counted
// in /proc. 1,000 times with RIFFLE_TEST_FULL=1.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/time_scale.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
namespace rt = riffle::testing;

TEST_CASE("starts, kills, restarts: no process of a server is left") {
  const bool full = std::getenv("RIFFLE_TEST_FULL") != nullptr;
  const int rounds = full ? 1000 : 20;
  std::mt19937_64 random{rt::fresh_seed()};
  const auto below = [&](int n) {
    return std::uniform_int_distribution<int>{0, n - 1}(random);
  };
  rt::http_server model{[](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("done"));
    return rt::respond_sse(rt::calls({{"liar__die", json::object()},
                                      {"liar__brood", json::object()},
                                      {"liar__mute", json::object()}}));
  }};
  const rt::work_folder folder;
  folder.configure(model.url("/v1"),
                   "[tools]\napproval = \"allow\"\n[mcp.liar]\ncommand = "
                   "[\"" RIFFLE_MCP_LIAR
                   "\", \"brood\"]\nagents = [\"default\"]\n"
                   "[mcp.other]\ncommand = [\"" RIFFLE_MCP_LIAR
                   "\", \"modern\"]\nagents = [\"default\"]\n");
  std::size_t most = 0;
  milliseconds longest{0};
  for (int i = 0; i < rounds; ++i) {
    rt::program run{rt::installed_riffle(), folder, {"run", "go"}};
    std::this_thread::sleep_for(milliseconds{below(400)});
    most = std::max(most, rt::processes_in(folder).size());
    run.signal(below(3) == 0 ? SIGTERM : SIGKILL);
    static_cast<void>(run.wait());
    const auto ended = steady_clock::now();
    REQUIRE(rt::eventually([&] { return rt::processes_in(folder).empty(); }));
    longest = std::max(longest, std::chrono::duration_cast<milliseconds>(
                                    steady_clock::now() - ended));
  }
  std::cout << rounds << " runtimes killed, up to " << most
            << " processes at once, the last gone after at most "
            << longest.count() << " ms\n";
  CHECK(most > 4);
  CHECK(longest < 1s * rt::time_scale);
}
