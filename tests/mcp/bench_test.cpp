// SPDX-License-Identifier: MIT
// What starts cost. Measured by hand: test_mcp "[bench]".
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "tests/mcp/liar_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::mcp;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using world = testing::liar_world;

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
