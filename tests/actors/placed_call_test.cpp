// SPDX-License-Identifier: MIT
// Calls of a run whose tool nodes have: where each attempt runs, and what is
// said of it.
#include <map>
#include <set>
#include <string>

#include "actors/cluster/node_board.hpp"
#include "actors/core/circuit_breaker.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

/// A process whose `look` these nodes have, one call each.
struct placed_world {
  explicit placed_world(std::vector<std::string> nodes) {
    x.change_pools = [this, nodes](auto& pools) {
      for (const auto& node : nodes)
        pools["look@" + node] =
            caf::actor_cast<tool_pool_actor>(spawn_pool(node));
    };
    x.begin();
    x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls"),
                           model_says("Done.") + model_stops("stop")};
    board->set_rule("look", {.nodes = {"*"}});
    for (const auto& node : nodes) board->add(node, {}, "look", 1);
  }

  caf::actor spawn_pool(const std::string& node) {
    return x.system->spawn(
        [this, node](caf::event_based_actor* self) -> caf::behavior {
          self->set_default_handler(caf::drop);
          return {[=, this](const work::assignment& a, work_listeners& who) {
            ++asked[node];
            work::done done{a.call.id, a.attempt};
            done.last_progress = 0;
            done.result.output = "seen by " + node;
            if (broken.contains(node)) refuse(done);
            self->send(who.dispatcher, std::move(done));
          }};
        });
  }

  /// As a node does whose tool is out of service.
  static void refuse(work::done& x) {
    x.result = {};
    x.result.how = outcome::failed;
    x.result.err = error{errc::tool_unavailable, core::circuit_breaker::op,
                         "`look` is out of service", true};
    x.moved = true;
  }

  /// The result of the one call.
  nlohmann::json go() {
    auto spec = x.make_spec();
    spec->nodes = board;
    x.start(spec);
    x.run_out();
    check_log(x.reader->lines);
    const auto results = events_of(x.reader->lines, "tool_result");
    REQUIRE(results.size() == 1);
    return results[0].at("data");
  }

  std::set<std::string> broken;
  std::map<std::string, int> asked;
  std::shared_ptr<node_board> board = std::make_shared<node_board>();
  actor_fixture x;
};

}  // namespace

TEST_CASE("a tool that is out of service on its only node is asked once") {
  placed_world w{{"alpha"}};
  w.broken = {"alpha"};
  const auto result = w.go();
  CHECK(w.asked["alpha"] == 1);
  CHECK(result.at("outcome") == "failed");
  CHECK(result.at("error").at("code") == "tool_unavailable");
  CHECK(result.at("error").at("message") == "`look` is out of service");
  CHECK(events_of(w.x.reader->lines, "retry").empty());
}

TEST_CASE("where a later attempt runs is said while it works") {
  placed_world w{{"alpha", "beta"}};
  w.broken = {"alpha"};
  const auto result = w.go();
  CHECK(w.asked == std::map<std::string, int>{{"alpha", 1}, {"beta", 1}});
  CHECK(result.at("outcome") == "ok");
  CHECK(result.at("metadata").at("node") == "beta");
  const auto& lines = w.x.reader->lines;
  CHECK(events_of(lines, "tool_call").at(0).at("data").at("node") == "alpha");
  const auto said = events_of(lines, "tool_progress");
  REQUIRE(said.size() == 1);
  CHECK(said[0].at("data").at("message") == "attempt 2 on node beta");
}
