// SPDX-License-Identifier: MIT
#include "actors/core/plan_cursor.hpp"

#include <random>

#include "messages/event_check.hpp"
#include "tests/core/t0.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using riffle::testing::t0;
using namespace riffle::core;
using namespace std::chrono_literals;
using events::run_status;

namespace {

const error broke{errc::tool_execution_error, "test", "it broke"};
const step_end failed{run_status::failed, broke};

planned_step tool_step(const std::string& id,
                       step_policy policy = step_policy::stop) {
  planned_step x;
  x.id = id;
  x.tool = "act";
  x.on_error = policy;
  return x;
}

plan_document plan_of(std::vector<planned_step> steps) {
  return {std::move(steps)};
}

/// A cursor, what it recorded, and what it asked for last.
struct scene {
  explicit scene(plan_document x) : plan{std::move(x)} { renew(); }

  void renew() {
    cursor = plan_cursor{
        plan, run_id{"plan_1"}, {{3, 1s, 10s}}, [] { return 0.999; }};
  }
  void take(const plan_effects& effects) {
    asked.clear();
    for (const auto& x : effects) {
      if (const auto* r = std::get_if<record_plan>(&x)) {
        for (const auto& body : r->events) {
          log.push_back({log.size() + 1, run_id{"plan_1"}, body, {}});
          if (const auto* s = std::get_if<events::plan_step_finished>(&body))
            ended.push_back(s->status);
        }
        stored = r->progress;
        over = r->last;
      } else {
        asked.push_back(x);
      }
    }
  }
  template <class T>
  const T* last() const {
    return asked.empty() ? nullptr : std::get_if<T>(&asked.back());
  }
  void complete() { take(cursor.on_step_ended({}, t0)); }
  void fail() { take(cursor.on_step_ended(failed, t0)); }
  void answer() {
    REQUIRE(last<fetch_answer>() != nullptr);
    take(cursor.on_answer("done", t0));
  }
  [[nodiscard]] const events::plan_finished& end() const {
    return std::get<events::plan_finished>(log.back().body);
  }
  void check(bool whole = true) const {
    event_checker checker{{.allow_unfinished = !whole}};
    for (const auto& x : log) {
      const auto found = checker.on_event(x);
      INFO((found ? render(*found) : ""));
      CHECK_FALSE(found);
    }
    CHECK(checker.finish().empty());
  }

  plan_document plan;
  plan_cursor cursor;
  std::vector<event> log;
  std::vector<plan_effect> asked;
  plan_progress stored;
  std::vector<run_status> ended;
  bool over = false;
};

}  // namespace

TEST_CASE("steps are performed one by one, in order, to the answer") {
  scene x{plan_of({tool_step("a"), tool_step("b"), tool_step("c")})};
  x.take(x.cursor.start(t0));
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(x.last<perform_step>() != nullptr);
    CHECK(*x.last<perform_step>() == perform_step{i, 1, false});
    x.complete();
  }
  REQUIRE(x.last<fetch_answer>() != nullptr);
  CHECK(x.last<fetch_answer>()->place == 2u);
  x.answer();
  CHECK(x.over);
  CHECK(x.end().answer == "done");
  x.check();
}

TEST_CASE("a failed step stops the plan with a code of plans") {
  for (const bool tool : {true, false}) {
    auto one = tool_step("a");
    if (!tool) {
      one.tool.clear();
      one.instruction = "do";
    }
    scene x{plan_of({one, tool_step("b")})};
    x.take(x.cursor.start(t0));
    x.fail();
    CHECK(x.over);
    CHECK(x.end().status == run_status::failed);
    CHECK(x.end().err->code ==
          (tool ? errc::tool_execution_error : errc::step_execution_error));
    CHECK(x.end().err->message == "step \"a\": it broke");
    x.check();
  }
}

TEST_CASE("a step that may fail does not stop the plan") {
  scene x{plan_of({tool_step("a"), tool_step("b", step_policy::go_on)})};
  x.take(x.cursor.start(t0));
  x.complete();
  x.fail();
  REQUIRE(x.last<fetch_answer>() != nullptr);
  CHECK(x.last<fetch_answer>()->place == 0u);  // the last that completed
  x.answer();
  CHECK(x.end().status == run_status::completed);
  x.check();
}

TEST_CASE("a plan none of whose steps completed has an empty answer") {
  scene x{plan_of({tool_step("a", step_policy::go_on)})};
  x.take(x.cursor.start(t0));
  x.fail();
  REQUIRE(x.last<fetch_answer>() != nullptr);
  CHECK_FALSE(x.last<fetch_answer>()->place);
}

TEST_CASE("a step is tried again with growing pauses, up to its attempts") {
  scene x{plan_of({tool_step("a", step_policy::retry)})};
  x.take(x.cursor.start(t0));
  for (std::uint32_t attempt = 1; attempt < 3; ++attempt) {
    x.fail();
    REQUIRE(x.last<wait_to_retry>() != nullptr);
    CHECK(x.last<wait_to_retry>()->delay > 900ms * attempt);
    x.take(x.cursor.on_waited(t0));
    REQUIRE(x.last<perform_step>() != nullptr);
    CHECK(x.last<perform_step>()->attempt == attempt + 1);
  }
  x.fail();
  CHECK(x.end().status == run_status::failed);
  x.check();
}

TEST_CASE("a step that somebody denied is not tried again") {
  scene x{plan_of({tool_step("a", step_policy::retry)})};
  x.take(x.cursor.start(t0));
  const error no{errc::approval_denied, "test", "denied by user"};
  x.take(x.cursor.on_step_ended({run_status::failed, no}, t0));
  CHECK(x.last<wait_to_retry>() == nullptr);
  CHECK(x.end().status == run_status::failed);
  x.check();
}

TEST_CASE("a step whose dependency did not complete does not begin") {
  auto late = tool_step("c", step_policy::go_on);
  late.depends_on = {0};
  scene x{plan_of({tool_step("a", step_policy::go_on), tool_step("b"), late,
                   tool_step("d")})};
  x.take(x.cursor.start(t0));
  x.fail();
  x.complete();
  REQUIRE(x.last<perform_step>() != nullptr);
  CHECK(x.last<perform_step>()->place == 3);
  CHECK(x.ended == std::vector{run_status::failed, run_status::completed,
                               run_status::failed});
  x.complete();
  x.answer();
  x.check();
}

TEST_CASE("such a step stops the plan unless it may fail") {
  auto late = tool_step("b");
  late.depends_on = {0};
  scene x{plan_of({tool_step("a", step_policy::go_on), late})};
  x.take(x.cursor.start(t0));
  x.fail();
  CHECK(x.end().err->code == errc::step_execution_error);
  x.check();
}

TEST_CASE("the time limit of a step ends it, then its policy decides") {
  for (const auto policy : {step_policy::stop, step_policy::go_on}) {
    auto one = tool_step("a", policy);
    one.timeout = 2s;
    scene x{plan_of({one, tool_step("b")})};
    x.take(x.cursor.start(t0));
    x.take(x.cursor.on_step_due(1, 1, t0));  // of another step
    CHECK(x.asked.empty());
    x.take(x.cursor.on_step_due(0, 1, t0));
    REQUIRE(x.last<stop_step>() != nullptr);
    CHECK_FALSE(x.last<stop_step>()->how.cancelled);
    x.fail();
    const auto& first = std::get<events::plan_step_finished>(x.log[2].body);
    CHECK(first.err->code == errc::timeout);
    if (policy == step_policy::stop) {
      CHECK(x.end().err->code == errc::timeout);
      x.check();
    } else {
      REQUIRE(x.last<perform_step>() != nullptr);
      CHECK_FALSE(x.cursor.stopping());
    }
  }
}

TEST_CASE("a step that completes as its time is over has completed") {
  auto one = tool_step("a");
  one.timeout = 2s;
  scene x{plan_of({one})};
  x.take(x.cursor.start(t0));
  x.take(x.cursor.on_step_due(0, 1, t0));
  x.complete();
  x.answer();
  CHECK(x.end().status == run_status::completed);
}

TEST_CASE("a cancelled plan ends its step and says stream_interrupted") {
  scene x{plan_of({tool_step("a", step_policy::go_on), tool_step("b")})};
  x.take(x.cursor.start(t0));
  x.take(x.cursor.on_end_request({{errc::cancelled, "test", "enough"}}, t0));
  REQUIRE(x.last<stop_step>() != nullptr);
  x.fail();
  CHECK(x.ended == std::vector{run_status::cancelled});
  CHECK(x.end().status == run_status::cancelled);
  CHECK(x.end().err->code == errc::stream_interrupted);
  x.check();
}

TEST_CASE("a cancel before the first step, or while one waits, ends at once") {
  scene x{plan_of({tool_step("a", step_policy::retry)})};
  x.take(x.cursor.start(t0));
  x.fail();
  x.take(x.cursor.on_end_request({{errc::cancelled, "test", "enough"}}, t0));
  CHECK(x.over);
  CHECK(x.end().err->code == errc::stream_interrupted);
  x.check();
  x.take(x.cursor.on_waited(t0));  // the pause ends later
  CHECK(x.asked.empty());
}

TEST_CASE("an end that is asked for before the start begins no step") {
  const bool cancelled = GENERATE(true, false);
  scene x{plan_of({tool_step("a"), tool_step("b")})};
  x.take(
      x.cursor.on_end_request({{errc::timeout, "t", "over"}, cancelled}, t0));
  CHECK(x.log.empty());
  x.take(x.cursor.start(t0));
  CHECK(x.asked.empty());
  CHECK(x.log.size() == 2);  // plan_started, plan_finished
  CHECK(x.end().status ==
        (cancelled ? run_status::cancelled : run_status::failed));
  CHECK(x.end().err->code ==
        (cancelled ? errc::stream_interrupted : errc::timeout));
  x.check();
}

TEST_CASE("what goes on only to end settles its step and begins none") {
  // Between two steps, in one, before one is tried again.
  const auto at = GENERATE(0, 1, 2);
  scene x{plan_of({tool_step("a", step_policy::retry), tool_step("b")})};
  x.take(x.cursor.start(t0));
  if (at == 0) x.complete();
  if (at == 2) x.fail();
  auto stored = x.stored;
  if (at == 0) stored = {1, 1, false, true};
  if (at == 0) {  // the second had not been announced
    x.log.pop_back();
  }
  x.renew();
  x.take(x.cursor.on_end_request({{errc::cancelled, "t", "enough"}}, t0));
  x.take(x.cursor.recover(stored, x.ended, {}, {}, t0));
  if (at == 1) {
    REQUIRE(x.asked.size() == 2);
    CHECK(std::get<perform_step>(x.asked[0]).resumed);
    CHECK(std::holds_alternative<stop_step>(x.asked[1]));
    CHECK(x.cursor.stopping());
    x.fail();
  }
  CHECK(x.asked.empty());
  CHECK(x.over);
  CHECK(x.end().err->code == errc::stream_interrupted);
  x.check();
}

TEST_CASE("the time limit of a plan is a failure with timeout") {
  scene x{plan_of({tool_step("a")})};
  x.take(x.cursor.start(t0));
  x.take(x.cursor.on_end_request({{errc::timeout, "plan", "over"}, false}, t0));
  x.fail();
  CHECK(x.ended == std::vector{run_status::failed});
  CHECK(x.end().status == run_status::failed);
  CHECK(x.end().err->code == errc::timeout);
  x.check();
}

TEST_CASE("a plan whose answer cannot be read fails") {
  scene x{plan_of({tool_step("a")})};
  x.take(x.cursor.start(t0));
  x.complete();
  x.take(x.cursor.on_answer(tl::unexpected{broke}, t0));
  CHECK(x.end().status == run_status::failed);
  x.check();
}

TEST_CASE("any walk through any plan, with crashes, keeps the promises") {
  const auto first = testing::fresh_seed();
  for (unsigned i = 0; i < 3000; ++i) {
    const auto seed = first + i;
    INFO("seed " << seed);
    std::mt19937 random{seed};
    std::vector<planned_step> steps;
    const auto n = 1 + random() % 5;
    for (std::size_t s = 0; s < n; ++s) {
      auto one = tool_step("s" + std::to_string(s),
                           static_cast<step_policy>(random() % 3));
      if (s > 0 && random() % 3 == 0) one.depends_on = {random() % s};
      steps.push_back(std::move(one));
    }
    scene x{plan_of(std::move(steps))};
    x.take(x.cursor.start(t0));
    for (int moves = 0; !x.over && moves < 200; ++moves) {
      if (random() % 6 == 0) {  // all that is not stored is lost
        x.renew();
        if (random() % 10 == 0)  // somebody adopts it to end it
          x.take(x.cursor.on_end_request({{errc::cancelled, "test", "enough"}},
                                         t0));
        x.take(x.cursor.recover(x.stored, x.ended, {}, {}, t0));
        continue;
      }
      if (random() % 40 == 0)
        x.take(x.cursor.on_end_request(
            {{errc::cancelled, "test", "enough"}, random() % 2 == 0}, t0));
      else if (x.last<fetch_answer>() != nullptr)
        x.take(x.cursor.on_answer("done", t0));
      else if (x.last<wait_to_retry>() != nullptr)
        x.take(x.cursor.on_waited(t0));
      else if (random() % 8 == 0 && x.last<perform_step>() != nullptr)
        x.take(x.cursor.on_step_due(x.cursor.place(),
                                    x.cursor.progress().attempt, t0));
      else if (random() % 3 == 0)
        x.fail();
      else
        x.complete();
    }
    REQUIRE(x.over);
    x.check();
  }
}

TEST_CASE("a plan of 10,000 steps costs what it has steps") {
  const auto took = [](std::size_t n) {
    std::vector<planned_step> steps;
    for (std::size_t i = 0; i < n; ++i)
      steps.push_back(tool_step(std::to_string(i), step_policy::go_on));
    const auto plan = plan_of(std::move(steps));
    const auto begin = std::chrono::steady_clock::now();
    plan_cursor cursor{plan, run_id{"plan_1"}, {}, {}};
    static_cast<void>(cursor.start(t0));
    for (std::size_t i = 0; i < n; ++i)
      static_cast<void>(
          cursor.on_step_ended(i % 2 == 0 ? step_end{} : failed, t0));
    static_cast<void>(cursor.on_answer("", t0));
    CHECK(cursor.ended());
    return std::chrono::steady_clock::now() - begin;
  };
  took(100);
  const auto small = took(1000);
  CHECK(took(10'000) < small * 40 + 20ms);
}
