// SPDX-License-Identifier: MIT
// Plans beyond their contract: policies, limits, readers, callbacks, records.
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "messages/event_check.hpp"
#include "runtime/api/plans.hpp"
#include "runtime/base/metrics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

struct scene {
  scene() {
    config.runtime.log.level = "off";
    config.models["default"].dialect = "scripted";
    config.agents["default"].tools = {"note"};
    config.tools.defaults.approval = "allow";
  }

  void begin(const std::string& script = "[[steps]]\ntext = \"Said.\"\n") {
    runtime_options options;
    tools::tool_spec about;
    about.name = "note";
    about.description = "for tests";
    about.parameters =
        R"({"type":"object","properties":{"text":{"type":"string"},)"
        R"("fails":{"type":"integer"}},"additionalProperties":false})";
    about.eff = effect::mutating;
    options.tools = {
        make_tool(about, [this](const json& x, tools::tool_context&) {
          ++calls;
          if (calls <= x.value("fails", 0))
            return tools::tool_output{
                "half", error{errc::tool_execution_error, "t", "broke"}, {}};
          return tools::tool_output{x.value("text", "ok"), {}, {}};
        })};
    options.journal = storage::make_memory_journal();
    options.scripts["default"] = script;
    auto made = runtime::create(config, std::move(options));
    REQUIRE(made);
    rt.emplace(std::move(*made));
  }

  expected<run> start(const json& plan, approve approval = approve::all) {
    plan_request x{plan.dump(), "plan.json", {}};
    x.with.approval = approval;
    return rt->start_plan(std::move(x));
  }

  /// All events of both logs, checked.
  std::vector<json> play(const json& plan, approve approval = approve::all) {
    auto started = start(plan, approval);
    REQUIRE(started);
    return events_of(*started);
  }

  static std::vector<json> events_of(const run& plan) {
    plan_events logs{plan};
    event_checker checker;
    std::vector<json> out;
    while (!logs.ended())
      if (const auto batch = logs.next(testing::scaled(20s)))
        batch->for_each([&](const event_view& x) {
          const auto found = checker.on_line(x.line());
          INFO(x.line());
          CHECK_FALSE(found);
          out.push_back(json::parse(x.line()));
        });
    CHECK(checker.finish().empty());
    return out;
  }

  config::config config;
  int calls = 0;
  std::optional<runtime> rt;
};

json plan_with(const json& steps) {
  // One step, in braces, is a list of one.
  return {{"steps", steps.is_array() ? steps : json::array({steps})}};
}

std::vector<json> of_type(const std::vector<json>& all, const char* type) {
  std::vector<json> out;
  for (const auto& x : all)
    if (x.at("event_type") == type) out.push_back(x.at("data"));
  return out;
}

}  // namespace

TEST_CASE("a step that fails is tried again if it says so") {
  scene x;
  x.config.supervision.backoff_base = 1ms;
  x.begin();
  const auto all = x.play(plan_with({{{"tool", "note"},
                                      {"arguments", {{"fails", 2}}},
                                      {"on_error", "retry"}}}));
  CHECK(x.calls == 3);
  const auto begun = of_type(all, "plan_step_started");
  REQUIRE(begun.size() == 3);
  CHECK(begun[2].at("attempt") == 3);
  REQUIRE(of_type(all, "retry").size() == 2);
  CHECK(of_type(all, "retry")[0].at("what") == "step");
  CHECK(of_type(all, "plan_finished")[0].at("status") == "completed");
}

TEST_CASE("a run of a step is tried again as a new run") {
  scene x;
  x.config.supervision.backoff_base = 1ms;
  x.begin("[[steps]]\nerror = { status = 400, message = \"no\" }\n");
  const auto all =
      x.play(plan_with({{{"instruction", "go"}, {"on_error", "retry"}}}));
  const auto begun = of_type(all, "plan_step_started");
  REQUIRE(begun.size() == 3);
  CHECK(begun[0].at("run_id") != begun[1].at("run_id"));
  CHECK(of_type(all, "run_finished").size() == 3);
  const auto end = of_type(all, "plan_finished")[0];
  CHECK(end.at("error").at("code") == "step_execution_error");
}

TEST_CASE("a failed step that may fail leaves its output to later ones") {
  scene x;
  x.begin();
  const auto all =
      x.play(plan_with({{{"id", "a"},
                         {"tool", "note"},
                         {"arguments", {{"fails", 1}}},
                         {"on_error", "continue"}},
                        {{"id", "b"},
                         {"tool", "note"},
                         {"arguments", {{"text", "<{{steps.a.output}}>"}}}}}));
  CHECK(of_type(all, "plan_finished")[0].at("final_answer") == "<half>");
  const auto first = of_type(all, "plan_step_finished")[0];
  CHECK((first.at("status") == "failed" && first.at("output") == "half"));
  CHECK(first.at("error").at("code") == "tool_execution_error");
}

TEST_CASE("outputs of agents and tools are passed on as they are") {
  scene x;
  x.begin("[[steps]]\ntext = \"\\\"{{task}}\\\"\\n\"\n");
  const auto all = x.play(plan_with(
      {{{"id", "a"}, {"tool", "note"}, {"arguments", {{"text", "é\n"}}}},
       {{"id", "b"}, {"instruction", "Say {{steps.a.output}}."}},
       {{"id", "c"},
        {"tool", "note"},
        {"arguments", {{"text", "[{{steps.b.output}}]"}}}}}));
  CHECK(of_type(all, "plan_finished")[0].at("final_answer") ==
        "[\"Say é\n.\"\n]");
}

TEST_CASE("the runs of steps are of one session, the plan has its own") {
  scene x;
  x.begin();
  plan_request request{
      plan_with({{{"instruction", "a"}}, {{"instruction", "b"}}}).dump(),
      "p",
      {}};
  request.with.session = session_id{"mine"};
  auto started = x.rt->start_plan(std::move(request));
  REQUIRE(started);
  CHECK(started->id().value.starts_with("plan_"));
  CHECK(started->session().value == started->id().value);
  const auto end = started->wait(testing::scaled(20s));
  REQUIRE(end);
  CHECK(end->answer == "Said.");
  CHECK(x.rt->session(session_id{"mine"})->runs.size() == 2);
  CHECK(x.rt->session(started->session())->runs.size() == 1);
}

TEST_CASE("an invalid plan is refused with every mistake and its place") {
  scene x;
  x.begin();
  const auto refused = x.start(
      plan_with({{{"id", "a"}, {"tool", "nope"}},
                 {{"id", "a"}, {"tool", "note"}, {"arguments", {{"x", 1}}}},
                 {{"tool", "complete"}}}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::invalid_plan);
  const auto& text = refused.error().message;
  CAPTURE(text);
  for (const auto* part :
       {"plan.json: step 1 \"a\": tool: there is no tool `nope`",
        "step 2 \"a\": id: step 1 has the id",
        "step 2 \"a\": arguments: ", "step 3: tool: `complete` is for agents"})
    CHECK(text.find(part) != std::string::npos);
  CHECK(x.rt->sessions()->empty());
}

TEST_CASE("a mistake in TOML has its line and column") {
  scene x;
  x.begin();
  plan_request request{
      "[[steps]]\nid = \"a\"\n  tool = \"nope\"\n", "p.toml", {}};
  const auto refused = x.rt->start_plan(std::move(request));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("p.toml:3:"));
  const auto broken = x.rt->start_plan({"[[steps\n", "p.toml", {}});
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code == errc::invalid_plan);
}

TEST_CASE("a plan that requires streaming is refused by a model without") {
  scene x;
  x.config.models["default"].streaming = false;
  x.begin();
  auto plan = plan_with({{{"instruction", "go"}}});
  CHECK(x.start(plan));
  plan["require_streaming"] = true;
  const auto refused = x.start(plan);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::agent_not_streaming);
}

TEST_CASE("the time limit of a plan, and of a step, is told as timeout") {
  scene x;
  x.begin("chunk = 1\ndelay = \"60s\"\n[[steps]]\ntext = \"late\"\n");
  auto plan = plan_with({{{"instruction", "go"}, {"timeout", "50ms"}}});
  for (const bool whole : {false, true}) {
    if (whole) {
      plan["steps"][0].erase("timeout");
      plan["timeout"] = "50ms";
    }
    const auto all = x.play(plan);
    const auto step = of_type(all, "plan_step_finished")[0];
    CHECK(step.at("status") == "failed");
    CHECK(step.at("error").at("code") == "timeout");
    const auto end = of_type(all, "plan_finished")[0];
    CHECK(end.at("status") == "failed");
    CHECK(end.at("error").at("code") == "timeout");
    CHECK(of_type(all, "run_finished")[0].at("status") == "failed");
  }
}

TEST_CASE("a call that is denied is a failed step") {
  scene x;
  x.config.tools.defaults.approval = "ask";
  x.begin();
  const auto all = x.play(plan_with({{{"tool", "note"}}}), approve::none);
  const auto step = of_type(all, "plan_step_finished")[0];
  CHECK(step.at("status") == "failed");
  CHECK(step.at("error").at("code") == "approval_denied");
  CHECK(of_type(all, "plan_finished")[0].at("error").at("code") ==
        "tool_execution_error");
  CHECK(x.calls == 0);
}

TEST_CASE("a call of a plan waits for its approval, and is executed") {
  scene x;
  x.config.tools.defaults.approval = "ask";
  x.begin();
  const auto started = x.start(
      plan_with({{{"tool", "note"}}, {{"tool", "note"}}}), approve::ask);
  REQUIRE(started);
  const auto deadline = std::chrono::steady_clock::now() + testing::scaled(20s);
  for (int approved = 0; approved < 2;) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    proposal_filter filter;
    filter.undecided = true;
    const auto open = x.rt->proposals(filter);
    REQUIRE(open);
    for (const auto& p : *open) {
      CHECK(p.what.run == started->id());
      if (x.rt->decide(p.what.id, {.approved = true})->verdict ==
          decision_verdict::accepted)
        ++approved;
    }
    std::this_thread::sleep_for(1ms);
  }
  const auto all = scene::events_of(*started);
  CHECK(of_type(all, "plan_finished")[0].at("status") == "completed");
  CHECK(x.calls == 2);
}

TEST_CASE("one plan runs although it and its step are two runs") {
  scene x;
  x.config.runtime.max_runs = 1;
  x.begin();
  const auto all = x.play(plan_with({{{"instruction", "a"}}}));
  CHECK(of_type(all, "plan_finished")[0].at("status") == "completed");
}

TEST_CASE("a reader that takes nothing does not hold up a plan") {
  scene x;
  x.begin();
  json steps = json::array();
  for (int i = 0; i < 300; ++i)
    steps.push_back({{"tool", "note"},
                     {"arguments", {{"text", std::string(20'000, 'x')}}}});
  plan_request request{plan_with(steps).dump(), "p", {}};
  request.with.approval = approve::all;
  auto stream = execute_plan(*x.rt, std::move(request));
  REQUIRE(stream);
  REQUIRE(stream->next(testing::scaled(10s)));  // and no more
  const auto deadline = std::chrono::steady_clock::now() + testing::scaled(60s);
  while (x.rt->sessions()->at(0).last.state == storage::run_state::active) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(5ms);
  }
  std::size_t tools = 0;
  while (auto chunk = stream->next(testing::scaled(10s)))
    if (chunk->tool) ++tools;
  CHECK(tools == 300);
}

TEST_CASE("a callback gets every chunk, and nobody has to wait") {
  scene x;
  x.begin();
  std::vector<plan_chunk> all;
  plan_request request{plan_with({{{"instruction", "a"}}}).dump(), "p", {}};
  auto started = execute_plan(*x.rt, std::move(request),
                              [&](const plan_chunk& c) { all.push_back(c); });
  REQUIRE(started);
  const auto last = started->last.get();
  CHECK(last.final_answer == "Said.");
  REQUIRE(all.size() >= 3);
  CHECK(all.back().is_last());
  CHECK(all.front().step == 1);
}

TEST_CASE("a callback that throws is heard of by the future") {
  scene x;
  x.begin();
  plan_request request{plan_with({{{"instruction", "a"}}}).dump(), "p", {}};
  auto started = execute_plan(*x.rt, std::move(request), [](const plan_chunk&) {
    throw std::runtime_error{"no"};
  });
  REQUIRE(started);
  CHECK_THROWS_AS(started->last.get(), std::runtime_error);
  const auto end = started->plan.wait(testing::scaled(20s));
  REQUIRE(end);
  CHECK(end->status == events::run_status::completed);
}

TEST_CASE("a long plan costs what it has steps") {
  const auto took = [](int n) {
    scene x;
    x.begin();
    json steps = json::array();
    for (int i = 0; i < n; ++i)
      steps.push_back({{"tool", "note"},
                       {"arguments", {{"text", "step " + std::to_string(i)}}}});
    const auto begin = std::clock();  // of the process, whoever else works
    const auto started = x.start(plan_with(steps));
    REQUIRE(started);
    const auto end = started->wait(testing::scaled(300s)).value();
    CHECK(end.status == events::run_status::completed);
    CHECK(x.calls == n);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const auto small = took(1000);
  const auto large = took(10'000);
  CAPTURE(small, large);
  CHECK(large < small * testing::scaled(25) + 2);
}

TEST_CASE("a plan, its steps, runs and tools are measured under OTel's names") {
  struct kept final : metric_reader {
    void on(const metric_about& what, double /*value*/,
            std::initializer_list<metric_label> labels) noexcept override {
      const std::lock_guard lock{mutex};
      std::string line{what.name};
      for (const auto& x : labels)
        if (!x.value.empty()) line.append(" ").append(x.value);
      ++lines[line];
    }
    std::mutex mutex;
    std::map<std::string, int> lines;
  };
  const auto reader = std::make_shared<kept>();
  scene x;
  x.config.supervision.backoff_base = 1ms;
  x.begin();
  read_metrics(reader);
  x.play(plan_with({{{"id", "a"},
                     {"tool", "note"},
                     {"arguments", {{"fails", 1}}},
                     {"on_error", "retry"}},
                    {{"id", "b"}, {"instruction", "go"}}}));
  read_metrics(nullptr);
  const std::lock_guard lock{reader->mutex};
  for (const std::string line :
       {"gen_ai.execute_tool.duration note",
        "gen_ai.invoke_agent.duration default", "riffle.retries step",
        "riffle.plan.step.duration b", "gen_ai.workflow.duration"}) {
    CAPTURE(line);
    CHECK(reader->lines[line] == 1);
  }
}
