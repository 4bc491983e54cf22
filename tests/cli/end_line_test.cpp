// SPDX-License-Identifier: MIT
// The line of a task that has ended, in little room.
#include <string>

#include "runtime/cli/view/task_view.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::cli;

TEST_CASE("the title of a task is the last that a narrow line gives up") {
  task_end x;
  x.well = false;
  x.title = "Check the long list";
  x.took_ms = 24'400;
  x.waited = ", 21.9s of it waiting for you";
  x.notes = ", 2 runs";
  x.as = ", as [2/4]";
  const auto line = [&](std::size_t columns) {
    return end_line(x, "[3/4]", ", 3 calls", columns, false);
  };
  CHECK(line(110) ==
        "[3/4] ✗ Check the long list (24.4s, 21.9s of it waiting for you, 3 "
        "calls), 2 runs, as [2/4]\n");
  CHECK(line(70) ==
        "[3/4] ✗ Check the long list (24.4s, 3 calls), 2 runs, as [2/4]\n");
  CHECK(line(56) ==
        "[3/4] ✗ Check the long list (3 calls), 2 runs, as [2/4]\n");
  // That its answer is not whole is no number.
  auto cut = x;
  cut.cut = ", its answer was cut";
  CHECK(end_line(cut, "[3/4]", ", 3 calls", 62, false) ==
        "[3/4] ✗ Check the long list (its answer was cut), as [2/4]\n");
  CHECK(line(40) == "[3/4] ✗ Check the long list, as [2/4]\n");
  CHECK(line(30).starts_with("[3/4] ✗ Check"));
  CHECK(line(30).ends_with("…, as [2/4]\n"));
}
