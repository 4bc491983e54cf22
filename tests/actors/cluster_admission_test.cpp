// SPDX-License-Identifier: MIT
// Whether a node lets a call run, where it has to look at files to know.
#include "tests/actors/cluster_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

TEST_CASE("a call that a node's pool refuses may run at another node") {
  cluster_scene x;
  x.give("a");
  const bool began = GENERATE(false, true);
  if (began)
    caf::anon_send(x.at_node.at("a").who.dispatcher, work::started{{"a"}, 1});
  work::done refused{{"a"}, 1};
  refused.result.how = outcome::failed;
  refused.result.err = error{errc::tool_unavailable, "tool_pool", "open"};
  caf::anon_send(x.at_node.at("a").who.dispatcher, refused);
  x.settle();
  REQUIRE(x.done("a"));
  CHECK(x.done("a")->moved == !began);
}

TEST_CASE("a node that has to look at a call goes on with others meanwhile") {
  cluster_scene x;
  x.hold_admissions = true;
  x.give("a");
  REQUIRE(x.admissions.size() == 1);
  CHECK(x.at_node.empty());
  x.hold_admissions = false;
  x.give("b");
  CHECK(x.at_node.contains("b"));

  SECTION("and gives it to its workers then") {
    x.admissions.front()();
    x.settle();
    REQUIRE(x.at_node.contains("a"));
    x.answer("a", "done");
    REQUIRE(x.done("a"));
    CHECK(x.done("a")->result.output == "done");
  }
  SECTION("and says why it may not run") {
    x.refusal = error{errc::approval_denied, "node", "not here"};
    x.admissions.front()();
    x.settle();
    REQUIRE(x.done("a"));
    CHECK(x.done("a")->result.how == outcome::denied);
  }
  SECTION("and lets it end when it is stopped, however late the look is") {
    x.stop("a");
    REQUIRE(x.done("a"));
    CHECK(x.done("a")->result.how == outcome::cancelled);
    CHECK(x.stopped.empty());
    x.admissions.front()();
    x.settle();
    CHECK_FALSE(x.at_node.contains("a"));
  }
  SECTION("and forgets it with who gave it") {
    caf::anon_send_exit(x.line_to_origin, caf::exit_reason::kill);
    x.pass(5s);
    x.admissions.front()();
    x.settle();
    CHECK_FALSE(x.at_node.contains("a"));
    return;
  }
  SECTION("and ends it after two minutes") {
    x.pass(119s);
    CHECK_FALSE(x.done("a"));
    x.pass(2s);
    REQUIRE(x.done("a"));
    CHECK(x.done("a")->result.err->code == errc::timeout);
    x.admissions.front()();
    x.settle();
    CHECK_FALSE(x.at_node.contains("a"));
  }
  x.answer("b", "done");
  CHECK(x.done("b") != nullptr);
}

TEST_CASE(
    "a node runs what it offers, for who is no observer, and nothing else") {
  cluster_scene x;
  std::vector<work::done> told;
  auto other = x.system->spawn([&](caf::event_based_actor* self) {
    self->set_default_handler(caf::drop);
    return caf::behavior{[&](const cluster::tag&, work::done& y) {
      told.push_back(std::move(y));
    }};
  });
  const bool observer = GENERATE(false, true);
  cluster::hello hello;
  hello.group = "riffle";
  hello.name = "other";
  hello.instance = "o2";
  hello.epoch = 1;
  hello.observer = observer;
  caf::send_as(other, x.node, hello);
  x.settle();
  // The node's epoch for its second link.
  const auto ask = [&](const std::string& tool, const std::string& id) {
    work::assignment what;
    what.run = run_id{"run_2"};
    what.attempt = 1;
    what.call.id = call_id{id};
    what.call.tool = tool;
    what.call.arguments = "{}";
    caf::send_as(other, x.node, cluster::tag{2, "token of " + id}, what);
    x.settle();
  };
  ask("bash", "a");
  ask("bash", "c");
  ask("look", "b");
  CHECK_FALSE(x.at_node.contains("a"));
  CHECK(x.at_node.contains("b") != observer);
  REQUIRE(told.size() == (observer ? 3 : 2));
  for (const auto& y : told) {
    CHECK(y.result.how == outcome::failed);
    REQUIRE(y.result.err);
    CHECK(y.result.err->code == errc::tool_unavailable);
    CHECK((y.result.err->message.find("does not offer `bash`") !=
           std::string::npos) != observer);
  }
  caf::anon_send_exit(other, caf::exit_reason::kill);
  x.settle();
}
