// SPDX-License-Identifier: MIT
// What the title of the window says of a volley and of a plan.
#include <cstdint>
#include <string>
#include <utility>

#include "runtime/cli/view/plan_view.hpp"
#include "runtime/cli/view/volley_view.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

constexpr view_size screen_size{80, 24};

event of(events::body body, std::int64_t at = 0) {
  event x;
  x.body = std::move(body);
  x.at = wall_time{at};
  return x;
}

event makes(const std::string& id) {
  events::tool_call x;
  x.id = {id};
  x.tool = "bash";
  x.title = "Running: make";
  x.arguments = R"({"command":"make"})";
  return of(x);
}

event asks(const std::string& id, const std::string& command, std::int64_t at) {
  events::approval_required x;
  x.proposal = {"p_" + id};
  x.id = {id};
  x.tool = "bash";
  x.title = "Running: " + command;
  x.arguments = R"({"command":")" + command + R"("})";
  return of(x, at);
}

}  // namespace

TEST_CASE("a title tells how far a volley is, and what it does") {
  view_options at_terminal;
  at_terminal.status = true;
  volley_view x{at_terminal, {"a", "b", "c", "d"}};
  CHECK(x.doing(50) == "0 of 4 ended");
  for (std::size_t i = 0; i < 4; ++i) x.begun(i, false, {}, screen_size);
  task_result end;
  end.status = task_status::completed;
  x.over(end, {}, screen_size);
  CHECK(x.doing(50) == "1 of 4 ended – starting");
  x.on(2, makes("c1"), screen_size);
  CHECK(x.doing(50) == "1 of 4 ended – Running: make");
  CHECK(x.doing(20) == "1 of 4 ended – Runn…");
  // Who asked first, as its question stands there.
  x.on(1, asks("c2", "rm -r x", 9), screen_size);
  x.on(3, asks("c3", "git push", 7), screen_size);
  CHECK(x.doing(50) == "waiting for approval: git push");
  x.cancelling();
  CHECK(x.doing(50) == "1 of 4 ended – cancelling");
}

TEST_CASE("a title tells which step of a plan works, and what it does") {
  view_options at_terminal;
  at_terminal.status = true;
  plan_view x{at_terminal};
  x.on(of(events::plan_started{run_id{"plan_1"}, 3}), {}, screen_size);
  CHECK(x.doing(50) == "0 of 3 ended");
  x.on(of(events::plan_step_started{2, "b", "", "bash", {}, 1}), {},
       screen_size);
  x.on(makes("c1"), {}, screen_size);
  CHECK(x.doing(50) == "step 2 of 3 – Running: make");
  x.on(asks("c2", "rm -r x", 1), {}, screen_size);
  CHECK(x.doing(50) == "waiting for approval: rm -r x");
}
