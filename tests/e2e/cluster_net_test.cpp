// SPDX-License-Identifier: MIT
// Nodes behind networks that swallow, hold or lose what they say.
#include <csignal>

#include "tests/e2e/cluster_world.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/tcp_proxy.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using way = tcp_proxy::way;
using line = tcp_proxy::line;

namespace {

const std::vector<std::string> noting{"run",       "go",  "--session", "s1",
                                      "--approve", "all", "--output",  "jsonl"};

/// How many commands of `note` lived when its result came to the model; -1: it
/// never did.
struct at_settlement {
  const node_process& node;
  int alive = -1;
  std::function<void()> look = [this] {
    alive = static_cast<int>(node.noting().size());
  };
};

}  // namespace

TEST_CASE("a peer that swallows packets keeps no program from its end") {
  const black_hole hole;
  const node_process a{"alpha"};
  origin o{{hole.address(), a.address}, {{"look", {{"what", "1"}}}}};
  SECTION("a run that has finished") {
    program running{installed_riffle(), o.folder, noting};
    const auto done = running.wait(20s);
    INFO(done.err);
    CHECK(done.status == 0);
    CHECK(result_of(done.out).at("outcome") == "ok");
  }
  SECTION("a node that is told to end") {
    node_process b{"beta", "", "0.2",
                   "insecure = true\njoin = [\"" + hole.address() + "\"]\n"};
    b.run->signal(SIGTERM);
    CHECK(b.run->wait(20s).status == 0);
  }
}

TEST_CASE("half of a link: what changes something ends before it is settled") {
  // The node hears its origin, and is not heard.
  const node_process a{"alpha"};
  tcp_proxy between{a.address};
  at_settlement seen{a};
  origin o{{between.address()},
           {{"note", {{"what", "1"}}}},
           "insecure = true\n",
           seen.look};
  program running{installed_riffle(), o.folder, noting};
  REQUIRE(eventually([&] { return a.notes().size() == 1; }));
  between.set(way::back, line::swallows);
  const auto done = running.wait();
  INFO(done.err);
  CHECK(result_of(done.out).at("outcome") == "interrupted");
  CHECK(seen.alive == 0);
  CHECK(a.notes() == std::vector<std::string>{"begun"});
}

TEST_CASE("half of a link, the other way: its node ends what it runs") {
  // The origin hears the node, and is not heard.
  const node_process a{"alpha"};
  tcp_proxy between{a.address};
  at_settlement seen{a};
  origin o{{between.address()},
           {{"note", {{"what", "1"}}}},
           "insecure = true\n",
           seen.look};
  program running{installed_riffle(), o.folder, noting};
  REQUIRE(eventually([&] { return a.notes().size() == 1; }));
  between.set(way::there, line::swallows);
  const auto done = running.wait();
  INFO(done.err);
  CHECK(result_of(done.out).at("success") == false);
  CHECK(seen.alive == 0);
  CHECK(a.notes() == std::vector<std::string>{"begun"});
}

TEST_CASE(
    "a link that is late by seconds loses its call, and nothing acts on") {
  const node_process a{"alpha"};
  tcp_proxy between{a.address};
  at_settlement seen{a};
  origin o{{between.address()},
           {{"note", {{"what", "1"}}}},
           "insecure = true\n",
           seen.look};
  program running{installed_riffle(), o.folder, noting};
  REQUIRE(eventually([&] { return a.notes().size() == 1; }));
  between.delay(1500ms);
  const auto done = running.wait();
  INFO(done.err);
  CHECK(result_of(done.out).at("outcome") == "interrupted");
  CHECK(seen.alive == 0);
  CHECK(a.notes() == std::vector<std::string>{"begun"});
}

TEST_CASE("a slow link carries a long output, and what is said beside it") {
  // Slow is not silent, also on a machine that is busy.
  const std::vector<std::string> patient{"--set", "cluster.timeout=3s", "--set",
                                         "cluster.orphan_after=5s"};
  auto words = patient;
  words.insert(words.end(), {"--set",
                             "tools.long.command=[\"sh\",\"-c\","
                             "\"read x; seq 1 800000\"]"});
  const node_process a{"alpha", node_options{.words = words}};
  tcp_proxy between{a.address};
  between.throttle(5u << 20);
  origin o{{between.address()},
           {{"long", json::object()}, {"look", {{"what", "1"}}}}};
  const auto done = o.go(patient);
  INFO(done.err);
  CHECK(done.status == 0);
  const auto results = of_type(checked_events(done.out), "tool_result");
  REQUIRE(results.size() == 2);
  for (const auto& x : results) CHECK(x.at("data").at("outcome") == "ok");
  CHECK(done.err.find("fenced") == std::string::npos);
  // Sixteen pieces of 128 KiB at the most, and what comes beside them; the
  // output has 5 MB.
  CHECK(between.most_waiting() > 128u << 10);
  CHECK(between.most_waiting() < 2304u << 10);
}

TEST_CASE("a node with longer times than its origin obeys the shorter ones") {
  const node_process a{"alpha",
                       "",
                       "0.2",
                       "insecure = true\n",
                       {"--set", "cluster.orphan_after=60s"}};
  at_settlement seen{a};
  origin o{
      {a.address}, {{"note", {{"what", "1"}}}}, "insecure = true\n", seen.look};
  program running{installed_riffle(), o.folder, noting};
  REQUIRE(eventually([&] { return a.notes().size() == 1; }));
  a.run->signal(SIGSTOP);
  const auto done = running.wait();
  a.run->signal(SIGCONT);
  INFO(done.err);
  CHECK(result_of(done.out).at("outcome") == "interrupted");
  CHECK(seen.alive == 0);
}

TEST_CASE("a node whose calls would outlive their settlement is no node") {
  const node_process a{"alpha",
                       "",
                       "0.2",
                       "insecure = true\n",
                       {"--set", "tools.kill_grace=30s"}};
  origin o{{a.address}, {{"look", {{"what", "1"}}}}};
  const auto done = o.go({"--set", "cluster.join_timeout=300ms"});
  CHECK(result_of(done.out).at("error").at("code") == "tool_unavailable");
  CHECK(done.err.find("kill_grace") != std::string::npos);
}

TEST_CASE(
    "twins of CAF's id, in namespaces with equal numbers, work together") {
  const work_folder probe;
  program can{"/usr/bin/unshare", probe, {"-rpfm", "--mount-proc", "true"}};
  if (can.wait().status != 0) return skip("no namespaces of processes here");
  const std::vector<std::string> own_numbers{
      "-rpfm", "--mount-proc", "--kill-child", installed_riffle().string()};
  const node_process a{"alpha", "",         "0.2", "insecure = true\n",
                       {},      own_numbers};
  origin o{{a.address}, {{"look", {{"what", "1"}}}}};
  auto words = own_numbers;
  words.insert(words.end(), noting.begin(), noting.end());
  program running{"/usr/bin/unshare", o.folder, words};
  const auto done = running.wait();
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(result_of(done.out).at("output") == "seen by alpha\n");
}

TEST_CASE("two that dial each other at the same moment join once") {
  const auto at_a = free_address();
  const auto at_b = free_address();
  tcp_proxy to_a{at_a};
  tcp_proxy to_b{at_b};
  // What the listening sides say first waits, until both have dialled.
  for (auto* x : {&to_a, &to_b}) x->set(way::back, line::holds);
  const auto listening = [](const std::string& at, const tcp_proxy& other) {
    return node_options{
        .words = {"--set", "cluster.listen=" + at, "--set",
                  "cluster.join=[\"" + other.address() + "\"]"}};
  };
  const node_process a{"alpha", listening(at_a, to_b)};
  const node_process b{"beta", listening(at_b, to_a)};
  REQUIRE(eventually(
      [&] { return to_a.connections() > 0 && to_b.connections() > 0; }));
  for (auto* x : {&to_a, &to_b}) x->set(way::back, line::passes);
  const auto joined = [](const node_process& x, const std::string& who) {
    return x.run->err().find("node " + who + " has joined") !=
           std::string::npos;
  };
  CHECK(
      eventually([&] { return joined(a, "beta") && joined(b, "alpha"); }, 6s));
  // One link, and it stays.
  REQUIRE(eventually(
      [&] { return to_a.connections() + to_b.connections() == 1; }, 6s));
  origin o{{a.address, b.address}, {{"look", {{"what", "1"}}}}};
  CHECK(result_of(o.go().out).at("outcome") == "ok");
  INFO(a.run->err() << b.run->err());
  const auto text = a.run->err();
  const auto last = text.rfind("node beta ");
  REQUIRE(last != std::string::npos);
  CHECK(text.compare(last, 20, "node beta has joined") == 0);
}
