// SPDX-License-Identifier: MIT
// Calls that run on a node, and nodes that die, hang, come back or lie.
#include "tests/actors/cluster_scene.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// What a node may still do after it was last heard: `orphan_after`, the grace
/// and a heartbeat.
constexpr auto safe_time = 5s + 500ms + 1s;

struct text_stream : output_stream {
  explicit text_stream(std::string x) : text{std::move(x)} {}
  std::string next(std::size_t most) override {
    auto out = text.substr(0, most);
    text.erase(0, out.size());
    return out;
  }
  std::string text;
};

}  // namespace

TEST_CASE("a call runs on the node that offers its tool, and is answered") {
  cluster_scene x;
  REQUIRE(x.tools.size() == 1);
  CHECK(x.tools[0].description == "Looks");
  REQUIRE(x.nodes.size() == 1);
  CHECK(x.nodes[0].state == "up");
  CHECK(x.give("a") == "look@alpha");
  REQUIRE(x.at_node.contains("a"));
  const auto& there = x.at_node.at("a");
  CHECK(there.what.call.arguments == "{}");
  caf::anon_send(there.who.dispatcher, work::started{{"a"}, 1});
  caf::anon_send(there.who.muxer,
                 work::progress{{"a"}, 1, 1, "look", {.message = "half"}});
  x.settle();
  REQUIRE(x.started.size() == 1);
  REQUIRE(x.reports.size() == 1);
  CHECK(x.reports[0].report.message == "half");
  CHECK(x.work->acting().contains({"a"}));
  x.answer("a", "seen");
  REQUIRE(x.done("a"));
  CHECK(x.done("a")->result.output == "seen");
  CHECK(x.work->acting().empty());
}

TEST_CASE("a node gets as many calls as it has places, the rest waits here") {
  cluster_scene x;
  for (const auto* id : {"a", "b", "c"}) x.give(id);
  CHECK(x.at_node.size() == 2);
  x.answer("a", "");
  CHECK(x.at_node.contains("c"));
}

TEST_CASE("a call on a node can be stopped") {
  cluster_scene x;
  x.give("a");
  x.stop("a");
  CHECK(x.stopped == std::vector<std::string>{"a"});
}

TEST_CASE("a silent node is fenced: what reads is lost at once") {
  cluster_scene x;
  x.give("a");
  x.set_line(line_state::cut);
  x.pass(2900ms);
  CHECK_FALSE(x.lost("a"));
  x.pass(200ms);
  REQUIRE(x.lost("a"));
  CHECK(x.lost("a")->reason.find("silent") != std::string::npos);
  CHECK(x.pools.empty());
  CHECK(x.nodes.at(0).state == "lost");
  CHECK(x.tools.empty());
  CHECK(x.give("b").find("nodes that had it: alpha (it is silent") !=
        std::string::npos);
}

TEST_CASE("what changes something is lost once it cannot act any more") {
  cluster_scene x;
  x.give("a", effect::mutating);
  x.set_line(line_state::cut);
  x.pass(3s + 100ms);
  CHECK(x.nodes.at(0).state == "lost");
  x.pass(safe_time - 200ms);
  CHECK_FALSE(x.lost("a"));
  CHECK(x.work->acting().contains({"a"}));
  x.pass(300ms);
  CHECK(x.lost("a"));
  CHECK(x.work->acting().empty());
}

TEST_CASE("a node ends what it runs for somebody whom it does not hear") {
  cluster_scene x;
  x.give("a", effect::mutating);
  const auto lease = x.leases->find({"a"});
  REQUIRE(lease);
  const auto before = lease->until();
  x.pass(1s);
  CHECK(lease->until() > before);  // it is heard
  x.set_line(line_state::cut);
  const auto last = lease->until();
  x.pass(4900ms);
  CHECK(lease->until() == last);
  CHECK(x.stopped.empty());
  x.pass(1200ms);
  CHECK(x.stopped == std::vector<std::string>{"a"});
  CHECK(lease->until() == last);
}

TEST_CASE("an answer of a fenced epoch is dropped, and the node begins anew") {
  cluster_scene x;
  x.give("a");
  x.set_line(line_state::held);
  x.pass(4s);
  REQUIRE(x.lost("a"));
  x.answer("a", "too late");
  x.set_line(line_state::open);
  x.pass(500ms);
  CHECK_FALSE(x.done("a"));
  // It is back, with another epoch.
  CHECK(x.nodes.at(0).state == "up");
  REQUIRE(x.give("b") == "look@alpha");
  x.answer("b", "in time");
  REQUIRE(x.done("b"));
  CHECK(x.done("b")->result.output == "in time");
  x.answer("a", "much too late");
  CHECK_FALSE(x.done("a"));
}

TEST_CASE("who dies is noticed at once") {
  cluster_scene x;
  x.give("a");
  caf::anon_send_exit(x.line_to_node, caf::exit_reason::kill);
  x.settle();
  REQUIRE(x.lost("a"));
  CHECK(x.lost("a")->reason.find("the connection ended") != std::string::npos);
}

TEST_CASE("a call that waits for a node that leaves is given back unharmed") {
  cluster_scene x;
  for (const auto* id : {"a", "b", "c"}) x.give(id, effect::mutating);
  caf::anon_send_exit(x.line_to_node, caf::exit_reason::kill);
  x.settle();
  REQUIRE(x.done("c"));
  CHECK(x.done("c")->moved);
  CHECK_FALSE(x.lost("a"));
}

TEST_CASE("a node that gave up on its origin sends its calls back") {
  cluster_scene x;
  // Only the node hears nothing; the origin thinks that all is well.
  caf::anon_send(x.line_to_node, testing::set_line{line_state::cut});
  for (int i = 0; i < 32; ++i) {
    x.pass(100ms);
    caf::send_as(x.line_to_node, x.origin, cluster::ping{});
  }
  caf::anon_send(x.line_to_node, testing::set_line{line_state::open});
  x.settle();
  REQUIRE(x.give("a") == "look@alpha");
  if (x.at_node.contains("a")) x.answer("a", "seen");
  REQUIRE(x.done("a"));
  CHECK((x.done("a")->moved || x.done("a")->result.output == "seen"));
  // Also if the origin, which was not answered, has fenced it.
  for (int i = 0; i < 40; ++i) x.pass(100ms);
  REQUIRE(x.give("b") == "look@alpha");
  x.answer("b", "seen");
  CHECK(x.done("b"));
}

TEST_CASE("a node's own time limit ends a call") {
  cluster_scene x;
  x.give("a", effect::read_only, 1, 500ms);
  caf::anon_send(x.at_node.at("a").who.dispatcher, work::started{{"a"}, 1});
  x.settle();
  x.pass(400ms);
  CHECK(x.stopped.empty());
  x.pass(200ms);
  CHECK(x.stopped == std::vector<std::string>{"a"});
  work::done ended{{"a"}, 1};
  ended.result.how = outcome::cancelled;
  caf::anon_send(x.at_node.at("a").who.dispatcher, ended);
  x.settle();
  REQUIRE(x.done("a"));
  CHECK(x.done("a")->result.how == outcome::timed_out);
}

TEST_CASE("a drained node finishes what it has and gets no more") {
  cluster_scene x;
  x.give("a");
  caf::anon_send(x.node, begin_drain{});
  x.settle();
  CHECK(x.give("b").starts_with("!"));
  CHECK(x.nodes.at(0).state == "draining");
  CHECK_FALSE(x.drained);
  x.answer("a", "done");
  REQUIRE(x.done("a"));
  CHECK(x.drained);
}

TEST_CASE("a drained node that dies loses what it had") {
  cluster_scene x;
  x.give("a");
  caf::anon_send(x.node, begin_drain{});
  x.settle();
  caf::anon_send_exit(x.line_to_node, caf::exit_reason::kill);
  x.settle();
  CHECK(x.lost("a"));
}

TEST_CASE("a node that refuses a call says why") {
  cluster_scene x;
  x.refusal = error{errc::approval_denied, "node", "not here"};
  x.give("a");
  REQUIRE(x.done("a"));
  CHECK(x.done("a")->result.how == outcome::denied);
  CHECK(x.done("a")->result.err->message == "not here");
  CHECK_FALSE(x.done("a")->moved);
}

TEST_CASE("an id that is no plain word is no file of a node") {
  cluster_scene x;
  x.give("../../etc/passwd");
  CHECK(x.at_node.empty());
  REQUIRE(x.done("../../etc/passwd"));
  CHECK(x.done("../../etc/passwd")->result.err->code == errc::invalid_request);
}

TEST_CASE("a long output comes whole, and before its result") {
  cluster_scene x;
  const std::string text(3'000'001, 'z');
  x.output = std::make_shared<text_stream>(text);
  x.give("a");
  x.answer("a", "zz…");
  REQUIRE(x.done("a"));
  CHECK(x.kept.at("a") == text);
}

TEST_CASE("a process of another group or version is refused, and told why") {
  cluster_scene x{"lab"};
  CHECK(x.tools.empty());
  CHECK(x.nodes.empty());
  CHECK(x.give("a").starts_with("!"));
}

TEST_CASE("a gate answers no call that was not given to this very node") {
  cluster_scene x;
  x.give("a");
  // Somebody else with a connection, who knows the call and its token.
  work::done forged{{"a"}, 1};
  forged.result.output = "forged";
  auto stranger = x.system->spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](const cluster::refusal&) {}};
  });
  caf::send_as(stranger, x.origin, cluster::tag{1, "token 1"}, forged);
  x.settle();
  CHECK_FALSE(x.done("a"));
  cluster::hello who;
  who.group = "riffle";
  who.name = "stranger";
  who.instance = "x";
  who.epoch = 1;
  caf::send_as(stranger, x.origin, who);
  x.settle();
  caf::send_as(stranger, x.origin, cluster::tag{1, "token 1"}, forged);
  x.settle();
  CHECK_FALSE(x.done("a"));
  // The node itself, but under another token.
  caf::send_as(x.line_to_node, x.origin, cluster::tag{1, "token 9"}, forged);
  x.settle();
  CHECK_FALSE(x.done("a"));
  x.answer("a", "true");
  REQUIRE(x.done("a"));
  CHECK(x.done("a")->result.output == "true");
  caf::anon_send_exit(stranger, caf::exit_reason::kill);
  x.settle();
}

TEST_CASE("nothing that a stranger says ends a gate") {
  cluster_scene x;
  auto stranger = x.system->spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](const cluster::refusal&) {}};
  });
  caf::send_as(stranger, x.origin,
               caf::make_error(caf::sec::bad_function_call));
  caf::send_as(stranger, x.origin, 42, std::string{"what"});
  caf::send_as(stranger, x.origin, cluster::hello{});
  caf::send_as(stranger, x.origin, cluster::fenced{1});
  caf::send_as(stranger, x.origin, cluster::offers{});
  caf::send_as(stranger, x.origin, cluster::ask_drain{});
  x.settle();
  CHECK(x.give("a") == "look@alpha");
  x.answer("a", "seen");
  CHECK(x.done("a"));
  caf::anon_send_exit(stranger, caf::exit_reason::kill);
  x.settle();
}

TEST_CASE("a twin is refused while the one with its name is there") {
  cluster_scene x;
  std::string why;
  auto twin = x.system->spawn([&why](caf::event_based_actor*) -> caf::behavior {
    return {[&why](const cluster::refusal& y) { why = y.reason; }};
  });
  cluster::hello who;
  who.group = "riffle";
  who.name = "alpha";
  who.instance = "another";
  caf::send_as(twin, x.origin, who);
  x.settle();
  CHECK(why.empty());  // a process that takes no calls may have any name
  cluster::offers has;
  has.tools.push_back({});
  has.tools.back().name = "look";
  caf::send_as(twin, x.origin, has);
  x.settle();
  CHECK(why ==
        "another process is called `alpha`, and is here; set cluster.name");
  caf::anon_send_exit(twin, caf::exit_reason::kill);
  x.settle();
}

TEST_CASE("nodes are known once each has said what it has, or failed") {
  cluster_scene x;
  CHECK(x.tools_when_known ==
        std::vector<std::size_t>{1});  // its tool is there
  int known = 0;
  gate_setup setup;
  setup.join = {"a:1", "b:1"};
  setup.random01 = [] { return 0.5; };
  setup.dial = [](const std::string& address, const caf::actor& to) {
    if (address == "a:1") caf::anon_send(to, dialed{address, {}, "refused"});
  };
  setup.on_known = [&known] { ++known; };
  const auto gate = x.system->spawn(cluster_gate, std::move(setup));
  x.pass(300ms);
  CHECK(known == 0);  // nobody knows of b yet
  caf::anon_send(gate, dialed{"b:1", {}, "refused"});
  x.settle();
  CHECK(known == 1);
  x.pass(1s);
  CHECK(known == 1);
  caf::anon_send_exit(gate, caf::exit_reason::user_shutdown);
  x.settle();
}

TEST_CASE("a node that has nothing says so, and is waited for no more") {
  cluster_scene x;
  int known = 0;
  gate_setup setup;
  setup.me.group = "riffle";
  setup.me.name = "other";
  setup.me.instance = "o2";
  setup.join = {"node:2"};
  setup.random01 = [] { return 0.5; };
  gate_setup bare = setup;
  bare.join = {};
  bare.me.name = "bare";
  bare.me.instance = "n2";
  const auto there = x.system->spawn(cluster_gate, std::move(bare));
  setup.dial = [there](const std::string& address, const caf::actor& to) {
    caf::anon_send(
        to, dialed{address, caf::actor_cast<caf::strong_actor_ptr>(there), ""});
  };
  setup.board = x.board;
  setup.spawn_pool = [](const auto&...) { return tool_pool_actor{}; };
  setup.on_known = [&known] { ++known; };
  const auto gate = x.system->spawn(cluster_gate, std::move(setup));
  x.pass(200ms);
  CHECK(known == 1);
  for (const auto& who : {gate, there})
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
  x.settle();
}

TEST_CASE("a node whose host of calls died does not look alive") {
  cluster_scene x;
  REQUIRE(x.nodes.at(0).state == "up");
  bool ended = false;
  caf::actor_cast<caf::abstract_actor*>(x.node)->attach_functor(
      [&ended](const caf::error& why) {
        ended = why != caf::exit_reason::user_shutdown;
      });
  caf::anon_send_exit(x.node_host, caf::exit_reason::kill);
  x.settle();
  CHECK(ended);  // which its process notices
  x.pass(4s);
  CHECK(x.nodes.at(0).state == "lost");
}
