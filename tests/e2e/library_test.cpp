// SPDX-License-Identifier: MIT
// The library, used as an application does.
#include <barrier>
#include <condition_variable>
#include <mutex>

#include "runtime/api/riffle.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace rt = riffle::testing;

namespace {

/// Ends only when `count` calls of it run at once.
class meeting final : public riffle::tools::tool {
 public:
  explicit meeting(int count) : count_{count} {
    spec_.name = "meet";
    spec_.description = "waits for the others";
    spec_.parameters = R"({"type":"object"})";
    spec_.eff = riffle::effect::read_only;
  }
  const riffle::tools::tool_spec& spec() const noexcept override {
    return spec_;
  }
  std::string title(const json&) const override { return "Meeting"; }
  riffle::tools::tool_output run(const json&,
                                 riffle::tools::tool_context&) override {
    std::unique_lock lock{mutex_};
    ++here_;
    all_here_.notify_all();
    const bool met =
        all_here_.wait_for(lock, 20s, [this] { return here_ >= count_; });
    return {met ? "met" : "alone", {}, {}};
  }

 private:
  riffle::tools::tool_spec spec_;
  const int count_;
  int here_ = 0;
  std::mutex mutex_;
  std::condition_variable all_here_;
};

riffle::config::config config_for(const rt::http_server& server,
                                  std::vector<std::string> tools) {
  riffle::config::config c;
  c.models["default"].base_url = server.url("/v1");
  c.agents["default"].tools = std::move(tools);
  c.publish.batching = "token";
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

}  // namespace

TEST_CASE("three tools that wait for each other all end") {
  rt::http_server server{[](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("done"));
    return rt::respond_sse(rt::calls(
        {{"meet", {{"n", 1}}}, {"meet", {{"n", 2}}}, {"meet", {{"n", 3}}}}));
  }};
  auto runtime = make_runtime(config_for(server, {"meet"}),
                              {std::make_shared<meeting>(3)});
  auto run = runtime.start({.task = "meet"});
  REQUIRE(run);
  const auto end = run->wait(30s);
  REQUIRE(end);
  CHECK(end->status == riffle::events::run_status::completed);
  const auto told = rt::tool_messages(server.requests().at(1));
  REQUIRE(told.size() == 3);
  for (const auto& m : told) CHECK(m.at("content") == "met");
}

TEST_CASE("a handler and a stream see the same log, a late stream too") {
  rt::http_server server{rt::respond_sse(rt::answer("hello world"))};
  auto runtime = make_runtime(config_for(server, {}));
  std::mutex mutex;
  std::string handled;
  auto run = runtime.start({.task = "greet"}, [&](const auto& batch) {
    std::lock_guard lock{mutex};
    handled += batch.lines();
  });
  REQUIRE(run);
  const auto read = [](riffle::event_stream stream) {
    std::string all;
    while (auto batch = stream.next(10s)) all += batch->lines();
    CHECK(stream.ended());
    CHECK_FALSE(stream.failure());
    return all;
  };
  const auto live = read(run->events());
  REQUIRE(run->wait(10s));
  const auto late = read(run->events());
  std::lock_guard lock{mutex};
  CHECK(live == handled);
  CHECK(late == handled);
  rt::checked_events(handled);
  const auto tail = read(run->events(3));
  CHECK(handled.ends_with(tail));
  CHECK(json::parse(tail.substr(0, tail.find('\n'))).at("seq") == 4);
}

TEST_CASE("a reader that is slower than the run gets everything") {
  std::string body;
  for (int i = 0; i < 30'000; ++i) body += rt::say("word ");
  rt::http_server server{
      rt::respond_sse(body + rt::finish("stop") + rt::done_mark)};
  auto runtime = make_runtime(config_for(server, {}));
  auto run = runtime.start({.task = "talk"});
  REQUIRE(run);
  auto stream = run->events();
  REQUIRE(stream.next(10s));
  REQUIRE(run->wait(60s));  // the run does not wait for its reader
  std::uint64_t last = 1;
  bool ended = false;
  while (auto batch = stream.next(10s)) last = batch->last_seq();
  ended = stream.ended();
  CHECK(ended);
  CHECK(last > 30'000);
}

TEST_CASE("the steps of a run share one connection") {
  rt::http_server server{[](const rt::http_request& request) {
    if (rt::tool_messages(request).size() >= 3)
      return rt::respond_sse(rt::answer("done"));
    return rt::respond_sse(rt::calls({{"meet", json::object()}}));
  }};
  auto config = config_for(server, {"meet"});
  config.agents["default"].loop_limit = 0;
  auto runtime =
      make_runtime(std::move(config), {std::make_shared<meeting>(1)});
  auto run = runtime.start({.task = "meet"});
  REQUIRE(run);
  REQUIRE(run->wait(30s));
  CHECK(server.request_count() == 4);
  CHECK(server.connection_count() < 4);
}

TEST_CASE("cancel ends a run that streams for ever") {
  rt::http_server server{
      rt::http_reply::sse().send(rt::say("word. ")).stall("gate")};
  auto runtime = make_runtime(config_for(server, {}));
  auto run = runtime.start({.task = "talk"});
  REQUIRE(run);
  REQUIRE(server.wait_for_requests(1));
  run->cancel("enough");
  run->cancel("twice is harmless");
  const auto end = run->wait(20s);
  REQUIRE(end);
  CHECK(end->status == riffle::events::run_status::cancelled);
  CHECK(end->failure->message == "enough");
}

TEST_CASE("wrong requests get clear errors") {
  rt::http_server server{rt::respond_sse(rt::answer("x"))};
  auto runtime = make_runtime(config_for(server, {}));
  auto unknown = runtime.start({.task = "x", .agent = "nobody"});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == riffle::errc::not_found);
  auto missing = runtime.resume(riffle::run_id{"run_none"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == riffle::errc::not_found);
}
