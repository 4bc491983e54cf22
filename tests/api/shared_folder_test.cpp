// SPDX-License-Identifier: MIT
// Several runtimes with one data folder, and a disk that is full for a while.
#include <atomic>
#include <filesystem>
#include <sqlite3.h>
#include <thread>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/crash_vfs.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::run_status;
using nlohmann::json;

namespace {

struct data_folder {
  data_folder() {
    auto name =
        (std::filesystem::temp_directory_path() / "riffle-api-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~data_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  data_folder(const data_folder&) = delete;
  data_folder& operator=(const data_folder&) = delete;

  std::filesystem::path path;
};

/// Talks for half a minute.
const std::string slow = "chunk = 1\ndelay = \"20ms\"\n[[steps]]\ntext = \"" +
                         std::string(1'500, 'x') + "\"\n";
const std::string quick = "[[steps]]\ntext = \"Done.\"\n";
const std::string one_call = R"(
[[steps]]
calls = [{ tool = "work", arguments = {} }]
[[steps]]
text = "Done."
)";

runtime make_runtime(const data_folder& folder, const std::string& script,
                     tool_function work = {}) {
  config::config config;
  config.runtime.log.level = "off";
  config.runtime.data_dir = folder.path.string();
  config.models["default"].dialect = "scripted";
  config.publish.batching = "token";
  config.agents["default"].tools.clear();
  runtime_options options;
  options.scripts["default"] = script;
  if (work) {
    tools::tool_spec x;
    x.name = "work";
    x.description = "works";
    x.parameters = R"({"type":"object"})";
    x.eff = effect::read_only;
    options.tools = {make_function_tool(std::move(x), std::move(work), {})};
    config.agents["default"].tools = {"work"};
  }
  auto made = runtime::create(std::move(config), std::move(options));
  REQUIRE(made);
  return std::move(*made);
}

run start(runtime& rt, const std::string& session = "ses_1") {
  auto started = rt.start({.task = "talk", .session = session_id{session}});
  REQUIRE(started);
  return std::move(*started);
}

template <class F>
bool eventually(F done) {
  const auto deadline = std::chrono::steady_clock::now() + scaled(20s);
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

}  // namespace

TEST_CASE("a run is cancelled through another runtime of the folder") {
  const data_folder folder;
  auto owner = make_runtime(folder, slow);
  auto other = make_runtime(folder, slow);
  const auto run = start(owner);
  const auto seen = other.unfinished();
  REQUIRE(seen->size() == 1);
  CHECK(seen->front().owner == run_owner::elsewhere);
  CHECK(other.cancel(run.id(), "not needed").value() == cancel_verdict::asked);
  const auto end = run.wait(scaled(10s));
  REQUIRE(end);
  CHECK(end->status == run_status::cancelled);
  REQUIRE(end->failure);
  CHECK(end->failure->message.find("not needed") != std::string::npos);
  CHECK(other.cancel(run.id()).value() == cancel_verdict::finished);
  CHECK(other.cancel(run_id{"run_9"}).value() == cancel_verdict::unknown);
  const auto mine = start(other, "ses_2");
  CHECK(other.cancel(mine.id()).value() == cancel_verdict::here);
  CHECK(mine.wait(scaled(10s))->status == run_status::cancelled);
}

TEST_CASE("a run whose owner is gone is cancelled by who is there") {
  const data_folder folder;
  storage::run_record record;
  record.id = {"run_1"};
  record.session = {"ses_1"};
  record.task = "talk";
  record.agent = "default";
  {
    auto dead =
        storage::open_sqlite_journal(folder.path, storage::durability::process);
    REQUIRE(dead);
    REQUIRE((*dead)->open_run(record));
  }
  auto rt = make_runtime(folder, slow);
  REQUIRE(rt.unfinished()->size() == 1);
  CHECK(rt.cancel(record.id).value() == cancel_verdict::gone);
  CHECK(eventually([&] { return rt.unfinished()->empty(); }));
  CHECK(rt.find_run(record.id)->state == storage::run_state::cancelled);
}

TEST_CASE("an application and its tools share a session's values") {
  const data_folder folder;
  auto rt =
      make_runtime(folder, one_call, [](const json&, tools::tool_context& x) {
        const auto n = x.state->get("n").value_or(0);
        const auto ok = x.state->set("n", n.get<int>() + 1);
        return tools::tool_output{ok ? "counted" : "no"};
      });
  const session_id session{"ses_1"};
  REQUIRE(rt.set_state(session, "n", 41));
  REQUIRE(start(rt).wait(scaled(10s)));
  CHECK(rt.state(session).value() == std::map<std::string, json>{{"n", 42}});
  CHECK(rt.set_state(session, "", 1).error().code == errc::invalid_request);
  REQUIRE(rt.set_state(session, "m", "x"));
  REQUIRE(rt.set_state(session, "session_title", "mine"));
  REQUIRE(rt.reset_state(session));
  CHECK(rt.state(session).value() ==
        std::map<std::string, json>{{"session_title", "mine"}});
  REQUIRE(rt.set_state(session, "session_title", nullptr));
  REQUIRE(rt.set_state(session, "n", 41));
  REQUIRE(rt.set_state(session, "n", nullptr));
  CHECK(rt.state(session)->empty());
}

TEST_CASE("a tool that fails leaves the session's values as they were") {
  const data_folder folder;
  std::atomic<bool> set = false;
  auto rt =
      make_runtime(folder, one_call, [&](const json&, tools::tool_context& x) {
        set = x.state->set("n", 1).has_value();
        return tools::tool_output{
            "no", error{errc::tool_execution_error, "work", "it failed"}};
      });
  REQUIRE(start(rt).wait(scaled(10s)));
  CHECK(set);
  CHECK(rt.state(session_id{"ses_1"})->empty());
}

TEST_CASE("a full disk parks the run, and room lets it go on") {
  const data_folder folder;
  fail_storage_at(0, SQLITE_OK);  // the layer has to be below from the start
  std::atomic<int> times = 0;
  auto rt = make_runtime(folder, one_call,
                         [&times](const json&, tools::tool_context&) {
                           if (++times == 1)
                             fail_storage_at(1, SQLITE_FULL);  // while it works
                           return tools::tool_output{"worked"};
                         });
  REQUIRE(rt.unfinished());
  const auto run = start(rt);
  auto stream = run.events();
  const auto end = run.wait(scaled(10s));
  REQUIRE_FALSE(end);
  CHECK(end.error().code == errc::storage_unavailable);
  while (!stream.ended()) static_cast<void>(stream.next(scaled(5s)));
  REQUIRE(stream.failure());
  CHECK(stream.failure()->code == errc::storage_unavailable);
  // A reading connection that is opened now may fail too.
  CHECK(eventually([&] {
    const auto seen = rt.unfinished();
    return seen && seen->size() == 1 && seen->front().suspended;
  }));
  const auto refused = rt.start({.task = "x", .session = session_id{"ses_2"}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::storage_unavailable);
  fail_storage_at(0, SQLITE_OK);
  CHECK(eventually([&] {
    const auto seen = rt.unfinished();
    return seen && seen->empty();
  }));
  CHECK(rt.find_run(run.id())->state == storage::run_state::completed);
  CHECK(times == 2);  // it only reads, and its result was not stored
  CHECK(start(rt, "ses_2").id() != run.id());
}
