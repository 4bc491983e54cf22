// SPDX-License-Identifier: MIT
#include "actors/core/limit_errors.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;
using namespace std::chrono_literals;

TEST_CASE("who goes over a limit is told which, how long, and whose key") {
  tool_call call;
  call.tool = "bash";
  call.limits.timeout = 2min;
  call.limits.idle_timeout = 1500ms;
  call.limits.queue_timeout = 10min;
  CHECK(not_ended_in_time(call).message ==
        "the tool did not end within its time limit of 2m "
        "(tools.bash.timeout)");
  CHECK(silent_too_long(call).message ==
        "the tool gave no sign of life within its limit of 1.5s "
        "(tools.bash.idle_timeout)");
  CHECK(no_worker_in_time(call).message ==
        "no worker was free within the queue's time limit of 10m "
        "(tools.bash.queue_timeout)");
  CHECK(not_started_in_time(call).message.starts_with(
      "it could not start within the queue's time limit of 10m "
      "(tools.bash.queue_timeout): "));
  CHECK(not_ended_in_time(call).code == errc::timeout);
}
