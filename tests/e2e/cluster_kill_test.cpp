// SPDX-License-Identifier: MIT
// Nodes that are killed or stopped at any moment, again and again: nothing is
// lost, nothing runs twice, and it is noticed in time.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "tests/e2e/cluster_world.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace {

const std::vector<std::string> going{"run",       "go",  "--session", "s1",
                                     "--approve", "all", "--output",  "jsonl"};

long lines_with(const std::vector<std::string>& lines, const std::string& x) {
  return std::ranges::count(lines, x);
}

std::chrono::milliseconds in_ms(steady::duration x) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(x);
}

/// From the signal until the origin says so; looked at each millisecond.
std::chrono::milliseconds until_said(const program& running,
                                     const std::string& words) {
  const auto begin = steady::now();
  while (running.err().find(words) == std::string::npos) {
    if (steady::now() - begin > 20s) return 20s;
    std::this_thread::sleep_for(1ms);
  }
  return in_ms(steady::now() - begin);
}

std::string in_words(std::vector<std::chrono::milliseconds> all) {
  std::ranges::sort(all);
  return "of " + std::to_string(all.size()) + ": median " +
         std::to_string(all[all.size() / 2].count()) + " ms, longest " +
         std::to_string(all.back().count()) + " ms";
}

/// One node of two is killed after `when`.
void kill_in_mid_run(std::chrono::milliseconds when) {
  CAPTURE(when.count());
  const node_options quick{.seconds = "0.3", .note_seconds = "0.3"};
  node_process a{"alpha", quick};
  const node_process b{"beta", quick};
  origin o{{a.address, b.address},
           {{"look", {{"what", "1"}}},
            {"look", {{"what", "2"}}},
            {"note", {{"what", "3"}}},
            {"note", {{"what", "4"}}}}};
  program running{installed_riffle(), o.folder, going};
  std::this_thread::sleep_for(when);
  a.run->signal(SIGKILL);
  const auto done = running.wait();
  INFO(done.err);
  CHECK(done.status == 0);
  const auto events = checked_events(done.out);
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 4);
  long noted = 0;
  long unknown = 0;
  for (const auto& x : results) {
    const auto& data = x.at("data");
    const auto& how = data.at("outcome");
    if (data.at("tool") == "look") {
      CHECK(how == "ok");
    } else {
      CHECK((how == "ok" || how == "interrupted"));
      ++(how == "ok" ? noted : unknown);
    }
  }
  const auto of_a = a.notes();
  const auto of_b = b.notes();
  const auto begun = lines_with(of_a, "begun") + lines_with(of_b, "begun");
  const auto ended = lines_with(of_a, "ended") + lines_with(of_b, "ended");
  CHECK(begun >= noted);
  CHECK(begun <= 2);  // each at most once
  CHECK(ended >= noted);
  CHECK(ended <= noted + unknown);
}

/// A read on alpha that beta repeats; how long until the origin knew.
std::chrono::milliseconds lose(int signal, const std::string& words) {
  // What alpha had is done before it goes on, beta's repetition is not.
  const node_process a{"alpha", node_options{.seconds = "0.5"}};
  const node_process b{"beta", node_options{.seconds = "3"}};
  origin o{{a.address, b.address}, {{"look", {{"what", "1"}}}}};
  program running{installed_riffle(), o.folder, going};
  REQUIRE(eventually(
      [&] { return running.out().find("looking") != std::string::npos; }));
  a.run->signal(signal);
  const auto took = until_said(running, words);
  if (signal == SIGSTOP) {
    a.run->signal(SIGCONT);
    // Its late result is dropped, and counted.
    CHECK(eventually([&] {
      return running.err().find("came too late") != std::string::npos ||
             running.has_ended();
    }));
  }
  const auto done = running.wait();
  INFO(done.err);
  CHECK(done.status == 0);
  const auto result = result_of(done.out);
  CHECK(result.at("outcome") == "ok");
  CHECK(result.at("output") == "seen by beta\n");
  CHECK(result.at("attempts") == 2);
  return took;
}

}  // namespace

TEST_CASE("a node that is killed at any moment costs attempts, never a run",
          "[torture]") {
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    return skip("RIFFLE_TORTURE is not set: a node's death takes its time");
  const auto seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{static_cast<std::mt19937::result_type>(seed)};
  const int times = repetitions(2, 30, 1000);
  for (int i = 0; i < times; ++i)
    kill_in_mid_run(std::chrono::milliseconds{random() % 900});
}

TEST_CASE("a dead node is noticed within a second, a hung one soon after",
          "[torture]") {
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    return skip("RIFFLE_TORTURE is not set: a node's death takes its time");
  std::vector<std::chrono::milliseconds> dead;
  std::vector<std::chrono::milliseconds> hung;
  const int times = repetitions(1, 5, 200);
  for (int i = 0; i < times; ++i) {
    dead.push_back(lose(SIGKILL, "node alpha is gone"));
    hung.push_back(lose(SIGSTOP, "fenced (epoch"));
  }
  WARN("killed, " << in_words(dead) << "; stopped, " << in_words(hung));
  CHECK(std::ranges::max(dead) <= 1s);
  CHECK(std::ranges::max(hung) <= 600ms + 1s);  // cluster.timeout and one more
}

TEST_CASE(
    "two origins share three nodes, one of which dies: nothing runs twice",
    "[torture]") {
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    return skip("RIFFLE_TORTURE is not set: a node's death takes its time");
  std::vector<std::unique_ptr<node_process>> nodes;
  for (const auto* name : {"alpha", "beta", "gamma"})
    nodes.push_back(std::make_unique<node_process>(name));
  std::vector<std::string> all;
  for (const auto& x : nodes) all.push_back(x->address);
  const auto asked = [](const std::string& who) {
    std::vector<std::pair<std::string, json>> out;
    for (int i = 0; i < 12; ++i)
      out.push_back({"mark", {{"what", who + std::to_string(i)}}});
    return out;
  };
  origin first{all, asked("first ")};
  origin second{all, asked("second "), "insecure = true\n"};
  program one{installed_riffle(), first.folder, going};
  auto words = going;
  words.insert(words.end(), {"--set", "cluster.name=other"});
  program two{installed_riffle(), second.folder, words};
  REQUIRE(eventually([&] { return !nodes[0]->folder.lines("marks").empty(); }));
  nodes[0]->run->signal(SIGKILL);
  std::map<std::string, int> marks;
  const auto check = [](program& running) {
    const auto done = running.wait();
    INFO(done.err);
    CHECK(done.status == 0);
    const auto events = checked_events(done.out);
    CHECK(of_type(events, "tool_result").size() == 12);
    return std::pair{of_type(events, "tool_call"),
                     of_type(events, "tool_result")};
  };
  const auto [calls1, results1] = check(one);
  const auto [calls2, results2] = check(two);
  for (const auto& x : nodes)
    for (const auto& line : x->folder.lines("marks")) ++marks[line];
  for (const auto& [what, times] : marks) {
    CAPTURE(what);
    CHECK(times == 1);
  }
  std::map<std::string, std::string> how;
  for (const auto* results : {&results1, &results2})
    for (const auto& x : *results)
      how[x.at("data").at("id")] = x.at("data").at("outcome");
  std::set<std::string> used;
  for (const auto* calls : {&calls1, &calls2})
    for (const auto& x : *calls) {
      const auto& data = x.at("data");
      used.insert(data.at("node").get<std::string>());
      const auto& outcome = how.at(data.at("id"));
      CHECK((outcome == "ok" || outcome == "interrupted"));
      const auto text = data.at("arguments").dump();
      CAPTURE(text);
      if (outcome == "ok") CHECK(marks[text] == 1);
    }
  CHECK(used.size() == 3);
}
