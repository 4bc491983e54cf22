// SPDX-License-Identifier: MIT
// Limits that all runs of a process share, measured from outside of it: by
// the provider, by a tool, by the system.
#include <algorithm>
#include <condition_variable>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <unistd.h>

#include "runtime/api/riffle.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace rt = riffle::testing;

namespace {

/// Knows how many calls of it ran at once, and how many ran at all.
class crowded_tool final : public riffle::tools::tool {
 public:
  explicit crowded_tool(riffle::effect eff = riffle::effect::read_only) {
    spec_.name = "crowded_tool";
    spec_.description = "counts";
    spec_.parameters = R"({"type":"object"})";
    spec_.eff = eff;
  }
  const riffle::tools::tool_spec& spec() const noexcept override {
    return spec_;
  }
  std::string title(const json&) const override { return "Counting"; }
  riffle::tools::tool_output run(const json&,
                                 riffle::tools::tool_context& x) override {
    std::unique_lock lock{mutex_};
    ++begun;
    most = std::max(most, ++here_);
    changed_.notify_all();
    changed_.wait_for(lock, x.stop, hold, [this] { return most >= wanted; });
    --here_;
    if (breaks) throw std::runtime_error{"broken"};
    return {"counted", {}, {}};
  }

  /// Each call waits until so many were there at once, or so long.
  int wanted = 3;
  std::chrono::milliseconds hold{100};
  bool breaks = false;
  int begun = 0;
  int most = 0;

 private:
  riffle::tools::tool_spec spec_;
  int here_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
};

/// Calls of `crowded_tool`, then an answer.
rt::http_server crowd_server(int count = 6) {
  return rt::http_server{[count](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("done"));
    std::vector<std::pair<std::string, json>> all;
    for (int i = 0; i < count; ++i) all.push_back({"crowded_tool", {{"n", i}}});
    return rt::respond_sse(rt::calls(all));
  }};
}

rt::http_server one_call_server() { return crowd_server(1); }

/// What is written to standard error while it lives.
class stderr_to_file {
 public:
  stderr_to_file() {
    const auto file = (folder_.path() / "log").string();
    const int to = ::open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    ::dup2(to, STDERR_FILENO);
    ::close(to);
  }
  ~stderr_to_file() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
  }
  stderr_to_file(const stderr_to_file&) = delete;
  stderr_to_file& operator=(const stderr_to_file&) = delete;

  [[nodiscard]] std::vector<std::string> lines() const {
    return folder_.lines("log");
  }

 private:
  rt::work_folder folder_;
  int saved_ = ::dup(STDERR_FILENO);
};

riffle::config::config config_for(const rt::http_server& server,
                                  std::vector<std::string> tools) {
  riffle::config::config c;
  c.models["default"].base_url = server.url("/v1");
  c.agents["default"].tools = std::move(tools);
  c.tools.defaults.concurrency = 16;
  c.supervision.backoff_base = c.supervision.backoff_cap = 1ms;
  return c;
}

riffle::runtime make_runtime(riffle::config::config c,
                             std::vector<riffle::tools::tool_ptr> tools = {}) {
  riffle::runtime_options options;
  options.tools = std::move(tools);
  options.journal = riffle::storage::make_memory_journal();
  auto made = riffle::runtime::create(std::move(c), std::move(options));
  REQUIRE(made);
  return std::move(*made);
}

/// One run with the tool, to its end; gives back its log.
std::vector<json> run_crowd(riffle::config::config c,
                            std::shared_ptr<crowded_tool> tool) {
  auto runtime = make_runtime(std::move(c), {std::move(tool)});
  auto run = runtime.start({.task = "count"});
  REQUIRE(run);
  REQUIRE(run->wait(60s));
  std::string log;
  auto stream = run->events();
  while (auto batch = stream.next(10s)) log += batch->lines();
  return rt::checked_events(log);
}

/// Threads of this process with this name. The blocking executor has as many
/// as it just needs, so that their sum says nothing.
std::size_t threads_called(const std::string& name) {
  std::size_t out = 0;
  std::error_code gone;
  for (const auto& x :
       std::filesystem::directory_iterator{"/proc/self/task", gone}) {
    std::ifstream in{x.path() / "comm"};
    std::string read;
    out += std::getline(in, read) && read == name ? 1 : 0;
  }
  return out;
}

/// Answers that stay open until their gate, named by number, is released.
rt::http_server gated_server() {
  return rt::http_server{[n = 0](const rt::http_request&) mutable {
    return rt::http_reply::sse()
        .send(rt::say("slow "))
        .stall(std::to_string(++n))
        .send(rt::say("words") + rt::finish("stop") + rt::done_mark);
  }};
}

std::vector<riffle::run> start_three(riffle::runtime& runtime) {
  std::vector<riffle::run> runs;
  for (int i = 0; i < 3; ++i) {
    auto run = runtime.start({.task = "speak"});
    REQUIRE(run);
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace

TEST_CASE("runs of one model never have more requests open than it allows") {
  auto server = gated_server();
  auto c = config_for(server, {});
  c.models["default"].max_concurrent = 1;
  auto runtime = make_runtime(std::move(c));
  const auto runs = start_three(runtime);
  for (std::size_t n = 1; n <= 3; ++n) {
    REQUIRE(server.wait_for_requests(n));
    CHECK_FALSE(server.wait_for_requests(n + 1, 200ms));
    server.release(std::to_string(n));
  }
  for (const auto& run : runs) {
    const auto end = run.wait(60s);
    REQUIRE(end);
    CHECK(end->answer == "slow words");
  }
}

TEST_CASE("runs of different models do not wait for each other") {
  auto server = gated_server();
  auto c = config_for(server, {});
  c.models["default"].max_concurrent = 1;
  c.models["second"] = c.models["default"];
  c.agents["second"] = c.agents["default"];
  c.agents["second"].model = "second";
  auto runtime = make_runtime(std::move(c));
  auto first = runtime.start({.task = "speak"});
  auto second = runtime.start({.task = "speak", .agent = "second"});
  REQUIRE(first);
  REQUIRE(second);
  CHECK(server.wait_for_requests(2));
}

TEST_CASE("without a limit all runs have their requests open") {
  auto server = gated_server();
  auto c = config_for(server, {});
  c.models["default"].max_concurrent = 0;
  auto runtime = make_runtime(std::move(c));
  const auto runs = start_three(runtime);
  CHECK(server.wait_for_requests(3));
}

TEST_CASE("a request over the rate waits, and says so when it gives up") {
  rt::http_server server{rt::respond_sse(rt::answer("ok"))};
  auto c = config_for(server, {});
  c.models["default"].requests_per_minute = 1;
  c.models["default"].timeouts.total = 2s;
  c.models["default"].retry.max_attempts = 1;
  auto runtime = make_runtime(std::move(c));
  auto first = runtime.start({.task = "one"});
  REQUIRE(first);
  CHECK(first->wait(30s)->answer == "ok");
  auto second = runtime.start({.task = "two"});
  REQUIRE(second);
  const auto end = second->wait(30s);
  REQUIRE(end);
  REQUIRE(end->failure);
  CHECK(end->failure->code == riffle::errc::timeout);
  CHECK(end->failure->message.find("requests_per_minute = 1") !=
        std::string::npos);
  CHECK(server.request_count() == 1);
}

TEST_CASE("a run that waits for its turn can be cancelled") {
  rt::http_server server{
      rt::http_reply::sse().send(rt::say("word. ")).stall("gate")};
  auto c = config_for(server, {});
  c.models["default"].max_concurrent = 1;
  auto runtime = make_runtime(std::move(c));
  auto first = runtime.start({.task = "one"});
  REQUIRE(first);
  REQUIRE(server.wait_for_requests(1));
  auto second = runtime.start({.task = "two"});
  REQUIRE(second);
  second->cancel("enough");
  const auto end = second->wait(20s);
  REQUIRE(end);
  CHECK(end->status == riffle::events::run_status::cancelled);
  CHECK(server.request_count() == 1);
}

TEST_CASE("calls in flight are limited by process, run and tool") {
  auto server = crowd_server();
  auto tool = std::make_shared<crowded_tool>();
  auto c = config_for(server, {"crowded_tool"});
  SECTION("runtime.max_calls") { c.runtime.max_calls = 2; }
  SECTION("agents.*.max_calls_in_flight") {
    c.agents["default"].max_calls_in_flight = 2;
  }
  SECTION("tools.*.concurrency") { c.tools.defaults.concurrency = 2; }
  run_crowd(std::move(c), tool);
  CHECK(tool->begun == 6);
  CHECK(tool->most <= 2);
}

TEST_CASE("as many calls run at once as the limits allow") {
  auto server = crowd_server();
  auto tool = std::make_shared<crowded_tool>();
  tool->wanted = 6;
  tool->hold = 20s;
  run_crowd(config_for(server, {"crowded_tool"}), tool);
  CHECK(tool->most == 6);
}

TEST_CASE("a call that gets no worker in time is given up") {
  auto server = crowd_server();
  auto tool = std::make_shared<crowded_tool>();
  tool->wanted = 6;
  tool->hold = 1500ms;
  auto c = config_for(server, {"crowded_tool"});
  c.agents["default"].max_calls_in_flight = 3;
  c.tools.defaults.queue_timeout = 200ms;
  const auto events = run_crowd(std::move(c), tool);
  CHECK(tool->begun <= 3);
  CHECK(rt::of_type(events, "tool_result").size() == 6);
}

TEST_CASE("a call that breaks is tried as often as configured") {
  auto server = one_call_server();
  auto c = config_for(server, {"crowded_tool"});
  c.tools.defaults.attempts = 3;
  c.tools.defaults.approval = "allow";
  auto eff = riffle::effect::read_only;
  int times = 3;
  SECTION("a read-only one") {}
  SECTION("a mutating one never again") {
    eff = riffle::effect::mutating;
    times = 1;
  }
  SECTION("a mutating one that may act twice") {
    eff = riffle::effect::mutating;
    c.tools.defaults.idempotent = true;
  }
  auto tool = std::make_shared<crowded_tool>(eff);
  tool->breaks = true;
  tool->hold = 1ms;
  run_crowd(std::move(c), tool);
  CHECK(tool->begun == times);
}

TEST_CASE("a broken worker is replaced only within the intensity") {
  auto server = one_call_server();
  auto c = config_for(server, {"crowded_tool"});
  c.tools.defaults.concurrency = 1;
  c.tools.defaults.queue_timeout = 500ms;
  int times = 2;
  SECTION("allowed") {}
  SECTION("not allowed") {
    c.supervision.intensity = 0;
    times = 1;
  }
  auto tool = std::make_shared<crowded_tool>();
  tool->breaks = true;
  tool->hold = 1ms;
  run_crowd(std::move(c), tool);
  CHECK(tool->begun == times);
}

TEST_CASE("the log has the configured level and format") {
  const auto log_of = [](const std::string& level, const std::string& format) {
    auto server = one_call_server();
    auto c = config_for(server, {"crowded_tool"});
    c.runtime.log = {level, format};
    auto tool = std::make_shared<crowded_tool>();
    tool->breaks = true;
    tool->hold = 1ms;
    const stderr_to_file log;
    run_crowd(std::move(c), tool);
    return log.lines();
  };
  const auto text = log_of("info", "text");
  REQUIRE_FALSE(text.empty());
  CHECK(std::ranges::any_of(text, [](const std::string& line) {
    return line.find("broken") != std::string::npos;
  }));
  const auto lines = log_of("error", "json");
  REQUIRE_FALSE(lines.empty());
  for (const auto& line : lines) CHECK(json::accept(line));
  CHECK(log_of("off", "text").empty());
}

TEST_CASE("there are no more runs than allowed") {
  rt::http_server server{
      rt::http_reply::sse().send(rt::say("word. ")).stall("gate")};
  auto c = config_for(server, {});
  c.runtime.max_runs = 2;
  auto runtime = make_runtime(std::move(c));
  auto first = runtime.start({.task = "one"});
  auto second = runtime.start({.task = "two"});
  CHECK(first);
  CHECK(second);
  auto third = runtime.start({.task = "three"});
  REQUIRE_FALSE(third);
  CHECK(third.error().message.find("max_runs") != std::string::npos);
}

TEST_CASE("the actors have as many threads as configured") {
  rt::http_server server{rt::respond_sse(rt::answer("ok"))};
  for (const std::uint32_t count : {7U, 2U}) {
    CAPTURE(count);
    auto c = config_for(server, {});
    c.runtime.threads = count;
    // So CAF calls its workers.
    const auto has = [](std::size_t n) {
      return rt::eventually(
          [&] { return threads_called("caf.multiplexer") == n; });
    };
    CHECK(has(0));
    auto runtime = make_runtime(std::move(c));
    CHECK(has(count));
  }
}

TEST_CASE("with CAF's own scheduler a run is the same") {
  rt::http_server server{rt::respond_sse(rt::answer("ok"))};
  const auto run = [&](const std::string& scheduler) {
    auto c = config_for(server, {});
    c.runtime.scheduler = scheduler;
    auto runtime = make_runtime(std::move(c));
    const auto end = runtime.execute({.task = "one"});
    REQUIRE(end);
    CHECK(end->answer == "ok");
    // Ours has a clock of its own beside CAF's.
    const std::size_t clocks = scheduler == "lifo_slot" ? 1 : 0;
    CHECK(rt::eventually(
        [&] { return threads_called("riffle.clock") == clocks; }));
  };
  run("caf");
  run("lifo_slot");
}
