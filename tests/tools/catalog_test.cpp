// SPDX-License-Identifier: MIT
// What nodes have is waited for: until all of them are known, within a limit.
#include "tools/catalog.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::tools;
using namespace std::chrono_literals;

namespace {

class plain_tool final : public tool {
 public:
  explicit plain_tool(std::string name) {
    spec_.name = std::move(name);
    spec_.parameters = R"({"type": "object"})";
  }
  [[nodiscard]] const tool_spec& spec() const noexcept override {
    return spec_;
  }
  [[nodiscard]] std::string title(const nlohmann::json&) const override {
    return "Plain";
  }
  tool_output run(const nlohmann::json&, tool_context&) override { return {}; }

 private:
  tool_spec spec_;
};

tool_ptr named(const std::string& name) {
  return std::make_shared<plain_tool>(name);
}

catalog with_own() {
  auto own = std::make_shared<registry>();
  REQUIRE(own->add(named("here")));
  return catalog{own};
}

constexpr auto far = 30s;

/// Far away for a test: what waits until then would run into its time limit.
auto later() { return std::chrono::steady_clock::now() + far; }

}  // namespace

TEST_CASE("a run with tools of its own process waits for no node") {
  auto x = with_own();
  x.expect_nodes(later());
  CHECK(x.has_own("here"));
  CHECK_FALSE(x.has_own("where"));
  CHECK(x.wait_for({}, far));
}

TEST_CASE("a tool that is there is waited with until all nodes are known") {
  auto x = with_own();
  x.expect_nodes(later());
  x.set_remote({named("where")});
  std::atomic<bool> done{false};
  std::thread waits{[&] { done = x.wait_for({"here", "where"}, far); }};
  CHECK_FALSE(done);
  x.on_nodes_known();
  waits.join();
  CHECK(done);
  CHECK(x.wait_for({"where"}, far));  // at once, from now on
}

TEST_CASE("nodes that do not answer are waited for no longer than said") {
  auto x = with_own();
  const auto until = std::chrono::steady_clock::now() + 50ms;
  x.expect_nodes(until);
  x.set_remote({named("where")});
  CHECK(x.wait_for({"where"}, far));
  CHECK(std::chrono::steady_clock::now() >= until);
}

TEST_CASE("a tool that no node brings is missing after the limit") {
  auto x = with_own();
  x.on_nodes_known();
  CHECK_FALSE(x.wait_for({"where"}, 20ms));
}

TEST_CASE("a wait for a node ends when somebody asks for its end") {
  auto x = with_own();
  std::stop_source stop;
  std::atomic<bool> done{true};
  std::thread waits{
      [&] { done = x.wait_for({"where"}, far, stop.get_token()); }};
  stop.request_stop();
  waits.join();  // `far` is longer than the test may take
  CHECK_FALSE(done);
}
