// SPDX-License-Identifier: MIT
// Isolated tools in a whole runtime: what a lost child means for a run.
#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <unistd.h>

#include "runtime/api/riffle.hpp"
#include "runtime/node/worker_tool.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/worker.hpp"
#include "tools/process/process_tree.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace rt = riffle::testing;

namespace {

/// A tool that a signal ends as often as a file says.
riffle::tools::tool_ptr mortal(const std::string& name, riffle::effect eff) {
  return riffle::make_tool(
      {.name = name,
       .description = "dies",
       .parameters = R"({"type":"object"})",
       .eff = eff},
      [](const json& arguments, riffle::tools::tool_context& context) {
        if (context.attempt <= arguments.value("deaths", 0u)) {
          ::signal(SIGSEGV, SIG_DFL);  // a sanitizer has its own
          ::raise(SIGSEGV);
        }
        return "lived in " + std::to_string(::getpid());
      });
}

std::vector<riffle::tools::tool_ptr> all_tools() {
  return {mortal("reader", riffle::effect::read_only),
          mortal("writer", riffle::effect::mutating),
          mortal("other", riffle::effect::read_only)};
}

const bool registered = [] {
  rt::worker_tools() = [](const std::string& configuration,
                          const std::string& name) {
    return riffle::make_worker_tool(configuration, name, all_tools());
  };
  return true;
}();

riffle::config::config isolated_config() {
  riffle::config::config c;
  c.models["default"].dialect = "scripted";
  c.agents["default"].tools = {"reader", "writer", "other"};
  c.agents["default"].loop_limit = 0;
  c.tools.defaults.isolation = "process";
  c.tools.defaults.attempts = 3;
  c.supervision.intensity = 100;
  c.supervision.backoff_base = c.supervision.backoff_cap = 1ms;
  return c;
}

std::vector<json> run_script(const riffle::config::config& c,
                             std::string script) {
  riffle::runtime_options options;
  options.tools = all_tools();
  options.journal = riffle::storage::make_memory_journal();
  options.scripts["default"] = std::move(script);
  auto runtime = riffle::runtime::create(c, std::move(options));
  if (!runtime) INFO(render(runtime.error()));
  REQUIRE(runtime);
  auto run = runtime->start({.task = "go", .approval = riffle::approve::all});
  REQUIRE(run);
  REQUIRE(run->wait(120s));
  std::string log;
  auto stream = run->events();
  while (auto batch = stream.next(10s)) log += batch->lines();
  return rt::checked_events(log);
}

std::string step(const std::string& calls) {
  return "[[steps]]\ncalls = [" + calls + "]\n";
}

constexpr const char* last_step = "[[steps]]\ntext = \"done\"\n";

json result_of(const std::vector<json>& events, std::size_t i) {
  return rt::of_type(events, "tool_result").at(i).at("data");
}

}  // namespace

TEST_CASE("an isolated tool that dies costs one worker; reading is repeated") {
  const auto events = run_script(
      isolated_config(),
      step("{ tool = \"reader\", arguments = { deaths = 2 } }") + last_step);
  const auto result = result_of(events, 0);
  CHECK(result["outcome"] == "ok");
  CHECK(result["attempts"] == 3);
  const auto retries = rt::of_type(events, "retry");
  REQUIRE(retries.size() == 2);
  CHECK(retries[0]["data"]["what"] == "tool");
  CHECK(rt::of_type(events, "run_finished").at(0)["data"]["status"] ==
        "completed");
  CHECK(riffle::tools::descendants().empty());
}

TEST_CASE("a mutating call whose child dies settles as interrupted") {
  const auto events =
      run_script(isolated_config(),
                 step("{ tool = \"writer\", arguments = { deaths = 1 } }") +
                     step("{ tool = \"writer\", arguments = {} }") + last_step);
  CHECK(result_of(events, 0)["outcome"] == "interrupted");
  CHECK(result_of(events, 1)["outcome"] == "ok");
  CHECK(rt::of_type(events, "retry").empty());
}

TEST_CASE("a tool whose children die too often is out of service, alone") {
  auto c = isolated_config();
  c.supervision.intensity = 1;
  c.tools.defaults.attempts = 1;
  std::string script;
  for (int i = 0; i < 4; ++i)
    script += step(
        "{ tool = \"reader\", arguments = { deaths = 1 } }, "
        "{ tool = \"other\", arguments = {} }");
  const auto events = run_script(c, script + last_step);
  int refused = 0;
  for (const auto& x : rt::of_type(events, "tool_result")) {
    const auto& data = x["data"];
    if (data["tool"] == "other") CHECK(data["outcome"] == "ok");
    if (data.contains("error") && data["error"]["code"] == "tool_unavailable")
      ++refused;
  }
  CHECK(refused > 0);
}

TEST_CASE("a program that cannot be a worker is told so") {
  // The other programs of the tests call what this one calls in main.
  const auto text = riffle::worker_configuration(isolated_config());
  const auto unknown = riffle::make_worker_tool(text, "gone", all_tools());
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == riffle::errc::invalid_config);
  CHECK(unknown.error().message.find("worker_main the same tools") !=
        std::string::npos);
  CHECK(riffle::make_worker_tool(text, "reader", all_tools()));
  CHECK(riffle::make_worker_tool(text, "read", {}));
}

TEST_CASE("a run survives a thousand calls whose children are killed") {
  const bool full = std::getenv("RIFFLE_TEST_FULL") != nullptr;
  const int steps = full ? 250 : 15;
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  auto c = isolated_config();
  c.supervision.intensity = 1'000'000;
  c.agents["default"].max_steps = 1000;
  std::string script;
  for (int i = 0; i < steps; ++i)
    script += step(
        "{ tool = \"reader\", arguments = { a = 1 } }, { tool = \"other\", "
        "arguments = { a = 2 } }, { tool = \"reader\", arguments = { a = 3 } "
        "}, "
        "{ tool = \"writer\", arguments = { a = 4 } }");
  std::jthread killer{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::microseconds{random() % 50'000});
      const auto all = riffle::tools::descendants();
      if (!all.empty()) ::kill(all[random() % all.size()], SIGKILL);
    }
  }};
  const auto events = run_script(c, script + last_step);
  CHECK(rt::of_type(events, "tool_result").size() ==
        static_cast<std::size_t>(steps) * 4);
  CHECK(rt::of_type(events, "run_finished").at(0)["data"]["status"] ==
        "completed");
}
