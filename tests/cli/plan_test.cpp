// SPDX-License-Identifier: MIT
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/plan_report.hpp"
#include "tests/cli/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::run_status;
using nlohmann::json;

namespace {

event of(events::body body) {
  return {1, run_id{"plan_1"}, std::move(body), {}};
}

}  // namespace

TEST_CASE("plan takes a file, and has safe defaults") {
  const auto x = parsed<plan_command>({"plan", "p.toml"});
  CHECK(x.file == "p.toml");
  CHECK_FALSE(x.check_only);
  CHECK_FALSE(x.agent);
  CHECK_FALSE(x.session);
  CHECK(x.context.empty());
  CHECK_FALSE(x.choices.approval);
  CHECK(parsed<plan_command>({"plan", "-"}).file == "-");
}

TEST_CASE("every option of plan arrives") {
  const auto x = parsed<plan_command>(
      {"plan",    "--config",   "c.toml",    "--set",     "a.b=1",
       "--agent", "writer",     "--model",   "fast",      "--session",
       "notes",   "--output",   "json",      "--approve", "all",
       "-v",      "--no-color", "--timeout", "90s",       "--max-steps",
       "7",       "--context",  "beside",    "--stats",   "--show-reasoning",
       "p.json"});
  CHECK(x.file == "p.json");
  CHECK(x.common.config == "c.toml");
  CHECK(x.common.sets == std::vector<std::string>{"a.b=1"});
  CHECK(x.agent == "writer");
  CHECK(x.choices.model == "fast");
  CHECK(x.session == "notes");
  CHECK(x.common.output == output_kind::json);
  CHECK(x.choices.approval == approve::all);
  CHECK(x.common.level == verbosity::verbose);
  CHECK_FALSE(x.common.color);
  CHECK(x.choices.timeout == 90s);
  CHECK(x.choices.max_steps == 7u);
  CHECK(x.context == "beside");
  CHECK(x.show.stats);
  CHECK(x.show.reasoning);
}

TEST_CASE("plan check takes a file and what it is checked against") {
  const auto x = parsed<plan_command>({"plan", "check", "--agent", "a", "-m",
                                       "m", "--output", "jsonl", "p.toml"});
  CHECK(x.check_only);
  CHECK(x.file == "p.toml");
  CHECK(x.agent == "a");
  CHECK(x.choices.model == "m");
  CHECK(x.common.output == output_kind::jsonl);
}

TEST_CASE("plan without a file says what is missing") {
  CHECK(riffle::testing::has(refused({"plan"}), "which plan?"));
  CHECK(riffle::testing::has(refused({"plan", "check"}), "FILE"));
  CHECK(riffle::testing::has(refused({"plan", "--workers", "3", "p"}),
                             "there is no option --workers here"));
}

TEST_CASE("what is wrong with an option of plan is told as that") {
  const auto says = [](std::vector<std::string> arguments,
                       const std::string& part) {
    const auto why = refused(std::move(arguments));
    CAPTURE(why);
    CHECK(riffle::testing::has(why, part));
    CHECK_FALSE(riffle::testing::has(why, "there is no command"));
  };
  says({"plan", "--timeout", "0s", "p.toml"}, "it must be above 0");
  says({"plan", "--max-steps", "0", "p.toml"}, "--max-steps");
  says({"plan", "--approve", "maybe", "p.toml"}, "--approve");
  says({"plan", "p.toml", "--output", "xml"}, "--output");
  says({"plan", "-q", "-v", "p.toml"}, "excludes");
  says({"plan", "p.toml", "extra.toml"}, "extra.toml");
  says({"plan", "--config", "c.toml"}, "which plan?");
  const auto near = refused({"plan", "chek", "p.toml"});
  CHECK(riffle::testing::has(near, "did you mean check?"));
}

TEST_CASE("a plan's report has its steps") {
  plan_report x;
  x.on(of(events::plan_started{run_id{"plan_1"}, 2}));
  events::plan_step_finished end;
  end.step = 1;
  end.id = "a";
  end.output = "out";
  end.duration_ms = 2400;
  x.on(of(end));
  CHECK_FALSE(x.failed_step());
  end = {2, "b", run_status::failed};
  end.err = error{errc::timeout, "plan", "too late"};
  end.run = run_id{"run_1"};
  x.on(of(end));
  REQUIRE(x.failed_step());
  CHECK(x.failed_step()->id == "b");
  CHECK_FALSE(x.finished());
  const error why{errc::timeout, "plan", "step b: too late"};
  x.on(of(events::plan_finished{run_status::failed, {}, why, 7}));
  REQUIRE(x.finished());
  const auto all = json::parse(x.to_json("ses_1", 1));
  CHECK(all.at("plan_id") == "plan_1");
  CHECK(all.at("session_id") == "ses_1");
  CHECK(all.at("status") == "failed");
  CHECK(all.at("answer") == "");
  CHECK(all.at("error").at("code") == "timeout");
  CHECK(all.at("unasked") == 1);
  CHECK(all.at("duration_ms") == 7);
  REQUIRE(all.at("steps").size() == 2);
  CHECK(all.at("steps")[0].at("output") == "out");
  CHECK_FALSE(all.at("steps")[0].contains("run_id"));
  CHECK(all.at("steps")[1].at("run_id") == "run_1");
  CHECK(all.at("steps")[1].at("error").at("message") == "too late");
}

TEST_CASE("a plan's costs are told for each step and in total") {
  plan_report x;
  const auto take = [&x](const std::string& run, events::body body) {
    const event e{1, run_id{run}, std::move(body), {}};
    if (run == "plan_1") x.on(e);
    x.count(e);
  };
  const auto call_of = [](const std::string& tool, outcome how) {
    events::tool_result out;
    out.tool = tool;
    out.how = how;
    out.duration_ms = 5;
    return out;
  };
  const auto end_of = [](std::uint32_t step, const std::string& id) {
    events::plan_step_finished out;
    out.step = step;
    out.id = id;
    return out;
  };
  const auto run_end = [](std::uint64_t in, double usd) {
    events::run_finished out;
    out.steps = 1;
    out.usage = {.input_tokens = in, .output_tokens = 10, .cost_usd = usd};
    return out;
  };
  take("plan_1", events::plan_started{run_id{"plan_1"}, 2});
  take("plan_1", events::plan_step_started{1, "a", "", "read", {}, 1});
  take("plan_1", call_of("read", outcome::failed));
  take("plan_1", call_of("read", outcome::ok));
  take("plan_1", end_of(1, "a"));
  const run_id first{"run_1"};
  const run_id second{"run_2"};
  take("plan_1", events::plan_step_started{2, "b", "do", "", first, 1});
  take("run_1", call_of("bash", outcome::ok));
  take("run_1", run_end(100, 0.25));
  events::retry again;
  again.what = events::retry_what::step;
  take("plan_1", again);
  take("plan_1", events::plan_step_started{2, "b", "do", "", second, 2});
  take("run_2", run_end(200, 0.5));
  take("plan_1", end_of(2, "b"));
  take("plan_1", events::plan_finished{});

  const auto all = json::parse(x.to_json("ses_1", 0));
  const auto& a = all.at("steps").at(0);
  CHECK(a.at("usage").at("input_tokens") == 0);
  CHECK_FALSE(a.contains("cost_usd"));
  CHECK(a.at("tools") == json::parse(R"([{"name": "read", "calls": 2,
      "failures": 1, "duration_ms": 10}])"));
  const auto& b = all.at("steps").at(1);
  CHECK(b.at("usage").at("input_tokens") == 300);
  CHECK(b.at("cost_usd") == 0.75);
  CHECK(all.at("totals").at("usage").at("input_tokens") == 300);
  CHECK(all.at("totals").at("usage").at("output_tokens") == 20);
  CHECK(all.at("totals").at("cost_usd") == 0.75);

  const auto text = x.stats_text();
  CHECK(riffle::testing::has(
      text, "[1/2] a\n[STATS] completed: 0 steps, 2 tool calls"));
  CHECK(riffle::testing::has(
      text, "[2/2] b\n[STATS] completed: 2 steps, 1 tool call "));
  CHECK(riffle::testing::has(text, "1 retry, 1 of step, "));
  CHECK(riffle::testing::has(text,
                             "[STATS] the whole plan: 2 steps, 3 tool calls"));
  CHECK(riffle::testing::has(text, "tokens: 300 in, 20 out; cost: $0.7500"));
}

TEST_CASE("the exit status of a plan that ended") {
  CHECK(status_of(run_status::completed, {}) == completed);
  CHECK(status_of(run_status::cancelled, errc::stream_interrupted) ==
        interrupted_by_user);
  CHECK(status_of(run_status::failed, errc::timeout) == out_of_time);
  CHECK(status_of(run_status::failed, errc::tool_execution_error) == failed);
  CHECK(status_of(errc::invalid_plan) == usage);
  CHECK(status_of(errc::agent_not_streaming) == usage);
}
