// SPDX-License-Identifier: MIT
// Isolated tools in a whole runtime: what a lost child means for a run.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <thread>
#include <unistd.h>

#include "runtime/api/riffle.hpp"
#include "runtime/node/worker_tool.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/worker.hpp"
#include "tools/process/process_tree.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace rt = riffle::testing;

namespace {

/// For a moment a child of the worker's own, and a line for each call.
void live(riffle::tools::tool_context& context) {
  std::ofstream{context.workspace / "acts", std::ios::app} << context.call.value
                                                           << '\n';
  static_cast<void>(std::system("exec sleep 0.05"));
}

bool eventually_no_descendants() {
  return rt::eventually([] { return riffle::tools::descendants().empty(); });
}

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
        if (arguments.value("lives", false)) live(context);
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

namespace {

/// A process of the killer's choice, by what it is.
enum class prey { guard, worker, child };

/// What descends from this process: guards, the isolated workers in them, and
/// what those started.
std::map<prey, std::vector<pid_t>> find_prey() {
  std::map<prey, std::vector<pid_t>> found;
  for (const auto pid : riffle::tools::descendants()) {
    std::ifstream in{"/proc/" + std::to_string(pid) + "/cmdline"};
    std::ostringstream text;
    text << in.rdbuf();  // of one that is gone: nothing
    const auto line = text.str();
    if (line.find("--riffle-guard") != std::string::npos)
      found[prey::guard].push_back(pid);
    else if (line.find("--riffle-worker") != std::string::npos)
      found[prey::worker].push_back(pid);
    else if (line.starts_with("sleep"))
      found[prey::child].push_back(pid);
  }
  return found;
}

/// Kills until it is told to stop: a worker, a child of one, both, a guard.
class killer {
 public:
  explicit killer(unsigned seed) : random_{seed} {
    thread_ = std::jthread{[this](const std::stop_token& stop) {
      for (unsigned turn = 0; !stop.stop_requested(); ++turn) {
        std::this_thread::sleep_for(
            std::chrono::microseconds{random_() % 30'000});
        strike(turn % 4);
      }
    }};
  }
  /// How often each kind was hit; ends the killing.
  std::array<int, 4> end() {
    thread_.request_stop();
    thread_.join();
    return hits_;
  }
  static constexpr std::array<const char*, 4> kinds{"workers", "children",
                                                    "both", "guards"};

 private:
  bool kill_one(const std::vector<pid_t>& some) {
    return !some.empty() && ::kill(some[random_() % some.size()], SIGKILL) == 0;
  }
  /// A kind that is not there now is waited for a moment, so that each gets
  /// its share.
  void strike(unsigned kind) {
    for (int look = 0; look < 50; ++look) {
      auto all = find_prey();
      bool hit = false;
      if (kind == 0) hit = kill_one(all[prey::worker]);
      if (kind == 1) hit = kill_one(all[prey::child]);
      if (kind == 2 && !all[prey::worker].empty() && !all[prey::child].empty())
        hit = kill_one(all[prey::child]) && kill_one(all[prey::worker]);
      if (kind == 3) hit = kill_one(all[prey::guard]);
      if (!hit) continue;
      ++hits_.at(kind);
      return;
    }
  }

  std::mt19937 random_;
  std::array<int, 4> hits_{};
  std::jthread thread_;
};

}  // namespace

TEST_CASE("a run survives calls whose workers, children and both are killed") {
  const int steps = rt::repetitions(15, 40, 250);
  const auto seed = rt::fresh_seed();
  CAPTURE(seed);
  auto c = isolated_config();
  c.supervision.intensity = 1'000'000;
  c.agents["default"].max_steps = 1000;
  const rt::work_folder folder;
  c.tools.defaults.workspace = folder.path().string();
  std::string script;
  for (int i = 0; i < steps; ++i)
    script += step(
        "{ tool = \"reader\", arguments = { a = 1, lives = true } }, "
        "{ tool = \"other\", arguments = { a = 2, lives = true } }, "
        "{ tool = \"reader\", arguments = { a = 3, lives = true } }, "
        "{ tool = \"writer\", arguments = { a = 4, lives = true } }");
  killer hunter{seed};
  const auto events = run_script(c, script + last_step);
  const auto hits = hunter.end();
  for (std::size_t kind = 0; kind < hits.size(); ++kind) {
    std::printf("killer: %d %s\n", hits.at(kind), killer::kinds.at(kind));
    CHECK(hits.at(kind) > 0);
  }
  const auto results = rt::of_type(events, "tool_result");
  CHECK(results.size() == static_cast<std::size_t>(steps) * 4);
  CHECK(rt::of_type(events, "run_finished").at(0)["data"]["status"] ==
        "completed");
  CHECK(eventually_no_descendants());
  // A mutating call acts once at most, and once if it says so.
  std::map<std::string, int> acted;
  for (const auto& line : folder.lines("acts")) ++acted[line];
  int lost = 0;
  for (const auto& x : results) {
    const auto& data = x["data"];
    const std::string id = data["id"];
    if (data["outcome"] != "ok") ++lost;
    if (data["tool"] != "writer") continue;
    CAPTURE(id, data["outcome"]);
    CHECK(acted[id] <= 1);
    if (data["outcome"] == "ok") CHECK(acted[id] == 1);
  }
  CHECK(lost + static_cast<int>(rt::of_type(events, "retry").size()) > 0);
}
