// SPDX-License-Identifier: MIT
// Until when a node runs what it was given: links that break one way, times
// that differ, answers that are late, wrong or said again.
#include "runtime/base/metrics.hpp"
#include "tests/actors/cluster_scene.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// Keeps what is said to it.
struct stranger {
  explicit stranger(cluster_scene& x) : scene{x} {
    who = x.system->spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](const cluster::refusal& y) { refused = y.reason; }};
    });
  }
  ~stranger() {
    caf::anon_send_exit(who, caf::exit_reason::kill);
    who = nullptr;
    scene.settle();
  }
  template <class... Ts>
  void say(Ts... xs) {
    caf::send_as(who, scene.origin, std::move(xs)...);
    scene.settle();
  }

  cluster_scene& scene;
  caf::actor who;
  std::string refused;
};

cluster::hello greeting() {
  cluster::hello out;
  out.group = "riffle";
  out.name = "stranger";
  out.instance = "x";
  out.epoch = 1;
  return out;
}

struct counts final : metric_reader {
  void on(const metric_about& what, double value,
          std::initializer_list<metric_label> labels) noexcept override {
    if (what.what == metric::nodes) nodes += static_cast<int>(value);
    if (what.what != metric::node_events) return;
    for (const auto& x : labels)
      if (x.key == "riffle.node.event") ++events[std::string{x.value}];
  }
  int nodes = 0;
  std::map<std::string, int> events;
};

/// An output of so many bytes, all of them equal.
struct long_output : output_stream {
  explicit long_output(std::size_t n) : left{n} {}
  std::string next(std::size_t most) override {
    const auto size = std::min(most, left);
    left -= size;
    return std::string(size, 'z');
  }
  std::size_t left;
};

}  // namespace

TEST_CASE("a node that hears its origin, and is not heard, ends what it runs") {
  cluster_scene x;
  x.give("a", effect::mutating);
  const auto lease = x.leases->find({"a"});
  x.set_line_back(line_state::cut);
  x.pass(3100ms);
  CHECK(x.nodes.at(0).state == "lost");
  CHECK(x.stopped == std::vector<std::string>{"a"});  // it was told
  const auto end = lease->until();
  x.pass(6s);
  CHECK(lease->until() == end);  // pings of the origin push nothing on
  CHECK_FALSE(x.lost("a"));
  x.pass(600ms);
  CHECK(x.lost("a"));
}

TEST_CASE("pings that were on their way for long push no lease on") {
  cluster_scene x;
  x.give("a", effect::mutating);
  const auto lease = x.leases->find({"a"});
  x.pass(1s);
  x.set_line(line_state::held);
  const auto end = lease->until();
  x.pass(2500ms);
  x.set_line_back(line_state::cut);
  // What the origin had said before it fenced comes when it has fenced.
  x.pass(600ms);
  caf::anon_send(x.line_to_node, testing::set_line{line_state::open});
  x.settle();
  CHECK(lease->until() == end);
}

TEST_CASE("an origin that is not heard fences its node, though it hears it") {
  cluster_scene x;
  x.give("a");
  caf::anon_send(x.line_to_node, testing::set_line{line_state::cut});
  x.pass(4200ms);
  REQUIRE(x.lost("a"));
  CHECK(x.nodes.at(0).state == "lost");
  caf::anon_send(x.line_to_node, testing::set_line{line_state::open});
  x.pass(1200ms);
  CHECK(x.nodes.at(0).state == "up");
  x.pass(5s);
  CHECK(x.nodes.at(0).state == "up");
  REQUIRE(x.give("b") == "look@alpha");
  x.answer("b", "seen");
  CHECK(x.done("b"));
}

TEST_CASE(
    "a node ends calls by the times of their origin, if these are shorter") {
  SECTION("it waits shorter") {
    cluster_scene x{"riffle", {.orphan_after = 60s}};
    x.give("a", effect::mutating);
    const auto lease = x.leases->find({"a"});
    x.set_line(line_state::cut);
    x.pass(6100ms);
    CHECK(x.stopped == std::vector<std::string>{"a"});
    CHECK_FALSE(x.lost("a"));
  }
  SECTION("its commands take longer to end") {
    cluster_scene x{"riffle", {.host_grace = 2s}};
    x.give("a", effect::mutating);
    x.set_line(line_state::cut);
    x.pass(3600ms);
    CHECK(x.stopped == std::vector<std::string>{"a"});
  }
  SECTION("they take too long") {
    cluster_scene x{"riffle", {.host_grace = 30s}};
    CHECK(x.tools.empty());
    CHECK(x.give("a").starts_with("!"));
  }
}

TEST_CASE("a process of another version is refused, and told why") {
  cluster_scene x;
  stranger other{x};
  auto hello = greeting();
  SECTION("of the cluster's messages") { hello.version = 99; }
  SECTION("of the messages of work") { hello.work = 99; }
  hello.program = "9.9";
  other.say(hello);
  CHECK(other.refused.find("run the same version on both") !=
        std::string::npos);
  CHECK(other.refused.find("Riffle 9.9") != std::string::npos);
  CHECK(x.nodes.size() == 1);
}

TEST_CASE("what was said once counts once") {
  cluster_scene x;
  x.give("a");
  x.answer("a", "seen");
  REQUIRE(x.done("a"));
  work::done again{{"a"}, 1};
  again.result.output = "again";
  const auto said = x.dones.size();
  for (const auto* token : {"token 1", "token 2"})
    caf::send_as(x.line_to_node, x.origin, cluster::tag{1, token}, again);
  x.settle();
  CHECK(x.dones.size() == said);
  // An assignment that comes again, under its own token or another one.
  x.give("b");
  const auto there = x.at_node.at("b").what;
  x.at_node.erase("b");
  for (const auto* token : {"token 2", "token 7"})
    caf::send_as(x.line_to_origin, x.node, cluster::tag{1, token},
                 work::assignment{there});
  x.settle();
  CHECK_FALSE(x.at_node.contains("b"));
}

TEST_CASE("an assignment of an epoch that is over does not begin again") {
  cluster_scene x;
  x.give("a");
  const auto there = x.at_node.at("a").what;
  x.set_line(line_state::cut);
  x.pass(4s);
  x.set_line(line_state::open);
  x.pass(1s);
  REQUIRE(x.nodes.at(0).state == "up");
  x.answer("a", "too late");
  x.at_node.clear();
  caf::send_as(x.line_to_origin, x.node, cluster::tag{1, "token 1"},
               work::assignment{there});
  x.settle();
  CHECK(x.at_node.empty());
}

TEST_CASE("log lines and counters name a node that joins, leaves, is silent") {
  const log_lines log{"info"};
  const auto seen = std::make_shared<counts>();
  read_metrics(seen);
  {
    cluster_scene x;
    CHECK(seen->nodes == 2);  // each of the two gates has the other
    x.give("a");
    x.set_line(line_state::held);
    x.pass(4s);
    CHECK(seen->nodes == 0);
    x.answer("a", "too late");
    x.set_line(line_state::open);
    x.pass(500ms);
    CHECK(seen->nodes == 2);
    caf::anon_send(x.node, begin_drain{});
    x.settle();
    caf::anon_send_exit(x.line_to_node, caf::exit_reason::kill);
    x.settle();
    CHECK(seen->nodes == 1);
  }
  read_metrics(nullptr);
  INFO(log.text());
  CHECK_FALSE(log.with("node alpha has joined (epoch 1").empty());
  CHECK_FALSE(log.with("fenced (epoch 1)").empty());
  CHECK_FALSE(log.with("takes no more calls (epoch 2)").empty());
  CHECK_FALSE(
      log.with("node alpha is gone: the connection ended (epoch 2)").empty());
  CHECK(seen->events["joined"] == 4);
  CHECK(seen->events["fenced"] == 2);
  CHECK(seen->events["drained"] == 1);
  CHECK(seen->events["late_answer"] == 1);
  CHECK(seen->events["lost"] == 1);
}

TEST_CASE("a process that stood still does not say it of others") {
  const log_lines log{"warn"};
  cluster_scene x;
  x.give("a");
  x.set_line(line_state::held);
  x.stand_still(4s);
  INFO(log.text());
  CHECK_FALSE(log.with("this process stood still for 4s").empty());
  CHECK_FALSE(log.with("node alpha was not heard while this process stood "
                       "still: fenced")
                  .empty());
  CHECK(log.with("answers nothing").empty());
  REQUIRE(x.lost("a"));
  CHECK(x.lost("a")->reason ==
        "the node alpha is lost: this process stood still");
}

TEST_CASE("a tool that is used here is no warning") {
  const log_lines log{"warn"};
  cluster_scene x{"riffle", {}, std::string{}};
  CHECK(x.tools.empty());
  CHECK(log.with("is not used").empty());
}

TEST_CASE("long outputs of a link share what may be on its way") {
  cluster_scene x;
  x.hold_pieces = true;
  for (const auto* id : {"a", "b"}) x.give(id);
  for (const auto* id : {"a", "b"}) {
    x.output = std::make_shared<long_output>(8u << 20);
    x.answer(id, "zz");
  }
  const auto first = x.asked_to_keep.size();
  CHECK(first == core::piece_window::first);
  CHECK(x.asked_to_keep.front().first == "a");
  // Room goes round, and is more where nothing waits.
  std::map<std::string, int> served;
  for (int i = 0; i < 56; ++i) {
    ++served[x.asked_to_keep.front().first];
    x.keep_next();
    CHECK(x.asked_to_keep.size() <= core::piece_window::most);
  }
  CHECK(x.asked_to_keep.size() == core::piece_window::most);
  CHECK(std::abs(served["a"] - served["b"]) <= 6);
  x.hold_pieces = false;
  while (!x.asked_to_keep.empty()) x.keep_next();
  for (const auto* id : {"a", "b"}) {
    REQUIRE(x.done(id));
    CHECK(x.kept.at(id).size() == 8u << 20);
  }
}

TEST_CASE("a node forgets outputs that nobody takes any more") {
  cluster_scene x;
  x.hold_pieces = true;
  x.give("a");
  x.output = std::make_shared<long_output>(8u << 20);
  x.answer("a", "zz");
  caf::anon_send(x.node, begin_drain{});
  x.settle();
  CHECK_FALSE(x.drained);
  caf::anon_send_exit(x.line_to_origin, caf::exit_reason::kill);
  x.settle();
  x.pass(1s);
  CHECK(x.drained);
}

TEST_CASE("a call whose origin is lost leaves its place with a long output") {
  cluster_scene x;
  x.hold_pieces = true;
  x.give("a");
  caf::anon_send_exit(x.line_to_origin, caf::exit_reason::kill);
  x.settle();
  x.pass(1s);
  x.output = std::make_shared<long_output>(8u << 20);
  x.answer("a", "zz");  // what its stop came to
  caf::anon_send(x.node, begin_drain{});
  x.settle();
  x.pass(1s);
  CHECK(x.drained);
}

TEST_CASE(
    "of two that dialled each other at once the smaller name dials again") {
  cluster_scene x;  // "origin" has dialled "alpha"
  REQUIRE(x.dials == 1);
  SECTION("a link that ended as it began") {
    caf::anon_send_exit(x.line_to_node, caf::exit_reason::kill);
    x.pass(1900ms);
    CHECK(x.dials == 1);
    x.pass(300ms);
    CHECK(x.dials == 2);
  }
  SECTION("a link that had lived") {
    x.pass(2s);
    caf::anon_send_exit(x.line_to_node, caf::exit_reason::kill);
    x.pass(400ms);
    CHECK(x.dials > 1);
  }
}
