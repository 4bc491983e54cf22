// SPDX-License-Identifier: MIT
// Nodes that are killed or stopped at any moment, again and again: nothing is
// lost, nothing runs twice, and it is noticed in time.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
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

std::string in_words(std::vector<std::chrono::milliseconds> all) {
  std::ranges::sort(all);
  return "of " + std::to_string(all.size()) + ": median " +
         std::to_string(all[all.size() / 2].count()) + " ms, p99 " +
         std::to_string(all[all.size() * 99 / 100].count()) + " ms, longest " +
         std::to_string(all.back().count()) + " ms";
}

std::chrono::milliseconds p99(std::vector<std::chrono::milliseconds> all) {
  std::ranges::sort(all);
  return all[all.size() * 99 / 100];
}

/// A run of an origin on two nodes. Most of its time it waits, so several are
/// there at once.
struct world {
  world(const node_options& of_alpha, const node_options& of_beta,
        const std::vector<std::pair<std::string, json>>& asked)
      : a{"alpha", of_alpha},
        b{"beta", of_beta},
        o{{a.address, b.address}, asked} {}
  void start() {
    auto words = going;
    // Late answers are no warnings.
    words.insert(words.end(), {"--set", "runtime.log.level=info"});
    running.emplace(installed_riffle(), o.folder, words);
  }
  [[nodiscard]] bool has_begun() const {
    return running->out().find("looking") != std::string::npos ||
           running->has_ended();
  }
  /// What its end was; the checks are the caller's.
  finished wait() { return running->wait(); }

  node_process a;
  node_process b;
  origin o;
  std::optional<program> running;
};

constexpr int at_once = 4;

/// Each `step` is asked again until it is done, in turns.
void until_done(std::vector<std::function<bool()>> steps) {
  const auto limit = steady::now() + 60s;
  while (!steps.empty() && steady::now() < limit) {
    std::erase_if(steps, [](auto& step) { return step(); });
    std::this_thread::sleep_for(1ms);
  }
  CHECK(steps.empty());
}

/// Whether its node was killed in the life of a call, which is so if one was
/// repeated or ended unknown.
bool check_killed(world& x) {
  const auto done = x.wait();
  INFO(done.err);
  CHECK(done.status == 0);
  const auto events = checked_events(done.out);
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 4);
  long noted = 0;
  long unknown = 0;
  bool hit = false;
  for (const auto& one : results) {
    const auto& data = one.at("data");
    const auto& how = data.at("outcome");
    hit = hit || how != "ok" || data.at("attempts") != 1;
    if (data.at("tool") == "look") {
      CHECK(how == "ok");
    } else {
      CHECK((how == "ok" || how == "interrupted"));
      ++(how == "ok" ? noted : unknown);
    }
  }
  auto asked = x.a.folder.lines("asked");
  for (const auto& line : x.b.folder.lines("asked")) asked.push_back(line);
  const std::set<std::string> different{asked.begin(), asked.end()};
  CHECK(different.size() == asked.size());  // none twice
  CHECK(static_cast<long>(asked.size()) >= noted);
  const auto ended =
      lines_with(x.a.notes(), "ended") + lines_with(x.b.notes(), "ended");
  CHECK(ended >= noted);
  CHECK(ended <= noted + unknown);
  return hit;
}

/// In each of some runs one node of two is killed so long after a call was seen
/// to run. How many were hit in mid call.
long kill_in_mid_run(const std::vector<std::chrono::milliseconds>& when) {
  const node_options quick{.seconds = "0.3", .note_seconds = "0.3"};
  std::vector<std::unique_ptr<world>> all;
  for (std::size_t i = 0; i < when.size(); ++i)
    all.push_back(std::make_unique<world>(
        quick, quick,
        std::vector<std::pair<std::string, json>>{{"look", {{"what", "1"}}},
                                                  {"look", {{"what", "2"}}},
                                                  {"note", {{"what", "3"}}},
                                                  {"note", {{"what", "4"}}}}));
  std::vector<std::function<bool()>> steps;
  for (std::size_t i = 0; i < when.size(); ++i) {
    all[i]->start();
    steps.push_back([&x = *all[i], after = when[i],
                     at = steady::time_point::max()]() mutable {
      if (at == steady::time_point::max() && x.has_begun())
        at = steady::now() + after;
      if (steady::now() < at) return false;
      x.a.run->signal(SIGKILL);
      return true;
    });
  }
  until_done(std::move(steps));
  long hit = 0;
  for (std::size_t i = 0; i < when.size(); ++i) {
    CAPTURE(when[i].count());
    if (check_killed(*all[i])) ++hit;
  }
  return hit;
}

/// A read on alpha that beta repeats; how long until the origin knew.
struct loss {
  explicit loss(int with) : signal{with} { at.start(); }
  /// True: the origin has said it. Looked at each millisecond.
  bool step() {
    if (!sent && at.has_begun()) {
      at.a.run->signal(signal);
      sent = steady::now();
    }
    if (!sent || at.running->err().find(signal == SIGKILL ? "node alpha is gone"
                                                          : "fenced (epoch") ==
                     std::string::npos)
      return false;
    took = in_ms(steady::now() - *sent);
    if (signal == SIGSTOP) at.a.run->signal(SIGCONT);
    return true;
  }
  void check() {
    const auto done = at.wait();
    INFO(done.err);
    CHECK(done.status == 0);
    // The late result of one that goes on is dropped, and counted.
    CHECK((done.err.find("came too late") != std::string::npos) ==
          (signal == SIGSTOP));
    const auto result = result_of(done.out);
    CHECK(result.at("outcome") == "ok");
    CHECK(result.at("output") == "seen by beta\n");
    CHECK(result.at("attempts") == 2);
  }

  const int signal;
  // Alpha ends its part when it goes on, while beta repeats it.
  world at{node_options{.seconds = "3"},
           node_options{.seconds = "3"},
           {{"look", {{"what", "1"}}}}};
  std::optional<steady::time_point> sent;
  std::chrono::milliseconds took{};
};

}  // namespace

TEST_CASE("a node that is killed at any moment costs attempts, never a run",
          "[torture]") {
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    return skip("RIFFLE_TORTURE is not set: a node's death takes its time");
  const auto seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{static_cast<std::mt19937::result_type>(seed)};
  const int times = repetitions(2, 30, 1000);
  long hit = 0;
  for (int done = 0; done < times; done += at_once) {
    std::vector<std::chrono::milliseconds> when(
        static_cast<std::size_t>(std::min(at_once, times - done)));
    for (auto& x : when) x = std::chrono::milliseconds{random() % 350};
    hit += kill_in_mid_run(when);
  }
  WARN("of " << times << " kills " << hit << " were in the life of a call");
  CHECK(hit > 0);
}

TEST_CASE("a dead node is noticed within a second, a hung one soon after",
          "[torture]") {
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    return skip("RIFFLE_TORTURE is not set: a node's death takes its time");
  std::vector<std::chrono::milliseconds> dead;
  std::vector<std::chrono::milliseconds> hung;
  const int times = repetitions(1, 5, 200);
  for (int i = 0; i < times; i += 2) {
    std::vector<std::unique_ptr<loss>> all;
    for (int k = i; k < std::min(times, i + 2); ++k)
      for (const int with : {SIGKILL, SIGSTOP})
        all.push_back(std::make_unique<loss>(with));
    std::vector<std::function<bool()>> steps;
    for (const auto& x : all)
      steps.push_back([one = x.get()] { return one->step(); });
    until_done(std::move(steps));
    for (const auto& x : all) {
      x->check();
      (x->signal == SIGKILL ? dead : hung).push_back(x->took);
    }
  }
  WARN("killed, " << in_words(dead) << "; stopped, " << in_words(hung));
  CHECK(p99(dead) <= 1s);
  CHECK(p99(hung) <= 600ms + 1s);  // cluster.timeout and one more
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
