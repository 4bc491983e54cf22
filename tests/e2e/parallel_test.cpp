// SPDX-License-Identifier: MIT
// Many calls of one step end in any order; clients see that order, the model
// gets its own.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>

#include "runtime/api/riffle.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace rt = riffle::testing;

namespace {

constexpr int width = 64;

/// Calls that all run at once, and end in the order of a list: each when the
/// end of the one before it has been told, so that this order is the one to be
/// seen.
class shuffled_end {
 public:
  void shuffle(std::mt19937& random) {
    const std::lock_guard lock{mutex_};
    order_.resize(width);
    for (int i = 0; i < width; ++i) order_[static_cast<std::size_t>(i)] = i;
    std::ranges::shuffle(order_, random);
    here_ = 0;
    next_ = 0;
  }

  /// Blocks until all are here and the ends of those before it were told.
  bool pass(int n) {
    std::unique_lock lock{mutex_};
    ++here_;
    changed_.notify_all();
    return changed_.wait_for(lock, 30s, [&] {
      return here_ == width && next_ < order_.size() && order_[next_] == n;
    });
  }

  void told_end() {
    const std::lock_guard lock{mutex_};
    ++next_;
    changed_.notify_all();
  }

  [[nodiscard]] std::vector<int> order() const { return order_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> order_;
  std::size_t next_ = 0;
  int here_ = 0;
};

std::string all_calls() {
  std::vector<std::pair<std::string, json>> all;
  for (int i = 0; i < width; ++i) all.push_back({"pass", {{"n", i}}});
  return rt::calls(all);
}

}  // namespace

TEST_CASE("64 calls that end in any order keep both orders", "[torture]") {
  const unsigned seed = rt::fresh_seed();
  std::mt19937 random{seed};
  CAPTURE(seed);
  shuffled_end gate;
  rt::http_server server{[](const rt::http_request& request) {
    return rt::respond_sse(
        rt::tool_messages(request).empty() ? all_calls() : rt::answer("done"));
  }};
  riffle::config::config c;
  c.models["default"].base_url = server.url("/v1");
  c.agents["default"].tools = {"pass"};
  c.agents["default"].max_calls_in_flight = width;
  c.runtime.max_calls = width;
  c.tools.by_name["pass"].concurrency = width;
  riffle::runtime_options options;
  options.journal = riffle::storage::make_memory_journal();
  options.tools.push_back(riffle::make_tool(
      {.name = "pass",
       .description = "ends when it is its turn",
       .parameters = R"({"type":"object"})",
       .eff = riffle::effect::read_only},
      [&gate](const json& arguments, riffle::tools::tool_context& context) {
        const int n = arguments.at("n");
        riffle::tool_progress_report report;
        report.message = "here";
        context.progress(report);
        return std::to_string(n) + (gate.pass(n) ? " passed" : " gave up");
      }));
  auto made = riffle::runtime::create(std::move(c), std::move(options));
  REQUIRE(made);
  const int rounds = rt::repetitions(5, 20, 1000);
  std::set<std::vector<std::string>> orders;
  for (int i = 0; i < rounds; ++i) {
    gate.shuffle(random);
    std::string log;
    const auto end = made->execute({.task = "go"}, [&](const auto& batch) {
      log += batch.lines();
      batch.for_each([&](const riffle::event_view& x) {
        if (x.type() == "tool_result") gate.told_end();
      });
    });
    REQUIRE(end);
    CHECK(end->status == riffle::events::run_status::completed);
    const auto results = rt::of_type(rt::checked_events(log), "tool_result");
    REQUIRE(results.size() == width);
    std::vector<std::string> told;
    std::vector<std::string> expected;
    for (const auto& x : results) told.push_back(x.at("data").at("output"));
    for (const auto k : gate.order())
      expected.push_back(std::to_string(k) + " passed");
    CHECK(told == expected);
    orders.insert(expected);
    const auto request = server.requests().back();
    rt::check_results(request);
    int n = 0;
    for (const auto& x : rt::tool_messages(request))
      CHECK(x.at("content") == std::to_string(n++) + " passed");
    CHECK(n == width);
  }
  CHECK(orders.size() > 1);
}
