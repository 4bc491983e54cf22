// SPDX-License-Identifier: MIT
// Logs of plans, alone and with the runs of their steps between their lines.
#include <sstream>

#include "messages/event_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/event_log_builder.hpp"

using namespace riffle;
using events::run_status;
using riffle::testing::event_log;
using riffle::testing::event_log_builder;

namespace {

const error why{errc::step_execution_error, "plan", "it broke"};

events::plan_step_started begun(std::uint32_t step, std::uint32_t attempt = 1) {
  return {step, "s" + std::to_string(step), "", "read", {}, attempt};
}

events::plan_step_finished done(std::uint32_t step,
                                run_status how = run_status::completed) {
  events::plan_step_finished x;
  x.step = step;
  x.id = "s" + std::to_string(step);
  x.status = how;
  if (how != run_status::completed) x.err = why;
  return x;
}

const events::plan_finished completed{run_status::completed, "answer", {}, 1};
const events::plan_finished failed{run_status::failed, {}, why, 1};

event_log_builder plan(std::uint32_t steps = 2) {
  event_log_builder x{"plan_1"};
  x.add(events::plan_started{run_id{"plan_1"}, steps});
  return x;
}

std::vector<violation> found_in(const event_log& log) {
  std::stringstream text;
  for (const auto& x : log) text << to_line(x);
  return check_events(text).violations;
}

std::string first_of(event_log_builder x) {
  const auto found = found_in(x.log());
  return found.empty() ? "ok" : render(found.front());
}

}  // namespace

TEST_CASE("a whole plan keeps the promises") {
  CHECK(
      first_of(plan().add(begun(1)).add(done(1)).add(begun(2)).add(done(2)).add(
          completed)) == "ok");
  CHECK(
      first_of(
          plan().add(begun(1)).add(done(1, run_status::failed)).add(failed)) ==
      "ok");
  const events::retry again{events::retry_what::step, {}, 1, 3, 5, "why"};
  CHECK(first_of(plan(1)
                     .add(begun(1))
                     .add(again)
                     .add(begun(1, 2))
                     .add(done(1))
                     .add(completed)) == "ok");
}

TEST_CASE("what is wrong with a plan's log is found") {
  const std::string last = ": promise 4: ";
  CHECK(
      first_of(plan().add(begun(1)).add(done(1))) ==
      "line 3, seq 3: promise 4: the log ends before plan_finished of plan_1");
  CHECK(first_of(plan().add(begun(2))) ==
        "line 2, seq 2: promise 3: step 2 starts where 1 was due");
  CHECK(first_of(plan().add(begun(1)).add(begun(2))).find("no plan_step_fin") !=
        std::string::npos);
  CHECK(first_of(plan(1).add(begun(1)).add(done(1)).add(begun(2)))
            .find("of a plan that has 1") != std::string::npos);
  CHECK(first_of(plan().add(done(1))).find("which is not open") !=
        std::string::npos);
  CHECK(first_of(plan().add(begun(1)).add(failed)).find("no plan_step_fin") !=
        std::string::npos);
  CHECK(first_of(plan().add(begun(1)).add(done(1)).add(completed))
            .find("after 1 of its 2 steps") != std::string::npos);
  auto wrong = completed;
  wrong.err = why;
  CHECK(first_of(plan(1).add(begun(1)).add(done(1)).add(wrong))
            .find("completed with an error") != std::string::npos);
  wrong = failed;
  wrong.err.reset();
  CHECK(first_of(plan(1).add(wrong)).find("failed without an error") !=
        std::string::npos);
  wrong = completed;
  wrong.answer.reset();
  CHECK(first_of(plan(1).add(begun(1)).add(done(1)).add(wrong))
            .find("without a final_answer") != std::string::npos);
  CHECK(first_of(plan(1).add(begun(1)).add(done(1)).add(completed).add(failed))
            .find("after plan_finished") != std::string::npos);
  CHECK(
      first_of(plan(1).add(begun(1)).add(begun(1, 2))).find("step 1 starts") !=
      std::string::npos);
  CHECK(first_of(plan(1).add(events::step_start{1, 3})).find("log of a plan") !=
        std::string::npos);
  auto other = plan(1);
  CHECK(first_of(other.add(events::plan_started{run_id{"plan_1"}, 1}))
            .find("a second plan_started") != std::string::npos);
  CHECK(first_of(event_log_builder{}.start().add(begun(1))).find("no plan's") !=
        std::string::npos);
  auto unclear = done(1);
  unclear.err = why;
  CHECK(first_of(plan(1).add(begun(1)).add(unclear))
            .find("completed with an error") != std::string::npos);
}

TEST_CASE("a direct call belongs to the step that is open") {
  const events::tool_call call{call_id{"c"},      "c", "read", "r", "{}", "",
                               effect::read_only, 1};
  events::tool_result result;
  result.id = call_id{"c"};
  result.tool = "read";
  CHECK(first_of(plan(1).add(begun(1)).add(call).add(result).add(done(1)).add(
            completed)) == "ok");
  CHECK(first_of(plan(1).add(begun(1)).add(call).add(done(1)))
            .find("no tool_result") != std::string::npos);
  CHECK(first_of(plan(1).add(begun(1)).add(done(1)).add(call))
            .find("outside of that step") != std::string::npos);
}

TEST_CASE("runs of steps may stand between the lines of their plan") {
  const auto log = plan(1).add(begun(1)).add(done(1)).add(completed).log();
  const auto run =
      event_log_builder{"run_1"}.start().step().text("x").answer().finish();
  for (std::size_t at = 1; at < log.size(); ++at) {
    event_log both{log.begin(), log.begin() + static_cast<int>(at)};
    for (const auto& x : run) both.push_back(x);
    both.insert(both.end(), log.begin() + static_cast<int>(at), log.end());
    const auto found = found_in(both);
    CAPTURE(at);
    CHECK(found.empty());
  }
  // Line by line, in each other.
  event_log mixed{log[0], log[1]};
  mixed.push_back(run[0]);
  mixed.push_back(log[2]);
  for (std::size_t i = 1; i < run.size(); ++i) mixed.push_back(run[i]);
  mixed.push_back(log[3]);
  CHECK(found_in(mixed).empty());
  // A run that did not end.
  event_log cut{log[0], log[1], run[0], log[2], log[3]};
  REQUIRE_FALSE(found_in(cut).empty());
  CHECK(found_in(cut).front().text == "plan plan_1 ends before run run_1");
  // The run's own promises hold there, too.
  auto gap = mixed;
  gap.erase(gap.begin() + 5);
  CHECK_FALSE(found_in(gap).empty());
  // The plan does not end.
  mixed.pop_back();
  REQUIRE_FALSE(found_in(mixed).empty());
  CHECK(found_in(mixed).front().text ==
        "the log ends before plan_finished of plan_1");
}

TEST_CASE("two runs and two plans stand one behind the other") {
  const auto run =
      event_log_builder{"run_1"}.start().step().text("x").answer().finish();
  auto all = run;
  const auto first = plan(1).add(begun(1)).add(done(1)).add(completed).log();
  all.insert(all.end(), first.begin(), first.end());
  auto other = event_log_builder{"plan_2"};
  other.add(events::plan_started{run_id{"plan_2"}, 1});
  other.add(begun(1)).add(done(1)).add(completed);
  for (const auto& x : other.log()) all.push_back(x);
  CHECK(found_in(all).empty());
}
