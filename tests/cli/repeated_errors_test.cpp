// SPDX-License-Identifier: MIT
// Errors that come again and again: told once, and counted; in one wording.
#include "runtime/cli/view/plan_view.hpp"
#include "runtime/cli/view/trace_writer.hpp"
#include "runtime/cli/view/volley_view.hpp"
#include "tests/cli/told_run.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

/// Feeds events of one run.
struct feed {
  explicit feed(verbosity level = verbosity::normal)
      : traces{{level, false, true, false}} {}

  std::string operator()(events::body body) {
    event x;
    x.run = {"run_1"};
    x.body = std::move(body);
    return traces.on(x);
  }
  /// A call with its end.
  std::string call(const std::string& tool, const std::string& arguments,
                   events::tool_result end) {
    events::tool_call x;
    x.id = end.id = {"call_1"};
    x.tool = end.tool = tool;
    x.title = "Doing it";
    x.arguments = arguments;
    (*this)(x);
    return (*this)(end);
  }
  std::string read(const std::string& path, outcome how, std::uint64_t ms) {
    events::tool_result x;
    x.how = how;
    x.duration_ms = ms;
    x.attempts = 1;
    if (how != outcome::ok)
      x.err = error{errc::tool_execution_error, "tool", "no such file"};
    return call("read", R"({"path":")" + path + R"("})", x);
  }

  trace_writer traces;
};

std::string bytes_of(const screen_writes& all) {
  std::string out;
  for (const auto& x : all) out += x.bytes;
  return out;
}

}  // namespace

TEST_CASE("the same error again is counted, and told before what comes next") {
  feed on;
  CHECK(on.read("a", outcome::failed, 10) ==
        "[TOOL] read: a ✗ no such file — 0.0s\n");
  CHECK(on.read("a", outcome::failed, 2000).empty());
  CHECK(on.read("a", outcome::failed, 30).empty());
  CHECK(on.traces.rest().empty());  // a pause ends nothing
  CHECK(on.read("b", outcome::failed, 10) ==
        "[TOOL] … the same 2 times more\n"
        "[TOOL] read: b ✗ no such file — 0.0s\n");
  CHECK(on.read("b", outcome::failed, 10).empty());
  CHECK(on.read("c", outcome::ok, 1)
            .starts_with("[TOOL] … the same once more\n[TOOL] read: c"));
  CHECK(on.read("b", outcome::failed, 10) ==
        "[TOOL] read: b ✗ no such file — 0.0s\n");
  CHECK(on.read("b", outcome::failed, 10).empty());
  CHECK(on(events::run_finished{}) == "[TOOL] … the same once more\n");
}

TEST_CASE("errors that end alike are not the same") {
  feed on;
  events::tool_result skipped;
  skipped.how = outcome::skipped;
  const auto begins = [&](const std::string& command) {
    return on.call("bash", R"({"command":")" + command + R"("})", skipped);
  };
  CHECK_FALSE(begins("a — b").empty());
  CHECK_FALSE(begins("a — c").empty());
}

TEST_CASE("verbose shows each error") {
  feed on{verbosity::verbose};
  for (int i = 0; i < 3; ++i)
    CHECK(on.read("a", outcome::failed, 10).find("✗ no such file") !=
          std::string::npos);
}

TEST_CASE("of each task that was stopped this is said") {
  const time_point now{std::chrono::seconds{100}};
  volley_view x{{}, {"a", "b"}};
  for (std::size_t i = 0; i < 2; ++i) {
    x.begun(i, false, now, {});
    task_result one;
    one.task = i;
    one.attempts = 1;
    one.status = task_status::cancelled;
    one.failure = error{errc::cancelled, "run", "stopped by Ctrl-C"};
    CHECK(bytes_of(x.over(one, now, {}))
              .ends_with(" (0.0s)\n        stopped by Ctrl-C\n"));
  }
}

TEST_CASE("an error has one wording in a run, a volley and a plan") {
  const time_point now{std::chrono::seconds{100}};
  const error refused{errc::model_error, "model",
                      "HTTP 401: no such key (invalid_api_key) (check the API "
                      "key and its rights)"};
  const std::string words =
      "HTTP 401: no such key (invalid_api_key; check the API key and its "
      "rights; model_error)\n";
  feed on;
  CHECK(on(events::failure{refused, 1}) == "[ERROR] " + words);

  volley_view volley{{}, {"a"}};
  volley.begun(0, false, now, {});
  task_result task;
  task.attempts = 1;
  task.status = task_status::failed;
  task.failure = refused;
  CHECK(bytes_of(volley.over(task, now, {})).ends_with("        " + words));

  plan_view plan{{}};
  const auto show = [&](events::body body) {
    event x;
    x.body = std::move(body);
    return bytes_of(plan.on(x, now, {}));
  };
  show(events::plan_started{run_id{"plan_1"}, 1});
  show(events::plan_step_started{1, "a", "Say hi.", "", run_id{"run_1"}, 1});
  events::plan_step_finished end;
  end.step = 1;
  end.id = "a";
  end.run = run_id{"run_1"};
  end.status = events::run_status::failed;
  end.err = error{errc::step_execution_error, "plan",
                  "model_error: " + refused.message};
  CHECK(show(end).ends_with(": " + words));
}

TEST_CASE("a stream that breaks is told once for each time") {
  told_run on;
  events::retry again;
  again.what = events::retry_what::model;
  again.attempt = 1;
  again.max_attempts = 3;
  again.delay_ms = 900;
  again.reason = "the answer was cut";
  CHECK_FALSE(on(again).empty());
  events::step_restarted restart;
  restart.step = 1;
  restart.attempt = 2;
  restart.reason = "the answer was cut";
  CHECK(on(restart).empty());
}
