// SPDX-License-Identifier: MIT
// A plan as terminals of 60, 80, 110 and 200 columns show it, whole.
#include <functional>
#include <string>
#include <utility>

#include "actors/core/run_status.hpp"
#include "runtime/cli/view/plan_view.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using events::run_status;
using riffle::testing::terminal_picture;

namespace {

const time_point start = time_point{} + 1h;
const std::string plan_id = "plan_01m87tmkd7y4t43dve6h175n0s";

view_options at_terminal() {
  view_options x;
  x.status = true;
  return x;
}

/// A view on a terminal that can be resized.
struct stage {
  explicit stage(std::size_t columns, view_options options = at_terminal())
      : picture{columns}, size{columns, 24}, view{options} {}

  void show(const screen_writes& all) {
    for (const auto& x : all) picture.feed(x.bytes);
  }
  void on(duration at, events::body body, const std::string& run = plan_id) {
    event x;
    x.run = run_id{run};
    x.body = std::move(body);
    show(view.on(x, start + at, size));
  }
  void tick(duration at) { show(view.tick(start + at, size)); }
  void begin(duration at, std::uint32_t step, const std::string& id,
             const std::string& instruction, const std::string& tool,
             std::uint32_t attempt = 1) {
    on(at,
       events::plan_step_started{
           step, id, instruction, tool,
           run_id{tool.empty() ? "run_" + std::to_string(step) : ""}, attempt});
  }
  void end(duration at, std::uint32_t step, const std::string& id,
           std::uint64_t ms, run_status status = run_status::completed,
           std::optional<error> why = {}) {
    events::plan_step_finished x;
    x.step = step;
    x.id = id;
    x.status = status;
    x.err = std::move(why);
    x.duration_ms = ms;
    on(at, x);
  }
  void call(duration at, const std::string& id, const std::string& tool,
            const std::string& title, const std::string& arguments,
            const std::string& run = plan_id) {
    events::tool_call x;
    x.id = {id};
    x.tool = tool;
    x.title = title;
    x.arguments = arguments;
    on(at, x, run);
  }
  void result(duration at, const std::string& id, const std::string& tool,
              const std::string& run = plan_id,
              const std::string& failure = {}) {
    events::tool_result x;
    x.id = {id};
    x.tool = tool;
    x.how = failure.empty() ? outcome::ok : outcome::failed;
    if (!failure.empty())
      x.err = error{errc::tool_execution_error, tool, failure};
    x.duration_ms = 100;
    x.attempts = 1;
    x.metadata = failure.empty() ? R"({"lines":2,"bytes":72})" : "";
    on(at, x, run);
  }
  void resize(std::size_t columns) {
    picture.resize(columns);
    size.columns = columns;
  }

  terminal_picture picture;
  view_size size;
  plan_view view;
};

constexpr auto notes =
    "Write release notes from this log, in 日本語 and in English, and say of "
    "each change whom it is for:\n{{steps.log.output}}";

/// A call, an agent with two calls, and a step that fails; `in_the_middle`: of
/// the second one.
std::string play(stage& x, const std::function<void()>& in_the_middle) {
  x.on(0s, events::plan_started{run_id{plan_id}, 3});
  x.begin(0s, 1, "log", "", "bash");
  x.call(0s, "c1", "bash", "Running: git log", R"({"command":"git log"})");
  x.tick(50ms);
  x.result(100ms, "c1", "bash");
  x.end(100ms, 1, "log", 100);
  x.begin(200ms, 2, "notes", notes, "");
  x.on(200ms, events::run_started{{"ses_1"}, "default", "m", notes, 30, {}},
       "run_2");
  x.on(200ms, events::step_start{1, 30}, "run_2");
  x.call(300ms, "c2", "read", "Reading CHANGES.md", R"({"path":"CHANGES.md"})",
         "run_2");
  x.result(400ms, "c2", "read", "run_2");
  x.call(500ms, "c3", "bash", "Running: make docs",
         R"({"command":"make docs"})", "run_2");
  x.tick(2200ms);
  in_the_middle();
  x.tick(2400ms);
  x.result(2500ms, "c3", "bash", "run_2");
  x.on(2600ms, events::run_finished{}, "run_2");
  x.end(2600ms, 2, "notes", 2400);
  x.tick(2700ms);
  x.begin(2700ms, 3, "push", "", "bash");
  x.call(2700ms, "c4", "bash", "Running: git push",
         R"({"command":"git push --follow-tags origin main"})");
  x.tick(2900ms);
  x.result(3s, "c4", "bash", plan_id, "no such remote");
  const error why{errc::tool_execution_error, "plan", "no such remote"};
  x.end(3s, 3, "push", 300, run_status::failed, why);
  x.on(3s, events::plan_finished{run_status::failed, {}, why, 3000});
  x.tick(3200ms);
  x.show(x.view.hide_status());
  return x.picture.text();
}

}  // namespace

TEST_CASE("golden: a plan at 60 columns") {
  stage x{60};
  std::string middle;
  const auto all = play(x, [&] { middle = x.picture.text(); });
  CAPTURE(middle, all);
  CHECK(middle == R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 3 steps
[1/3] ✓ log: bash (0.1s, 1 call)
[2/3] ▶ notes: Write release …  ⠋ Running: make docs — 1.7s
      [TOOL] read: CHANGES.md (2 lines, 72 B) — 0.1s
1/3 ended — 2.2s
)");
  CHECK(all == R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 3 steps
[1/3] ✓ log: bash (0.1s, 1 call)
[2/3] ✓ notes: Write release notes from th… (2.4s, 2 calls)
[3/3] [TOOL] bash: git push --follo… ✗ no such remote — 0.1s
[3/3] ✗ push: bash (0.3s)
)");
}

TEST_CASE("golden: a plan at 80 columns") {
  stage x{80};
  std::string middle;
  const auto all = play(x, [&] { middle = x.picture.text(); });
  CAPTURE(middle, all);
  CHECK(middle == R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 3 steps
[1/3] ✓ log: bash (0.1s, 1 call)
[2/3] ▶ notes: Write release notes from this log,…  ⠋ Running: make docs — 1.7s
      [TOOL] read: CHANGES.md (2 lines, 72 B) — 0.1s
1/3 ended — 2.2s
)");
  CHECK(all == R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 3 steps
[1/3] ✓ log: bash (0.1s, 1 call)
[2/3] ✓ notes: Write release notes from this log, in 日本語 an… (2.4s, 2 calls)
[3/3] [TOOL] bash: git push --follow-tags origin main ✗ no such remote — 0.1s
[3/3] ✗ push: bash (0.3s)
)");
}

TEST_CASE("golden: a plan at 110 columns") {
  stage x{110};
  const auto all = play(x, [] {});
  CHECK_THAT(all, Contains(", and say of each … (2.4s, 2 calls)\n"));
}

TEST_CASE("golden: a plan at 200 columns") {
  stage x{200};
  std::string middle;
  const auto all = play(x, [&] { middle = x.picture.text(); });
  CAPTURE(middle, all);
  CHECK(middle == R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 3 steps
[1/3] ✓ log: bash (0.1s, 1 call)
[2/3] ▶ notes: Write release notes from this log, in 日本語 and in English, and say of each change whom it is for: {{steps.log.output}}  ⠋ Running: make docs — 1.7s
      [TOOL] read: CHANGES.md (2 lines, 72 B) — 0.1s
1/3 ended — 2.2s
)");
  CHECK(all == R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 3 steps
[1/3] ✓ log: bash (0.1s, 1 call)
[2/3] ✓ notes: Write release notes from this log, in 日本語 and in English, and say of each change whom it is for: {{steps.log.output}} (2.4s, 2 calls)
[3/3] [TOOL] bash: git push --follow-tags origin main ✗ no such remote — 0.1s
[3/3] ✗ push: bash (0.3s)
)");
}

TEST_CASE("golden: a terminal that is resized while a plan runs") {
  for (const auto& [from, to] : {std::pair{200u, 60u},
                                 {80u, 60u},
                                 {60u, 80u},
                                 {80u, 200u},
                                 {200u, 80u},
                                 {60u, 200u}}) {
    CAPTURE(from, to);
    stage resized{from};
    const auto got = play(resized, [&, to = to] { resized.resize(to); });
    CAPTURE(got);
    // What came behind is as if it had always been so wide, and no rest of a
    // status stays.
    stage always{to};
    const auto whole = play(always, [] {});
    const auto behind = whole.substr(whole.find("[2/3] ✓"));
    CHECK(got.ends_with(behind));
    CHECK(got.find("done") == std::string::npos);
    CHECK(got.find("⠋") == std::string::npos);
    CHECK(got.find("▶") == std::string::npos);
  }
}

TEST_CASE("a status says nothing that the line of its step has said") {
  view_options verbose;
  verbose.level = verbosity::verbose;
  stage x{80, verbose};
  x.on(0s, events::plan_started{run_id{plan_id}, 4});
  const auto begin = events::plan_step_started{4, "notes", "Write.", "", {}, 1};
  x.on(0s, begin);
  core::run_status status;
  status.on(begin, start);
  const auto told = status.take(start + 1s);
  REQUIRE(told);
  x.on(1s, events::status{*told});
  CHECK(x.picture.text().find("[STATUS]") == std::string::npos);
  x.on(2s, events::status{"room is made"});
  CHECK(x.picture.text().find("[STATUS] room is made") != std::string::npos);
}

TEST_CASE("golden: a plan that Ctrl-C ends") {
  stage x{80};
  x.on(0s, events::plan_started{run_id{plan_id}, 2});
  x.begin(0s, 1, "notes", "Write them.", "");
  x.on(0s, events::step_start{1, 30}, "run_1");
  x.on(1s, events::llm_token{"I am about to say", 1}, "run_1");
  x.view.cancelling();
  x.tick(1200ms);
  CHECK(x.picture.text() == R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 2 steps
[1/2] ▶ notes: Write them.  ⠹ cancelling; Ctrl-C once more s… — 1.2s, ~4 tokens
0/2 ended, cancelling — 1.2s
)");
  const error why{errc::cancelled, "run", "stopped by the user"};
  x.on(1300ms, events::failure{why, 1}, "run_1");
  x.on(1300ms, events::run_finished{run_status::cancelled, 1300, 1, 0, {}, why},
       "run_1");
  x.end(1300ms, 1, "notes", 1300, run_status::cancelled, why);
  x.on(1300ms, events::plan_finished{run_status::cancelled, {}, why, 1300});
  x.tick(1500ms);
  x.show(x.view.hide_status());
  CHECK(x.picture.text() == R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 2 steps
[1/2] ✗ notes: Write them. (1.3s)
        stopped by the user
)");
}

TEST_CASE("golden: a step whose call was stopped says so once") {
  stage x{80};
  x.on(0s, events::plan_started{run_id{plan_id}, 2});
  x.begin(0s, 1, "build", "", "bash");
  x.call(0s, "c1", "bash", "Running: make", R"({"command":"make"})");
  x.view.cancelling();
  x.tick(1200ms);
  const error why{errc::cancelled, "run", "stopped by the user"};
  events::tool_result end;
  end.id = {"c1"};
  end.tool = "bash";
  end.how = outcome::cancelled;
  end.err =
      error{errc::cancelled, "run", "the run was cancelled: " + why.message};
  end.duration_ms = 1300;
  const bool begun = GENERATE(true, false);
  CAPTURE(begun);
  end.attempts = begun ? 1 : 0;
  x.on(1300ms, end);
  x.end(1300ms, 1, "build", 1300, run_status::cancelled, why);
  x.on(1300ms, events::plan_finished{run_status::cancelled, {}, why, 1300});
  x.show(x.view.hide_status());
  CHECK(x.picture.text() ==
        (begun ? R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 2 steps
[1/2] [TOOL] bash: make ✗ stopped after 1.3s
[1/2] ✗ build: bash (1.3s)
)"
               : R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 2 steps
[1/2] ✗ build: bash (1.3s)
        stopped by the user
)"));
}

TEST_CASE("golden: a plan in a file, and one that is told all of") {
  stage file{100, {}};
  CHECK(play(file, [] {}) == R"([PLAN] plan_01m87tmkd7y4t43dve6h175n0s, 3 steps
[1/3] ▶ log: bash
[1/3] [TOOL] bash: git log (2 lines, 72 B) — 0.1s
[1/3] ✓ log (0.1s)
[2/3] ▶ notes: Write release notes from this log, in 日本語 and in English, an…
[2/3] [TOOL] read: CHANGES.md (2 lines, 72 B) — 0.1s
[2/3] [TOOL] bash: make docs (2 lines, 72 B) — 0.1s
[2/3] ✓ notes (2.4s)
[3/3] ▶ push: bash
[3/3] [TOOL] bash: git push --follow-tags origin main ✗ no such remote — 0.1s
[3/3] ✗ push (0.3s)
)");
  view_options verbose = at_terminal();
  verbose.level = verbosity::verbose;
  stage told{80, verbose};
  const auto all = play(told, [] {});
  // Nothing folds: each begin, each call, each end.
  for (const auto* part :
       {"[2/3] ▶ notes: ", "[2/3] [CALL] read", "[2/3] [TOOL] read: CHANGES.md",
        "[2/3] [TOOL] bash: make docs", "[2/3] ✓ notes (2.4s)\n"})
    CHECK(all.find(part) != std::string::npos);
}

TEST_CASE("an attempt that failed is told, and what its tools did stays") {
  stage x{80};
  x.on(0s, events::plan_started{run_id{plan_id}, 1});
  x.begin(0s, 1, "build", "", "bash");
  x.call(0s, "c1", "bash", "Running: make", R"({"command":"make"})");
  x.result(1s, "c1", "bash", plan_id, "exit 2");
  events::retry again;
  again.what = events::retry_what::step;
  again.attempt = 1;
  again.max_attempts = 3;
  again.reason = "exit 2";
  x.on(1s, again);
  x.begin(2s, 1, "build", "", "bash", 2);
  x.tick(2100ms);
  const auto middle = x.picture.text();
  CAPTURE(middle);
  CHECK(middle.find("[1/1] ↻ build: bash (attempt 2)") != std::string::npos);
  CHECK(middle.find("[TOOL] bash: make ✗ exit 2") != std::string::npos);
  CHECK(middle.find("[RETRY] step: attempt 1 of 3 failed; again in 0.0s") !=
        std::string::npos);
  const error why{errc::tool_execution_error, "plan", "exit 2"};
  x.end(3s, 1, "build", 3000, run_status::failed, why);
  const auto all = x.picture.text();
  CAPTURE(all);
  CHECK(all.find("[1/1] [TOOL] bash: make ✗ exit 2") != std::string::npos);
  CHECK(all.find("[1/1] ✗ build: bash (attempt 2) (3.0s)\n") !=
        std::string::npos);
}

TEST_CASE("why a step failed is told once") {
  stage x{80};
  x.on(0s, events::plan_started{run_id{plan_id}, 2});
  const std::string reason = "no such file: no/such";
  const error why{errc::tool_execution_error, "plan", "not_found: " + reason};
  SECTION("the line of its call says it") {
    x.begin(0s, 1, "look", "", "read");
    x.call(0s, "c1", "read", "Reading no/such", R"({"path":"no/such"})");
    x.result(1s, "c1", "read", plan_id, reason);
    x.end(1s, 1, "look", 1000, run_status::failed, why);
  }
  SECTION("no line says it, so the end does") {
    x.begin(0s, 1, "look", "", "read");
    x.end(1s, 1, "look", 1000, run_status::failed, why);
  }
  SECTION("a call of an agent is not the step") {
    x.begin(0s, 1, "look", "Look.", "");
    x.call(0s, "c1", "read", "Reading no/such", R"({"path":"no/such"})",
           "run_1");
    x.result(1s, "c1", "read", "run_1", "not there");
    x.end(1s, 1, "look", 1000, run_status::failed, why);
  }
  x.tick(2s);
  x.show(x.view.hide_status());
  const auto all = x.picture.text();
  CAPTURE(all);
  const auto first = all.find(reason);
  CHECK(first != std::string::npos);
  CHECK(all.find(reason, first + 1) == std::string::npos);
}

TEST_CASE("of what a failed call put out the last ten lines are told") {
  const stage x{80};
  std::string output;
  for (int i = 1; i <= 12; ++i) output += "line " + std::to_string(i) + "\n";
  output += "x.cpp:3: \x1b[31merror\x1b[2J\n\nexit status 2\n";
  const auto lines = x.view.last_lines(output, "exit status 2");
  CHECK(lines.starts_with("        line 4\n        line 5\n"));
  CHECK(lines.ends_with("        line 12\n        x.cpp:3: error^[[2J\n"));
  CHECK(x.view.last_lines("", "exit status 2").empty());
  CHECK(x.view.last_lines("exit status 2\n", "exit status 2").empty());
  CHECK(x.view.last_lines("no such file", "not_found: no such file").empty());
}
