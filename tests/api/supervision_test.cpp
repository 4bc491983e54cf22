// SPDX-License-Identifier: MIT
// What an application sees when an actor of its runtime dies: errors, never
// the end of its process, and never a wait without an end.
#include <atomic>
#include <chrono>
#include <future>
#include <optional>

#include "runtime/api/riffle.hpp"
#include "runtime/node/node.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

const std::string one_call = R"(
[[steps]]
calls = [{ tool = "act", arguments = {} }]
[[steps]]
text = "It said: {{result.0}}"
)";

/// The faults of the runtimes that are made while it lives.
struct faults {
  explicit faults(fault_hook hook) { node::faults_for_tests = std::move(hook); }
  ~faults() { node::faults_for_tests = {}; }
  faults(const faults&) = delete;
  faults& operator=(const faults&) = delete;
};

/// The first call of the handler throws, once in the process.
fault_hook throw_in(std::string handler) {
  auto done = std::make_shared<std::atomic<bool>>(false);
  return [handler = std::move(handler), done](const std::string& at) {
    if (at == handler && !done->exchange(true))
      throw std::runtime_error{"a fault"};
  };
}

runtime make_runtime(const temp_folder& folder) {
  config::config config;
  config.runtime.data_dir = (folder.path() / "data").string();
  config.models["default"].dialect = "scripted";
  config.agents["default"].tools = {"act"};
  config.tools.by_name["act"].approval = "ask";
  config.supervision.backoff_base = 1ms;
  tools::tool_spec spec;
  spec.name = "act";
  spec.description = "acts";
  spec.parameters = R"({"type":"object"})";
  runtime_options options;
  options.tools = {
      make_function_tool(std::move(spec),
                         [](const nlohmann::json&, tools::tool_context&) {
                           return tools::tool_output{"x", {}, {}};
                         },
                         {})};
  options.scripts["default"] = one_call;
  auto made = runtime::create(std::move(config), std::move(options));
  INFO((made ? "" : render(made.error())));
  REQUIRE(made);
  return std::move(*made);
}

void check_ended(const error& x, const std::string& what) {
  CHECK(x.code == errc::internal);
  CHECK(x.message.find("the " + what + " failed") != std::string::npos);
}

}  // namespace

TEST_CASE("a store that fails ends the runtime, not the process") {
  const temp_folder folder;
  {
    const faults now{throw_in("session_store.open")};
    const log_lines log{"error"};
    auto runtime = make_runtime(folder);
    const auto first = runtime.start({.task = "go"});
    REQUIRE_FALSE(first);
    check_ended(first.error(), "session store");
    const auto second = runtime.start({.task = "go"});
    REQUIRE_FALSE(second);
    check_ended(second.error(), "session store");
    // Runs are refused as soon as there is no store; then the runtime ends.
    std::optional<error> why;
    CHECK(eventually([&] {
      const auto decided = runtime.decide({"prop_1"}, {.approved = true});
      if (!decided) why = decided.error();
      return why.has_value();
    }));
    REQUIRE(why);
    check_ended(*why, "session store");
    // It is written right after the readers see it.
    CHECK(eventually([&] { return !log.with("error runtime: ").empty(); }));
    CHECK(log.with("error runtime: ").size() == 1);
  }
  auto runtime = make_runtime(folder);
  const auto end = runtime.execute({.task = "go", .approval = approve::all});
  REQUIRE(end);
  CHECK(end->answer == "It said: x");
}

TEST_CASE(
    "a run ends with an error when the command inbox fails, and goes on "
    "later") {
  const temp_folder folder;
  std::optional<run_id> id;
  {
    const faults now{throw_in("command_inbox.watch")};
    const log_lines log{"error"};
    auto runtime = make_runtime(folder);
    auto run = runtime.start({.task = "go", .approval = approve::ask});
    REQUIRE(run);
    id = run->id();
    auto stream = run->events();
    const auto end = run->wait(60s);
    REQUIRE_FALSE(end);
    check_ended(end.error(), "command inbox");
    while (!stream.ended()) static_cast<void>(stream.next(1s));
    REQUIRE(stream.failure());
    check_ended(*stream.failure(), "command inbox");
    // A reader that comes later is told, too.
    auto late = run->events();
    while (!late.ended()) static_cast<void>(late.next(1s));
    REQUIRE(late.failure());
    const auto again = runtime.resume(*id);
    REQUIRE_FALSE(again);
    check_ended(again.error(), "command inbox");
  }
  auto runtime = make_runtime(folder);
  auto run = runtime.resume(*id, {}, {.approval = approve::all});
  REQUIRE(run);
  // What was asked before is decided by the choice of who resumes.
  auto end = run->wait(60s);
  REQUIRE(end);
  CHECK(end->status == events::run_status::completed);
}

TEST_CASE("a registry that fails ends the runtime and its runs, which go on") {
  const temp_folder folder;
  std::optional<run_id> id;
  {
    const faults now{throw_in("run_registry.cancel_call")};
    const log_lines log{"warn"};
    {
      auto runtime = make_runtime(folder);
      auto run = runtime.start({.task = "go", .approval = approve::ask});
      REQUIRE(run);
      id = run->id();
      REQUIRE(eventually([&] {
        const auto open = runtime.proposals({.undecided = true});
        return open && open->size() == 1;
      }));
      auto stream = run->events();
      run->cancel_call({"call_1"});
      const auto end = run->wait(60s);
      REQUIRE_FALSE(end);
      check_ended(end.error(), "run registry");
      while (!stream.ended()) static_cast<void>(stream.next(1s));
      REQUIRE(stream.failure());
      check_ended(*stream.failure(), "run registry");
      const auto second = runtime.start({.task = "go"});
      REQUIRE_FALSE(second);
      check_ended(second.error(), "run registry");
      const auto again = runtime.resume(*id);
      REQUIRE_FALSE(again);
      check_ended(again.error(), "run registry");
    }
    // Its runs' actors are not left behind, nor waited for.
    CHECK(log.with("are killed").empty());
    CHECK(log.with("left behind").empty());
  }
  auto runtime = make_runtime(folder);
  auto run = runtime.resume(*id, {}, {.approval = approve::all});
  REQUIRE(run);
  auto end = run->wait(60s);
  REQUIRE(end);
  CHECK(end->status == events::run_status::completed);
}

TEST_CASE("a pool that fails costs an application nothing") {
  const temp_folder folder;
  const faults now{throw_in("tool_pool.idle")};
  const log_lines log{"error"};
  auto runtime = make_runtime(folder);
  for (int i = 0; i < 3; ++i) {
    const auto end = runtime.execute({.task = "go", .approval = approve::all});
    REQUIRE(end);
    CHECK(end->answer == "It said: x");
  }
  CHECK(log.with("the worker pool of `act` failed and is replaced").size() ==
        1);
}

TEST_CASE("a runtime ends although one of its actors never does") {
  const temp_folder folder;
  std::promise<void> release;
  auto released = release.get_future().share();
  std::promise<void> stuck;
  {
    auto once = std::make_shared<std::atomic<bool>>(false);
    const faults now{[&stuck, once, released](const std::string& at) {
      if (at != "command_inbox.runs_here" || once->exchange(true)) return;
      stuck.set_value();
      released.wait();
    }};
    const log_lines log{"warn"};
    {
      auto runtime = make_runtime(folder);
      const auto end =
          runtime.execute({.task = "go", .approval = approve::all});
      REQUIRE(end);
      stuck.get_future().wait();
    }
    CHECK(log.with("are killed").size() == 1);
    CHECK(log.with("1 actors do not end: they are left behind").size() == 1);
  }
  release.set_value();
}
