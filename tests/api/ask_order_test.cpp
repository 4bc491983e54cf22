// SPDX-License-Identifier: MIT
// People are asked in the model's order, whatever takes longer to look at.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using nlohmann::json;
using testing::scaled;

namespace {

constexpr int calls = 6;

/// To look at one of its calls takes as long as the run's seed says.
class slow_to_show final : public tools::tool {
 public:
  slow_to_show() {
    spec_.name = "change";
    spec_.description = "asks, although it only reads";
    spec_.eff = effect::read_only;  // so all are asked about at once
    spec_.parameters = R"({"type":"object"})";
  }
  const tools::tool_spec& spec() const noexcept override { return spec_; }
  std::vector<std::string> keys(const json& x,
                                const std::filesystem::path&) const override {
    return {x.dump()};
  }
  tools::call_preview preview(const json& x,
                              const std::filesystem::path&) const override {
    const int n = x.at("n");
    std::mt19937 random{seed + static_cast<unsigned>(n) * 7919};
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 3000});
    const std::lock_guard lock{mutex_};
    shown.push_back(n);
    return {x.dump(), x.dump()};
  }
  std::string title(const json&) const override { return "Changing"; }
  std::string definition() const override { return "change 1"; }
  tools::tool_output run(const json&, tools::tool_context&) override {
    return {"changed", {}, {}};
  }

  std::atomic<unsigned> seed = 0;
  mutable std::vector<int> shown;  ///< read between runs

 private:
  mutable std::mutex mutex_;
  tools::tool_spec spec_;
};

/// The number of each call that a person is asked about, in order.
std::vector<int> asked_in(const run& x) {
  std::vector<int> out;
  auto stream = x.events();
  const auto until = std::chrono::steady_clock::now() + scaled(20s);
  while (out.size() < calls && !stream.ended()) {
    REQUIRE(std::chrono::steady_clock::now() < until);
    const auto batch = stream.next(100ms);
    if (!batch) continue;
    std::istringstream lines{std::string{batch->lines()}};
    for (std::string line; std::getline(lines, line);) {
      const auto event = json::parse(line);
      if (event.at("event_type") == "approval_required")
        out.push_back(event.at("data").at("arguments").at("n"));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("questions of 200 runs come in the order of the model") {
  const auto change = std::make_shared<slow_to_show>();
  config::config config;
  config.runtime.log.level = "off";
  config.models["default"].dialect = "scripted";
  config.agents["default"].tools = {"change"};
  config.tools.by_name["change"] = config.tools.defaults;
  config.tools.by_name["change"].approval = "ask";
  runtime_options options;
  options.tools = {change};
  options.journal = storage::make_memory_journal();
  std::string script = "[[steps]]\n";
  std::vector<int> in_order;
  for (int n = 0; n < calls; ++n) {
    in_order.push_back(n);
    script += "[[steps.calls]]\ntool = \"change\"\narguments = { n = " +
              std::to_string(n) + " }\n";
  }
  options.scripts["default"] = script + "[[steps]]\ntext = \"Done.\"\n";
  auto rt = runtime::create(std::move(config), std::move(options));
  REQUIRE(rt);
  auto seed = testing::fresh_seed();
  int out_of_order = 0;
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i, seed);
    change->seed = ++seed;
    change->shown.clear();
    const auto going = rt->start({.task = "go", .approval = approve::ask});
    REQUIRE(going);
    REQUIRE(asked_in(*going) == in_order);
    if (!std::ranges::is_sorted(change->shown)) ++out_of_order;
    going->cancel("seen");
    REQUIRE(going->wait(scaled(20s)));
  }
  // It could have been otherwise.
  CHECK(out_of_order > 20);
}
