// SPDX-License-Identifier: MIT
#include "runtime/cli/view/limits_text.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace std::chrono_literals;

TEST_CASE("verbose output says in one short line which limits hold") {
  config::config x;
  auto& agent = x.agents["small"];
  agent.tools = {"bash", "read", "write", "manage_plan"};
  agent.max_steps = 7;
  agent.max_calls_in_flight = 5;
  CHECK(limits_text(x, "small", {}) ==
        "[LIMITS] 7 steps, 5 calls at once, timeout none "
        "(all: riffle config show)\n");
  resume_options chosen;
  chosen.max_steps = 2;
  chosen.timeout = 5s;
  CHECK(limits_text(x, "small", chosen)
            .starts_with("[LIMITS] 2 steps, 5 calls at once, timeout 5s"));
  CHECK(limits_text(x, "default", {}).size() < 80);
}
