// SPDX-License-Identifier: MIT
// The loop's policies with a scripted model, as an application sees them.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "messages/event_check.hpp"
#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

struct seen {
  run_outcome end;
  std::vector<json> events;

  [[nodiscard]] std::size_t count(std::string_view type) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        events, [&](const json& x) { return x.at("event_type") == type; }));
  }
};

seen play(const std::string& script, const config::agent_config& agent) {
  config::config config;
  config.runtime.log.level = "off";
  config.models["default"].dialect = "scripted";
  config.agents["default"] = agent;
  runtime_options options;
  tools::tool_spec look;
  look.name = "look";
  look.description = "for tests";
  look.parameters = R"({"type":"object"})";
  look.eff = effect::read_only;
  options.tools = {
      make_tool(look, [](const json&) { return std::string{"seen"}; })};
  options.journal = storage::make_memory_journal();
  options.scripts["default"] = script;
  auto made = runtime::create(std::move(config), std::move(options));
  REQUIRE(made);
  seen out;
  event_checker checker;
  auto end = made->execute({.task = "go"});
  REQUIRE(end);
  auto log = made->events(end->run);
  REQUIRE(log);
  while (auto batch = log->next(testing::scaled(20s)))
    batch->for_each([&](const event_view& x) {
      CHECK_FALSE(checker.on_line(x.line()));
      out.events.push_back(json::parse(x.line()));
    });
  CHECK(checker.finish().empty());
  out.end = std::move(*end);
  return out;
}

/// Looks so often, always at the same, then answers.
std::string looks(int times) {
  std::string script;
  for (int i = 0; i < times; ++i)
    script += "[[steps]]\ncalls = [{ tool = \"look\", arguments = {} }]\n";
  return script + "[[steps]]\ntext = \"Enough.\"\n";
}

config::agent_config agent() {
  config::agent_config x;
  x.tools = {"look"};
  return x;
}

}  // namespace

TEST_CASE("a scripted loop gets its hint and goes on behind it") {
  auto who = agent();
  who.loop_limit = 3;
  const auto good = play(looks(3), who);
  CHECK(good.end.answer == "Enough.");
  CHECK(good.end.steps == 4);
  const auto bad = play(looks(4), who);
  REQUIRE(bad.end.failure);
  CHECK(bad.end.failure->code == errc::loop_detected);
  CHECK(bad.end.steps == 4);
}

TEST_CASE("a reminder is no new task for a script") {
  auto who = agent();
  who.completion = "tool";
  who.phase = "work";
  const auto x = play(R"(
[[steps]]
text = "I think I am done."
[[steps]]
calls = [{ tool = "complete", arguments = { answer = "Done." } }]
)",
                      who);
  CHECK(x.end.answer == "Done.");
  CHECK(x.end.steps == 2);
  CHECK(x.count("retry") == 1);
}

TEST_CASE("a budget of calls ends a run before the call that is too much") {
  auto who = agent();
  who.budget.tool_calls = 2;
  CHECK(play(looks(2), who).end.answer == "Enough.");
  const auto over = play(looks(3), who);
  REQUIRE(over.end.failure);
  CHECK(over.end.failure->code == errc::budget_exceeded);
  CHECK(std::ranges::count_if(over.events, [](const json& x) {
          return x.at("data").value("outcome", "") == "skipped";
        }) == 1);
}
