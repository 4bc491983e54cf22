// SPDX-License-Identifier: MIT
#include "runtime/cli/view/limits_text.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace std::chrono_literals;

TEST_CASE("verbose output says in one line which limits hold") {
  config::config x;
  x.runtime.max_calls = 65;
  x.runtime.max_runs = 3;
  auto& agent = x.agents["small"];
  agent.tools = {"bash", "read", "write", "manage_plan"};
  agent.max_steps = 7;
  agent.max_calls_in_flight = 5;
  auto& bash = x.tools.by_name["bash"];
  bash.concurrency = 2;
  bash.timeout = 90s;
  bash.idle_timeout = 10s;
  bash.queue_timeout = 1min;
  bash.attempts = 3;
  bash.priority = -4;
  bash.approval = "deny";
  bash.rules = {{"ls*", "allow"}};
  CHECK(limits_text(x, "small", {}) ==
        "[LIMITS] run: 7 steps, 5 calls at once, timeout none; process: 65 "
        "calls at once, runs: 3; bash: 2 at once, 90s, deny, rules: 1; "
        "read: 4 at once, 30s, runs; write: 4 at once, 30s, ask; "
        "manage_plan: 4 at once, 30s, runs\n");
  resume_options chosen;
  chosen.max_steps = 2;
  chosen.timeout = 5s;
  CHECK(limits_text(x, "small", chosen)
            .starts_with("[LIMITS] run: 2 steps, 5 calls at once, timeout 5s"));
  x.runtime.max_runs = 0;
  CHECK(limits_text(x, "small", {}).find("runs: no limit;") !=
        std::string::npos);
}
