// SPDX-License-Identifier: MIT
// How a runtime ends: runs settle while their actors live, then the actors end,
// then the threads of tools get their time, and each has its limit.
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "runtime/api/riffle.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/reply.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_lines.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// A tool that works until it may end.
struct long_call {
  std::promise<void> begun;
  std::atomic<bool> told_to_stop = false;
  std::atomic<bool> ended = false;
  /// It ends when it is told to stop; else when it is let go.
  bool obeys = true;
  std::promise<void> let_go;
  std::promise<void> gone;  ///< the tool's own thread is through with it

  bool has_begun() { return is_there(begun); }
  static bool is_there(std::promise<void>& x) {
    return x.get_future().wait_for(scaled(20s)) == std::future_status::ready;
  }
};

tools::tool_ptr make_act(const std::shared_ptr<long_call>& x) {
  tools::tool_spec spec;
  spec.name = "act";
  spec.description = "acts";
  spec.parameters = R"({"type":"object"})";
  const auto run = [x](const nlohmann::json&, tools::tool_context& context) {
    std::promise<void> stopped;
    const std::stop_callback on_stop{context.stop, [&] {
                                       x->told_to_stop = true;
                                       stopped.set_value();
                                     }};
    x->begun.set_value();
    // A test that fails lets nobody wait for ever.
    (x->obeys ? stopped : x->let_go).get_future().wait_for(scaled(60s));
    x->ended = true;
    x->gone.set_value();
    return tools::tool_output{"it acted", {}, {}};
  };
  return make_function_tool(std::move(spec), run, {});
}

config::config make_config(const temp_folder& folder) {
  config::config x;
  x.runtime.data_dir = (folder.path() / "data").string();
  x.models["default"].dialect = "scripted";
  x.agents["default"].tools = {"act"};
  return x;
}

const std::string script = R"(
[[steps]]
calls = [{ tool = "act", arguments = {} }]
)";

/// What is on record when all is over.
storage::run_snapshot record_of(const temp_folder& folder, const run_id& id) {
  auto journal = storage::open_sqlite_journal((folder.path() / "data").string(),
                                              storage::durability::process);
  REQUIRE(journal);
  auto run = (*journal)->load_run(id);
  REQUIRE(run);
  auto session = (*journal)->load_session(run->session);
  REQUIRE(session);
  storage::run_snapshot out;
  out.run = *run;
  out.session = *session;
  return out;
}

}  // namespace

TEST_CASE("a runtime that ends settles its runs before their actors end") {
  const temp_folder folder;
  const auto call = std::make_shared<long_call>();
  const log_lines log{"warn"};
  std::optional<run_id> id;
  {
    runtime_options options;
    options.tools = {make_act(call)};
    options.scripts["default"] = script;
    auto made = runtime::create(make_config(folder), std::move(options));
    REQUIRE(made);
    auto run = made->start({.task = "go", .approval = approve::all});
    REQUIRE(run);
    id = run->id();
    REQUIRE(call->has_begun());
  }
  CHECK(call->told_to_stop);
  CHECK(call->ended);
  const auto stored = record_of(folder, *id);
  CHECK(stored.run.state == storage::run_state::cancelled);
  REQUIRE(stored.session.calls.size() == 1);
  CHECK(stored.session.calls[0].stage == storage::call_stage::settled);
  CHECK(stored.session.calls[0].how == outcome::cancelled);
  CHECK(log.text().empty());
}

TEST_CASE("actors tell their tools to stop before anybody waits for threads") {
  const temp_folder folder;
  const auto call = std::make_shared<long_call>();
  const log_lines log{"warn"};
  std::optional<run_id> id;
  {
    node_parts parts;
    parts.tools = {make_act(call)};
    parts.scripts["default"] = script;
    auto made = node::create(make_config(folder), std::move(parts));
    REQUIRE(made);
    auto uses = (*made)->serve({});
    const auto opened =
        service::wait_for<run_opened>([&](service::reply<run_opened> to) {
          uses.runs.start(
              {.task = "go", .approval = approve::all},
              [](const run_id&, const session_id&) { return subscriber_ptr{}; },
              std::move(to));
        });
    REQUIRE(opened);
    id = opened->run;
    REQUIRE(call->has_begun());
    (*made)->leave();  // nobody cancels the run: its actors alone end
  }
  CHECK(call->told_to_stop);
  CHECK(call->ended);
  // As after a crash; and no limit had to end a wait.
  CHECK(record_of(folder, *id).run.state == storage::run_state::active);
  CHECK(log.text().empty());
}

TEST_CASE("a runtime ends although one of its tools never does") {
  const temp_folder folder;
  const auto call = std::make_shared<long_call>();
  call->obeys = false;
  const log_lines log{"warn"};
  {
    runtime_options options;
    options.tools = {make_act(call)};
    options.scripts["default"] = script;
    auto made = runtime::create(make_config(folder), std::move(options));
    REQUIRE(made);
    auto run = made->start({.task = "go", .approval = approve::all});
    REQUIRE(run);
    REQUIRE(call->has_begun());
  }
  CHECK(call->told_to_stop);
  CHECK_FALSE(call->ended);
  CHECK(log.with("a tool does not end: its thread is left behind").size() == 1);
  call->let_go.set_value();
  CHECK(long_call::is_there(call->gone));
}
