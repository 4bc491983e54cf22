// SPDX-License-Identifier: MIT
// What calls cost. Measured by hand: test_mcp "[bench]".
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "tests/mcp/liar_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::mcp;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using world = testing::liar_world;

TEST_CASE("what a call costs", "[.][bench]") {
  const char* command = std::getenv("RIFFLE_BENCH_SERVER");
  world w{{}, [&](server_options& x) {
            if (command == nullptr) return;
            stdio_options how;
            how.name = "bench";
            how.command = {"/bin/sh", "-c", command};
            how.folder = "/tmp";
            how.environment = {"PATH=" + std::string{std::getenv("PATH")}};
            x.connect = [how](link_events events) {
              return open_stdio(how, std::move(events));
            };
          }};
  const json arguments = {{"text", "x"}, {"message", "x"}};
  tools::tool_context context;
  REQUIRE_FALSE(call_tool(*w.at, "echo", {}, arguments, context).err);
  const auto cpu = [] { return std::clock(); };
  const auto report = [](const char* what, std::vector<double> us,
                         std::clock_t ticks) {
    std::ranges::sort(us);
    std::printf("%s: p50 %.0f us, p99 %.0f us, %.1f us of CPU a call\n", what,
                us[us.size() / 2], us[us.size() * 99 / 100],
                1e6 * static_cast<double>(ticks) / CLOCKS_PER_SEC /
                    static_cast<double>(us.size()));
  };
  const auto one = [&] {
    tools::tool_context mine;
    const auto began = steady_clock::now();
    REQUIRE_FALSE(call_tool(*w.at, "echo", {}, arguments, mine).err);
    return std::chrono::duration<double, std::micro>{steady_clock::now() -
                                                     began}
        .count();
  };
  for (int i = 0; i < 200; ++i) one();  // as the others are, it is warm
  std::vector<double> all;
  auto began = cpu();
  for (int i = 0; i < 5000; ++i) all.push_back(one());
  report("one after the other", all, cpu() - began);
  std::mutex mutex;
  all.clear();
  began = cpu();
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 100; ++i)
      callers.emplace_back([&] {
        for (int n = 0; n < 50; ++n) {
          const auto took = one();
          const std::lock_guard lock{mutex};
          all.push_back(took);
        }
      });
  }
  report("100 at once", all, cpu() - began);
}

TEST_CASE("20 servers and 500 tools are ready at once", "[.][bench]") {
  const auto began = steady_clock::now();
  std::vector<std::unique_ptr<world>> all;
  for (int i = 0; i < 20; ++i) all.push_back(std::make_unique<world>());
  for (auto& w : all) w->at->want();
  std::size_t tools = 0;
  for (auto& w : all) {
    REQUIRE(w->at->wait_ready(began + seconds{20}));
    tools += w->at->status().has->tools.size();
  }
  std::printf("20 servers, %zu tools: ready after %lld ms\n", tools,
              static_cast<long long>(std::chrono::duration_cast<milliseconds>(
                                         steady_clock::now() - began)
                                         .count()));
}
