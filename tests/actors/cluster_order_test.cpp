// SPDX-License-Identifier: MIT
// In what order an origin hears of a call of a node; how often it asks one that
// refuses it; and what is told of nodes that leave, and of tools that fail.
#include <set>
#include <sstream>
#include <utility>

#include "actors/core/circuit_breaker.hpp"
#include "tests/actors/cluster_scene.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

struct short_output final : output_stream {
  std::string next(std::size_t) override {
    return std::exchange(read_, true) ? "" : "whole";
  }
  bool read_ = false;
};

}  // namespace

TEST_CASE("reports of a call keep their order, and come before its result") {
  cluster_scene x;
  x.give("a");
  const auto& there = x.at_node.at("a");
  // All in one go, also over a line where they have to wait.
  const bool held = GENERATE(false, true);
  if (held) x.set_line_back(line_state::held);
  caf::anon_send(there.who.dispatcher, work::started{{"a"}, 1});
  for (const std::uint64_t n : {1, 2, 3})
    caf::anon_send(
        there.who.muxer,
        work::progress{{"a"}, 1, n, "look", {.message = std::to_string(n)}});
  work::done done{{"a"}, 1};
  done.result.output = "seen";
  done.last_progress = 3;
  caf::anon_send(there.who.dispatcher, std::move(done));
  x.settle();
  if (held) x.set_line_back(line_state::open);
  REQUIRE(x.reports.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(x.reports[i].number == i + 1);
    CHECK(x.reports[i].report.message == std::to_string(i + 1));
  }
  REQUIRE(x.done("a"));
  CHECK(x.done("a")->last_progress == 3);
}

namespace {

/// Greets whoever greets it, and refuses him then; or lets him in.
caf::behavior door(caf::event_based_actor* self, const bool* open) {
  self->set_default_handler(caf::drop);
  return {
      [=](const cluster::hello&) {
        const auto to = caf::actor_cast<caf::actor>(self->current_sender());
        cluster::hello me;
        me.group = "riffle";
        me.name = "alpha";
        me.instance = "n2";
        me.epoch = 7;
        self->send(to, me);
        if (!*open) self->send(to, cluster::refusal{"it has a twin"});
      },
      [](const cluster::ping& x) { return cluster::pong{x.number, {}}; },
  };
}

}  // namespace

TEST_CASE(
    "who is refused behind each greeting comes back less and less often") {
  const log_lines log{"info"};
  bool open = false;
  cluster_scene x;
  const auto before = x.line_to_node;
  x.line_to_node = x.system->spawn(door, &open);
  const auto begun = x.dials;
  caf::anon_send_exit(before, caf::exit_reason::kill);
  x.pass(60s);
  INFO(log.text());
  CHECK(x.dials - begun > 5);
  CHECK(x.dials - begun < 40);  // of 300, were it at once
  CHECK(log.with("refuses this process: it has a twin").size() == 1);
  CHECK(log.with("node alpha has joined").size() == 2);
  CHECK(log.with("node alpha is gone").size() == 1);
  open = true;
  x.pass(20s);
  CHECK(x.nodes.at(0).state == "up");
  CHECK(log.with("node alpha stays").size() == 1);
}

TEST_CASE("a twin that comes again and again is told of once") {
  const log_lines log{"info"};
  cluster_scene x;
  for (int i = 0; i < 3; ++i) {
    auto twin = x.system->spawn([](caf::event_based_actor*) -> caf::behavior {
      return {[](const cluster::refusal&) {}};
    });
    cluster::hello who;
    who.group = "riffle";
    who.name = "alpha";
    who.instance = "another";
    caf::send_as(twin, x.origin, who);
    cluster::offers has;
    has.tools.push_back({});
    has.tools.back().name = "look";
    caf::send_as(twin, x.origin, has);
    x.settle();
    caf::anon_send_exit(twin, caf::exit_reason::kill);
    x.settle();
  }
  INFO(log.text());
  CHECK(log.with("is refused: another process is called `alpha`").size() == 1);
  CHECK(log.with("has joined").size() == 3);  // of each other, and the twin
}

TEST_CASE("who says that it ends has left, and is not lost") {
  const bool says_so = GENERATE(true, false);
  const log_lines log{"info"};
  cluster_scene x;
  caf::anon_send_exit(x.line_to_node, says_so ? caf::exit_reason::user_shutdown
                                              : caf::exit_reason::kill);
  x.settle();
  INFO(log.text());
  CHECK(log.with("node alpha has left").empty() != says_so);
  CHECK(log.with("node alpha is gone").empty() == says_so);
}

TEST_CASE("a node says which of its tools is out of service") {
  cluster_scene x;
  const auto places = [&] {
    x.pass(1s);
    return x.nodes.at(0).loads.at(0).places;
  };
  CHECK(places() == 2);
  x.give("a");
  work::done refused{{"a"}, 1};
  refused.result.how = outcome::failed;
  refused.result.err = error{errc::tool_unavailable, core::circuit_breaker::op,
                             "it crashed too often", true};
  refused.last_progress = 0;
  caf::anon_send(x.at_node.at("a").who.dispatcher, refused);
  CHECK(places() == 0);
  x.give("b");
  caf::anon_send(x.at_node.at("b").who.dispatcher, work::started{{"b"}, 1});
  CHECK(places() == 2);
}

TEST_CASE("gates send what is frozen, and nothing else") {
  cluster_scene x;
  const auto at = [&](const char* id) { return x.at_node.at(id).who; };
  x.give("a");
  caf::anon_send(at("a").dispatcher, work::started{{"a"}, 1});
  caf::anon_send(at("a").muxer,
                 work::progress{{"a"}, 1, 1, "look", {.message = "half"}});
  x.settle();
  x.stop("a");
  x.output = std::make_shared<short_output>();
  x.answer("a", "seen");
  x.give("b");
  caf::anon_send(at("b").dispatcher, work::lost{{"b"}, 1, "broke"});
  x.settle();
  caf::send_as(x.line_to_origin, x.node, cluster::ask_status{});
  caf::send_as(x.line_to_origin, x.node, cluster::ask_drain{});
  x.pass(1s);
  x.set_line(line_state::held);
  x.pass(4s);
  x.set_line(line_state::open);
  x.pass(1s);
  const cluster_scene other{"another group"};  // is refused
  x.crossed.insert(other.crossed.begin(), other.crossed.end());
  std::set<std::string> frozen;
  std::istringstream in{frozen_messages()};
  for (std::string line; std::getline(in, line);) frozen.insert(line);
  for (const auto& types : x.crossed) {
    CAPTURE(types);
    CHECK(frozen.erase(types) == 1);
  }
  // Observers alone say these two.
  CHECK(frozen == std::set<std::string>{"riffle::cluster::ask_drain",
                                        "riffle::cluster::ask_status"});
}
