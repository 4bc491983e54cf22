// SPDX-License-Identifier: MIT
// What a node that ends, is full or is slow makes of the calls that it has.
#include "runtime/base/log.hpp"
#include "tests/actors/cluster_scene.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

struct plain_stream : output_stream {
  explicit plain_stream(std::string x) : text{std::move(x)} {}
  std::string next(std::size_t most) override {
    auto out = text.substr(0, most);
    text.erase(0, out.size());
    return out;
  }
  [[nodiscard]] bool whole() const override { return good; }
  std::string text;
  bool good = true;
};

void start(cluster_scene& x, const std::string& id) {
  caf::anon_send(x.at_node.at(id).who.dispatcher,
                 work::started{call_id{id}, 1});
  x.settle();
}

/// The node's worker says that it was stopped.
void obey(cluster_scene& x, const std::string& id) {
  work::done done{call_id{id}, 1};
  done.result.how = outcome::cancelled;
  done.result.err = error{errc::cancelled, "worker", "cancelled"};
  caf::anon_send(x.at_node.at(id).who.dispatcher, std::move(done));
  x.settle();
}

}  // namespace

TEST_CASE("a peer that was there and swallows packets delays no node's end") {
  const log_lines log{"info"};
  cluster_scene x;
  x.pass(1s);
  x.set_line(line_state::cut);
  caf::anon_send(x.node, begin_drain{});
  x.settle();
  CHECK_FALSE(x.drained);  // its last words may not have been heard
  x.pass(4500ms);
  CHECK(x.drained);
  CHECK_FALSE(log.with("this node is drained: it takes no more calls").empty());
}

TEST_CASE("what a node ends because it ends is lost, and not cancelled") {
  cluster_scene x;
  for (const auto* id : {"reads", "waits"}) x.give(id);
  start(x, "reads");
  caf::anon_send(x.node, begin_drain{});
  x.settle();
  caf::anon_send(x.node, end_drain{});
  x.settle();
  CHECK(x.stopped == std::vector<std::string>{"reads", "waits"});
  for (const auto* id : {"reads", "waits"}) obey(x, id);
  // It may have acted: who gave it decides about another attempt.
  CHECK_FALSE(x.done("reads"));
  REQUIRE(x.lost("reads"));
  CHECK(x.lost("reads")->reason.find("on node alpha: it was told to end") == 0);
  // It did not begin: it goes to another place, and costs no attempt.
  REQUIRE(x.done("waits"));
  CHECK(x.done("waits")->moved);
  CHECK(x.drained);
}

TEST_CASE("what its guard ended, unheard of its origin, is lost") {
  cluster_scene x;
  for (const auto* id : {"killed", "good"}) x.give(id, effect::mutating);
  start(x, "killed");
  start(x, "good");
  x.set_line(line_state::held);
  // It comes before the gate has looked at its clock.
  work::done killed{call_id{"killed"}, 1};
  killed.result.how = outcome::failed;
  killed.result.err =
      error{errc::tool_execution_error, "bash", "ended by the signal SIGTERM"};
  caf::anon_send(x.at_node.at("killed").who.dispatcher, std::move(killed));
  caf::anon_send(x.at_node.at("good").who.dispatcher,
                 work::done{call_id{"good"}, 1});
  x.stand_still(6s);
  x.set_line(line_state::open);
  x.pass(8s);
  CHECK_FALSE(x.done("killed"));
  CHECK(x.lost("killed"));
}

TEST_CASE("what ends well while its node ends has ended well") {
  cluster_scene x;
  x.give("a");
  start(x, "a");
  for (int i = 0; i < 2; ++i)
    caf::anon_send(x.node, i == 0 ? caf::make_message(begin_drain{})
                                  : caf::make_message(end_drain{}));
  x.settle();
  x.answer("a", "seen");
  REQUIRE(x.done("a"));
  CHECK(x.done("a")->result.how == outcome::ok);
}

TEST_CASE("a whole output that is not kept here is not said to be kept") {
  cluster_scene x;
  x.refuse_pieces = GENERATE(true, false);
  x.give("a");
  x.output = std::make_shared<plain_stream>(std::string(1u << 20, 'z'));
  work::done done{{"a"}, 1};
  done.result.metadata = R"({"bytes":1048576,"whole_kept":true})";
  caf::anon_send(x.at_node.at("a").who.dispatcher, std::move(done));
  x.settle();
  REQUIRE(x.done("a"));
  const auto& about = x.done("a")->result.metadata;
  CHECK((about.find(R"("whole_kept":false)") != std::string::npos) ==
        x.refuse_pieces);
  CHECK(about.find("1048576") != std::string::npos);
}

TEST_CASE("a whole output that its node has no more is not said to be kept") {
  const log_lines log{"warn"};
  cluster_scene x;
  const bool gone = GENERATE(true, false);  // else its disk breaks
  x.give("a");
  if (!gone) {
    auto half = std::make_shared<plain_stream>(std::string(1u << 20, 'z'));
    half->good = false;
    x.output = half;
  }
  work::done done{{"a"}, 1};
  done.result.metadata = R"({"bytes":4194304,"whole_kept":true})";
  caf::anon_send(x.at_node.at("a").who.dispatcher, std::move(done));
  x.settle();
  REQUIRE(x.done("a"));
  CHECK(x.done("a")->result.metadata.find(R"("whole_kept":false)") !=
        std::string::npos);
  CHECK(log.with("its file is not in this node's data folder").empty() != gone);
}

TEST_CASE("of an attempt that is lost no half of an output is kept") {
  cluster_scene x;
  x.hold_pieces = true;
  x.give("a");
  x.output = std::make_shared<plain_stream>(std::string(4u << 20, 'z'));
  caf::anon_send(x.at_node.at("a").who.dispatcher, work::done{{"a"}, 1});
  x.settle();
  x.keep_next();
  REQUIRE(x.kept.contains("a"));
  caf::anon_send_exit(x.line_to_node, caf::exit_reason::kill);
  x.settle();
  REQUIRE(x.lost("a"));
  while (!x.asked_to_keep.empty()) x.keep_next();
  CHECK_FALSE(x.kept.contains("a"));
}

TEST_CASE("a node's own limit for silence ends a call") {
  cluster_scene x;
  x.idle_at_node = 1s;
  x.give("a");
  start(x, "a");
  x.pass(800ms);
  caf::anon_send(x.at_node.at("a").who.muxer,
                 work::progress{{"a"}, 1, 1, "look", {.message = "half"}});
  x.settle();
  x.pass(800ms);
  CHECK(x.stopped.empty());  // it said something
  x.pass(400ms);
  CHECK(x.stopped == std::vector<std::string>{"a"});
  obey(x, "a");
  REQUIRE(x.done("a"));
  CHECK(x.done("a")->result.how == outcome::timed_out);
  CHECK(x.done("a")->result.err->message.find("idle_timeout") !=
        std::string::npos);
}

TEST_CASE("what may be repeated is not, before the old one cannot act") {
  cluster_scene x;
  x.idempotent = true;
  x.give("a", effect::mutating);
  x.set_line(line_state::cut);
  x.pass(4s);
  CHECK(x.nodes.at(0).state == "lost");
  CHECK_FALSE(x.lost("a"));
  x.pass(6s);
  CHECK(x.lost("a"));
}

TEST_CASE("what has not begun waits for the only node that is lost") {
  cluster_scene x{"riffle", {.join_timeout = 2s}};
  const bool returns = GENERATE(true, false);
  for (const auto* id : {"a", "b", "c"}) x.give(id, effect::mutating);
  CHECK_FALSE(x.at_node.contains("c"));
  x.set_line(line_state::held);
  x.pass(3s);
  CHECK(x.give("d", effect::mutating) == "look@alpha");
  x.pass(1s);
  for (const auto* id : {"c", "d"}) CHECK_FALSE(x.done(id));
  if (returns) x.set_line(line_state::open);
  x.pass(2s);
  for (const auto* id : {"c", "d"}) {
    REQUIRE(x.done(id));
    CHECK(x.done(id)->moved);
    const auto at = x.give(id, effect::mutating);
    if (returns)
      CHECK(at == "look@alpha");
    else
      CHECK(at.find("nodes that had it: alpha") != std::string::npos);
    CHECK(x.at_node.contains(id) == returns);
  }
}

TEST_CASE("a pool of a node's tool that dies is replaced, or begins anew") {
  cluster_scene x;
  const std::vector<std::string> look{"look@alpha"};
  for (std::size_t i = 1; i <= 3; ++i) {
    CAPTURE(i);
    const auto before = x.pools.at(look[0]);
    x.give("old" + std::to_string(i));
    caf::anon_send_exit(before, caf::exit_reason::unhandled_exception);
    x.settle();
    CHECK(x.failed_pools == std::vector<std::string>(i, look[0]));
    REQUIRE(x.pools.contains(look[0]));
    CHECK(x.pools.at(look[0]) != before);
    const auto id = "new" + std::to_string(i);
    x.give(id);
    x.answer("old" + std::to_string(i), "late");  // its place is free again
    REQUIRE(x.at_node.contains(id));
    x.answer(id, "good");
    REQUIRE(x.done(id));
    CHECK(x.done(id)->result.output == "good");
  }
  const bool comes_back = GENERATE(true, false);
  const auto last = x.pools.at(look[0]);
  if (!comes_back) x.set_line(line_state::cut);
  caf::anon_send_exit(last, caf::exit_reason::unhandled_exception);
  x.settle();
  CHECK(x.failed_pools.size() == 4);
  if (!comes_back) {
    const auto why = x.give("nowhere");
    CHECK(why.find("nodes that had it: alpha") != std::string::npos);
    return;
  }
  x.pass(1s);
  x.give("again");  // with pools of another epoch
  CHECK(x.at_node.contains("again"));
}

TEST_CASE("a node whose pools fail is no place until it begins anew") {
  cluster_scene x;
  for (int i = 0; i < 4; ++i) {
    if (i == 3) x.set_line(line_state::held);  // it cannot greet again
    caf::anon_send_exit(x.pools.at("look@alpha"),
                        caf::exit_reason::unhandled_exception);
    x.settle();
  }
  CHECK(x.failed_pools.size() == 4);
  const auto at = x.give("early");
  INFO(at);
  CHECK(at.find("nodes that had it: alpha") != std::string::npos);
  x.set_line(line_state::open);
  x.pass(1s);
  x.give("again");
  CHECK(x.at_node.contains("again"));
}

TEST_CASE("a worker on a node hears that its report was taken") {
  cluster_scene x;
  int acks = 0;
  auto worker =
      x.system->spawn([&acks](caf::event_based_actor*) -> caf::behavior {
        return {[&acks](const work::ack&) { ++acks; }};
      });
  x.give("a");
  start(x, "a");
  caf::send_as(worker, caf::actor_cast<caf::actor>(x.at_node.at("a").who.muxer),
               work::progress{{"a"}, 1, 1, "look", {.message = "half"}});
  x.settle();
  CHECK(x.reports.size() == 1);
  CHECK(acks == 1);
  caf::anon_send_exit(worker, caf::exit_reason::kill);
  x.settle();
}

TEST_CASE("a call that a node did not get is lost, though the node is there") {
  cluster_scene x;
  x.pass(1s);
  const auto to_node = [&x](line_state to) {
    caf::anon_send(x.line_to_node, testing::set_line{to});
    x.settle();
  };
  to_node(line_state::cut);
  x.give("a");
  to_node(line_state::open);
  x.give("b");
  CHECK_FALSE(x.at_node.contains("a"));
  CHECK(x.at_node.contains("b"));  // it waits there, and is not overdue
  SECTION("of those that it got none is") {
    x.answer("b", "seen");
    x.pass(9s);
    CHECK_FALSE(x.lost("a"));
    x.pass(1500ms);
    REQUIRE(x.lost("a"));
    CHECK(x.lost("a")->reason.find("did not say that it has a call") !=
          std::string::npos);
    x.pass(1s);
    CHECK(x.nodes.at(0).state == "up");  // with another epoch
    CHECK(x.give("c") == "look@alpha");
    x.answer("c", "seen");
    CHECK(x.done("c"));
  }
  SECTION("nor is one whose node is busy") {
    x.stop("a");
    cluster_scene y;
    y.give("long");
    y.pass(60s);
    CHECK_FALSE(y.lost("long"));
    CHECK(y.nodes.at(0).state == "up");
  }
}
