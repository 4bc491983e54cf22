// SPDX-License-Identifier: MIT
// Tools out of functions, and the tests in three lines that an application
// writes for its own.
#include <nlohmann/json.hpp>

#include "runtime/api/testing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using nlohmann::json;

namespace {

tools::tool_spec spec(std::string name = "count") {
  tools::tool_spec x;
  x.name = std::move(name);
  x.description = "counts";
  x.parameters =
      R"({"type":"object","properties":{"to":{"type":"integer"}},"required":["to"]})";
  x.eff = effect::read_only;
  return x;
}

tools::tool_ptr counter() {
  return make_tool(
      spec(), [](const json& arguments, tools::tool_context& context) {
        const int to = arguments.at("to");
        for (int i = 1; i <= to && !context.stop.stop_requested(); ++i)
          context.progress({.message = std::to_string(i)});
        return "counted to " + std::to_string(to);
      });
}

}  // namespace

TEST_CASE("a tool of the application is tested in three lines") {
  const auto trial = testing::run_tool(counter(), R"({"to": 2})");
  REQUIRE(trial);
  CHECK(trial->output.text == "counted to 2");
  CHECK_FALSE(trial->output.err);
  REQUIRE(trial->progress.size() == 2);
  CHECK(trial->progress[1].message == "2");
  CHECK(trial->title == "count");
  CHECK(trial->keys.empty());
}

TEST_CASE("an agent's loop is tested in three lines") {
  const auto trial = testing::run_agent({counter()}, R"(
[[steps]]
calls = [{ tool = "count", arguments = { to = 3 } }]
[[steps]]
text = "I have {{result.0}}."
)");
  REQUIRE(trial);
  CHECK(trial->outcome.answer == "I have counted to 3.");
  CHECK(trial->outcome.tool_calls == 1);
  REQUIRE_FALSE(trial->events.empty());
  CHECK(
      std::holds_alternative<events::run_started>(trial->events.front().body));
  CHECK(
      std::holds_alternative<events::run_finished>(trial->events.back().body));
  CHECK(trial->events.back().seq == trial->events.size());
}

TEST_CASE("a scripted agent's mutating calls are approved") {
  auto mutating = spec();
  mutating.eff = effect::mutating;
  const auto trial = testing::run_agent(
      {make_tool(mutating, [](const json&) { return "changed"; })}, R"(
[[steps]]
calls = [{ tool = "count", arguments = { to = 3 } }]
[[steps]]
text = "{{result.0}}"
)");
  REQUIRE(trial);
  CHECK(trial->outcome.answer == "changed");
}

TEST_CASE("what a function gives back becomes the tool's output") {
  const auto run = [](auto f) {
    auto trial = testing::run_tool(make_tool(spec(), f), R"({"to":1})");
    REQUIRE(trial);
    return trial->output;
  };
  CHECK(run([](const json&) { return "text"; }).text == "text");
  CHECK(run([](const json&) {
          return tools::tool_output{"a", {}, R"({"b":1})"};
        }).metadata == R"({"b":1})");
  CHECK(run([](const json&) -> expected<std::string> { return "fine"; }).text ==
        "fine");
  const auto failed = run([](const json&) -> expected<tools::tool_output> {
    return unexpected{error{errc::timeout, "count", "too slow"}};
  });
  REQUIRE(failed.err);
  CHECK(failed.err->code == errc::timeout);
}

TEST_CASE("title and keys of a tool are functions of the arguments") {
  tool_traits traits;
  traits.title = [](const json& x) { return "To " + x.at("to").dump(); };
  traits.keys = [](const json& x) {
    return std::vector<std::string>{"n/" + x.at("to").dump()};
  };
  const auto tool =
      make_tool(spec(), [](const json&) { return "x"; }, std::move(traits));
  const auto trial = testing::run_tool(tool, R"({"to":7})");
  REQUIRE(trial);
  CHECK(trial->title == "To 7");
  CHECK(trial->keys == std::vector<std::string>{"n/7"});
}

TEST_CASE("a call's context is what the test chose") {
  std::stop_source stop;
  stop.request_stop();
  testing::trial_options options;
  options.stop = stop.get_token();
  options.workspace = "/usr";
  options.attempt = 3;
  const auto tool =
      make_tool(spec(), [](const json&, const tools::tool_context& x) {
        return x.workspace.string() + std::to_string(x.attempt) +
               (x.stop.stop_requested() ? "stop" : "go");
      });
  const auto trial = testing::run_tool(tool, R"({"to":1})", options);
  REQUIRE(trial);
  CHECK(trial->output.text == "/usr3stop");
}

TEST_CASE("a tool that is wrong is told from a call that is wrong") {
  const auto code = [](const tools::tool_ptr& tool, const char* arguments) {
    const auto trial = testing::run_tool(tool, arguments);
    REQUIRE_FALSE(trial);
    INFO(render(trial.error()));
    return trial.error().code;
  };
  CHECK(code(counter(), R"({"to":"x"})") == errc::invalid_arguments);
  CHECK(code(counter(), "{") == errc::invalid_arguments);
  CHECK(code(make_tool(spec("no good"), [](const json&) { return ""; }),
             R"({"to":1})") == errc::invalid_config);
  auto no_schema = spec();
  no_schema.parameters = "[]";
  CHECK(code(make_tool(no_schema, [](const json&) { return ""; }), "{}") ==
        errc::invalid_config);
  CHECK(code(make_tool(spec(),
                       [](const json&) -> std::string {
                         throw std::runtime_error{"broken"};
                       }),
             R"({"to":1})") == errc::tool_execution_error);
  CHECK(code(nullptr, "{}") == errc::invalid_config);
  CHECK(code(make_function_tool(spec(), {}, {}), R"({"to":1})") ==
        errc::tool_execution_error);
}

TEST_CASE("a script that is wrong is named with its line") {
  const auto trial = testing::run_agent({}, "[[steps]]\ntxt = \"x\"\n");
  REQUIRE_FALSE(trial);
  CHECK(trial.error().code == errc::invalid_config);
  INFO(trial.error().message);
  CHECK(trial.error().message.find(":2:") != std::string::npos);
}

TEST_CASE("a function's tool may say what a call is about and would do") {
  auto x = spec();
  x.eff = effect::mutating;
  const auto tool = make_tool(
      x, [](const json&) { return "done"; },
      {.subject = [](const json& arguments, const std::filesystem::path&)
           -> rule_subject { return {"to " + arguments.at("to").dump()}; },
       .preview =
           [](const json& arguments, const std::filesystem::path& workspace) {
             return workspace.filename().string() + ": count to " +
                    arguments.at("to").dump();
           }});
  const auto trial =
      testing::run_tool(tool, R"({"to": 2})", {.workspace = "/tmp/somewhere"});
  REQUIRE(trial);
  CHECK(trial->subject == rule_subject{"to 2"});
  CHECK(trial->preview == "somewhere: count to 2");

  const auto silent = testing::run_tool(counter(), R"({"to": 2})");
  REQUIRE(silent);
  CHECK(silent->subject == rule_subject{R"({"to":2})"});
  CHECK(silent->preview.empty());
}

TEST_CASE("rules and proposals see what a function's tool says of a call") {
  auto x = spec();
  x.eff = effect::mutating;
  config::config config;
  config.models["default"].dialect = "scripted";
  config.agents["default"].tools = {"count"};
  config.tools.by_name["count"].rules = {{"to 1", "deny"}};
  config.approvals.mode = "propose";
  runtime_options options{.journal = storage::make_memory_journal()};
  options.tools = {make_tool(
      x, [](const json&) { return "done"; },
      {.subject = [](const json& arguments, const std::filesystem::path&)
           -> rule_subject { return {"to " + arguments.at("to").dump()}; },
       .preview =
           [](const json& arguments, const std::filesystem::path&) {
             return "It would count to " + arguments.at("to").dump();
           }})};
  options.scripts["default"] = R"(
[[steps]]
calls = [{ tool = "count", arguments = { to = 1 } },
         { tool = "count", arguments = { to = 2 } }]
[[steps]]
text = "asked"
)";
  auto made = runtime::create(config, options);
  REQUIRE(made);
  REQUIRE(made->execute({.task = "count", .approval = approve::ask}));
  const auto proposals = made->proposals();
  REQUIRE(proposals);
  REQUIRE(proposals->size() == 1);  // a rule denied the other
  CHECK(proposals->front().what.arguments == R"({"to":2})");
  CHECK(proposals->front().what.preview == "It would count to 2");
}
