// SPDX-License-Identifier: MIT
// Whom a gate knows: addresses that lead nowhere, to one process, or to itself;
// nodes that dialled it, and those that are gone.
#include "runtime/base/metrics.hpp"
#include "tests/actors/cluster_scene.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// A gate that dials these; the test says what becomes of it.
struct dialling {
  dialling(cluster_scene& of, std::vector<std::string> join) : scene{of} {
    gate_setup setup;
    setup.me.group = "riffle";
    setup.me.name = "other";
    setup.me.instance = "o2";
    setup.join = std::move(join);
    setup.random01 = [] { return 0.5; };
    setup.dial = [this](const std::string& address, const caf::actor&) {
      ++dials[address];
    };
    setup.board = std::make_shared<node_board>();
    setup.works = std::make_shared<work_board>();
    setup.spawn_pool = [](const auto&...) { return tool_pool_actor{}; };
    setup.on_known = [this] { known = true; };
    setup.on_nodes = [this](const auto& all) { nodes = all; };
    gate = of.system->spawn(cluster_gate, std::move(setup));
    of.settle();
  }
  ~dialling() {
    caf::anon_send_exit(gate, caf::exit_reason::user_shutdown);
    gate = nullptr;
    scene.settle();
  }
  void reach(const std::string& address, const caf::actor& whom) {
    caf::anon_send(
        gate,
        dialed{address, caf::actor_cast<caf::strong_actor_ptr>(whom), ""});
    scene.settle();
  }

  cluster_scene& scene;
  std::map<std::string, int> dials;
  std::vector<node_view> nodes;
  bool known = false;
  caf::actor gate;
};

/// A process of any name, for the origin of the scene; or one that only looks
/// at its node.
struct someone {
  someone(cluster_scene& of, const std::string& name, bool has_tools,
          bool looks = false)
      : scene{of}, to{looks ? of.node : of.origin} {
    who = of.system->spawn([this](caf::event_based_actor* self) {
      self->set_default_handler(caf::drop);
      return caf::behavior{
          [this](cluster::status& x) { status = std::move(x); },
          [this, self](const cluster::ping& x) {
            const auto from =
                caf::actor_cast<caf::actor>(self->current_sender());
            if (!silent) self->send(from, cluster::pong{x.number, {}});
          },
          [this](const cluster::offers& x) { heard = x.draining; },
          [this](const cluster::ask_drain& x) { asked = x.node.empty(); }};
    });
    cluster::hello hello;
    hello.group = "riffle";
    hello.name = name;
    hello.instance = "of " + name;
    hello.epoch = 1;
    hello.observer = looks;
    say(hello);
    cluster::offers offers;
    if (has_tools) offers.tools.push_back({.name = "tool of " + name});
    say(offers);
  }
  ~someone() {
    to = nullptr;
    leave();
  }
  template <class X>
  void say(X x) {
    caf::send_as(who, to, std::move(x));
    scene.settle();
  }
  void leave() {
    if (!who) return;
    caf::anon_send_exit(who, caf::exit_reason::kill);
    who = nullptr;
    scene.settle();
  }

  cluster_scene& scene;
  caf::actor to;
  caf::actor who;
  cluster::status status;
  bool heard = false;  ///< that what it asks takes no more calls
  bool asked = false;
  bool silent = false;
};

}  // namespace

TEST_CASE("an address whose host says nothing keeps no run back for long") {
  cluster_scene x;
  dialling d{x, {"there:1", "nowhere:1"}};
  d.reach("there:1", x.node);
  CHECK_FALSE(d.known);
  x.pass(400ms);
  CHECK(d.known);
}

TEST_CASE("an address that takes connections is waited for until it greets") {
  cluster_scene x;
  dialling d{x, {"there:1", "slow:1"}};
  caf::anon_send(d.gate, dial_connected{"slow:1"});
  d.reach("there:1", x.node);
  x.pass(2s);
  CHECK_FALSE(d.known);
  caf::anon_send(d.gate, dialed{"slow:1", {}, "it did not greet"});
  x.settle();
  CHECK(d.known);
}

TEST_CASE("two addresses of one process are known with it, and dialled anew") {
  cluster_scene x;
  dialling d{x, {"name:1", "number:1"}};
  caf::anon_send(d.gate, dial_connected{"number:1"});
  d.reach("name:1", x.node);
  d.reach("number:1", x.node);
  CHECK(d.known);
  REQUIRE(d.nodes.size() == 1);
  x.pass(2s);
  CHECK(d.dials == std::map<std::string, int>{{"name:1", 1}, {"number:1", 1}});
  caf::anon_send_exit(x.node, caf::exit_reason::kill);
  x.settle();
  x.pass(3s);
  CHECK(d.dials["name:1"] == 2);
  CHECK(d.dials["number:1"] == 2);
}

TEST_CASE("a process whose list names itself does not join itself") {
  cluster_scene x;
  dialling d{x, {"me:1"}};
  d.reach("me:1", d.gate);
  CHECK(d.nodes.empty());
  CHECK(d.known);
  x.pass(12s);
  CHECK(d.dials["me:1"] == 1);
}

TEST_CASE("who asks a process is told the nodes that have joined it") {
  cluster_scene x;
  someone asks{x, "asks", false};
  someone node{x, "gpu-1", true};
  asks.say(cluster::ask_status{});
  const auto& told = asks.status;
  CHECK(told.origins == std::vector<std::string>{"asks"});
  REQUIRE(told.nodes.size() == 2);
  const auto at = [&](const std::string& name) {
    const auto i =
        std::ranges::find(told.nodes, name, &cluster::node_status::name);
    REQUIRE(i != told.nodes.end());
    return *i;
  };
  CHECK(at("gpu-1").state == "up");
  x.pass(1s);
  x.give("a");
  x.pass(1100ms);
  asks.say(cluster::ask_status{});
  const auto alpha = at("alpha");
  CHECK(alpha.labels == std::vector<std::string>{"gpu"});
  CHECK(alpha.round_trip == duration{});
  REQUIRE(alpha.loads.size() == 1);
  CHECK(alpha.loads[0].running + alpha.loads[0].waiting == 1);
  SECTION("and one of them is drained through it") {
    asks.say(cluster::ask_drain{"gpu-1"});
    CHECK(node.asked);
    CHECK_FALSE(x.drained);
    asks.say(cluster::ask_status{});
    CHECK(at("gpu-1").state == "up");
    const bool heard = GENERATE(true, false);
    if (heard) node.say(cluster::offers{.draining = true});
    node.leave();
    asks.say(cluster::ask_status{});
    CHECK(at("gpu-1").state == (heard ? "draining" : "lost"));
  }
  SECTION("and those that are lost") {
    node.leave();
    asks.say(cluster::ask_status{});
    CHECK(at("gpu-1").state == "lost");
  }
}

TEST_CASE("a node that hears late of a drain that failed is not drained") {
  cluster_scene x{"riffle", {.timeout = 5s}};  // its clock stood still
  someone asks{x, "asks", false};
  x.pass(1s);
  x.set_line(line_state::held);
  asks.say(cluster::ask_drain{"alpha"});
  const bool late = GENERATE(false, true);
  if (late) {
    x.pass(3200ms);
    asks.say(cluster::ask_status{});
    REQUIRE(asks.status.nodes.size() == 1);
    CHECK(asks.status.nodes[0].state == "lost");
  }
  x.set_line(line_state::open);
  x.pass(1s);
  CHECK(x.drains_asked == (late ? 0 : 1));
  CHECK(x.nodes.at(0).state == "up");
  if (!late) return;
  asks.say(cluster::ask_drain{"alpha"});  // and another one is heard
  CHECK(x.drains_asked == 1);
}

TEST_CASE("who asks for a drain and is silent then is not obeyed") {
  cluster_scene x;
  someone asks{x, "asks", false};
  asks.silent = true;
  asks.say(cluster::ask_drain{"alpha"});
  CHECK(x.drains_asked == 0);
  x.pass(5s);
  CHECK(x.drains_asked == 0);
}

TEST_CASE("who asked a node to end has its word before it ends") {
  cluster_scene x;
  someone asks{x, "asks", false, true};
  asks.say(cluster::ask_drain{});
  CHECK(x.drains_asked == 1);
  CHECK_FALSE(asks.heard);
  asks.silent = true;
  caf::anon_send(x.node, begin_drain{});
  x.settle();
  CHECK(asks.heard);
  CHECK_FALSE(x.drained);
  asks.leave();
  CHECK(x.drained);
}

TEST_CASE("nodes with a name of their own each time fill no memory") {
  cluster_scene x;
  for (int i = 0; i < 100; ++i) {
    someone node{x, "pod-" + std::to_string(i), true};
    node.leave();
  }
  CHECK(x.nodes.size() == 1 + 64);
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(x.nodes, name, &node_view::name) != x.nodes.end();
  };
  CHECK(is_there("alpha"));
  CHECK(is_there("pod-99"));
  CHECK_FALSE(is_there("pod-0"));
}
