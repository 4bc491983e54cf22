// SPDX-License-Identifier: MIT
#include "actors/core/volley_schedule.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::core;
using namespace std::chrono_literals;

namespace {

constexpr task_end good{true, false, false};
constexpr task_end bad{false, false, false};
constexpr task_end passing{false, true, false};
constexpr task_end limited{false, true, true};
constexpr task_end no_room{false, false, false, true};
constexpr auto any = std::numeric_limits<std::uint32_t>::max();

std::vector<volley_task> plain(std::size_t n) {
  return std::vector<volley_task>(n);
}

/// Does what the schedule asks for, and holds it to its promises.
struct volley_world {
  volley_world(volley_limits x, std::vector<volley_task> all)
      : limits{x}, tasks{all}, schedule{x, std::move(all)} {}

  void take(const volley_effects& effects) {
    for (const auto& x : effects) {
      REQUIRE_FALSE(over);
      std::visit([this](const auto& y) { see(y); }, x);
    }
  }
  void see(const start_task& x) {
    REQUIRE_FALSE(stopped);
    REQUIRE(running.insert(x.task).second);
    REQUIRE_FALSE(ended.contains(x.task));
    REQUIRE(running.size() <= std::max(1u, limits.workers));
    REQUIRE(x.attempt == ++attempts[x.task]);
    REQUIRE(x.attempt <= std::max(1u, limits.retries.max_attempts));
    const auto& chain = tasks[x.task].chain;
    if (chain.empty()) return;
    for (std::size_t i = 0; i < x.task; ++i)
      if (tasks[i].chain == chain && !tasks[i].ended)
        REQUIRE(ended.contains(i));
  }
  void see(const cancel_task& x) {
    stopped = true;
    REQUIRE(running.contains(x.task));
    REQUIRE(cancelled.insert(x.task).second);
  }
  void see(const task_over& x) {
    REQUIRE_FALSE(running.contains(x.task));
    REQUIRE(ended.insert(x.task).second);
    REQUIRE(x.ran == (attempts[x.task] > 0));
    if (x.left) left.insert(x.task);
  }
  void see(const volley_over&) {
    over = true;
    REQUIRE(running.empty());
    for (std::size_t i = 0; i < tasks.size(); ++i)
      REQUIRE((tasks[i].ended || ended.contains(i)));
  }
  void end(std::size_t task, const task_end& how) {
    running.erase(task);
    if (how.no_room) --attempts[task];
    take(schedule.on_end(task, how, now, 0.5));
  }

  volley_limits limits;
  std::vector<volley_task> tasks;
  volley_schedule schedule;
  time_point now = time_point{} + 1h;
  std::set<std::size_t> running, ended, cancelled, left;
  std::map<std::size_t, std::uint32_t> attempts;
  bool over = false;
  bool stopped = false;
};

}  // namespace

TEST_CASE("as many tasks run as there are workers, in their order") {
  volley_world x{{.workers = 2}, plain(4)};
  x.take(x.schedule.begin(x.now));
  CHECK(x.running == std::set<std::size_t>{0, 1});
  x.end(1, good);
  CHECK(x.running == std::set<std::size_t>{0, 2});
  x.end(0, bad);
  x.end(2, good);
  CHECK_FALSE(x.over);
  x.end(3, good);
  CHECK(x.over);
}

TEST_CASE("a volley without tasks, or with none left, is over at once") {
  volley_world none{{}, {}};
  none.take(none.schedule.begin(none.now));
  CHECK(none.over);
  volley_world done{{}, {{.attempts = 1, .ended = true}}};
  done.take(done.schedule.begin(done.now));
  CHECK(done.over);
}

TEST_CASE("what may pass is tried again after a pause, without a worker") {
  volley_world x{{.workers = 1, .retries = {3, 2s, 60s}}, plain(2)};
  x.take(x.schedule.begin(x.now));
  x.end(0, passing);
  CHECK(x.running == std::set<std::size_t>{1});
  REQUIRE(x.schedule.wake());
  CHECK(*x.schedule.wake() > x.now);
  x.end(1, good);
  CHECK(x.running.empty());
  CHECK_FALSE(x.over);
  x.take(x.schedule.on_time(*x.schedule.wake() - 1ns));
  CHECK(x.running.empty());
  x.now = *x.schedule.wake();
  x.take(x.schedule.on_time(x.now));
  CHECK(x.running == std::set<std::size_t>{0});
  x.end(0, bad);  // this will not pass
  CHECK(x.over);
  CHECK(x.attempts[0] == 2);
}

TEST_CASE("runs of a task before count, and no more than allowed are begun") {
  volley_world x{{.retries = {3, 1s, 1s}}, {{.attempts = 1}}};
  x.attempts[0] = 1;
  x.take(x.schedule.begin(x.now));
  x.end(0, passing);
  x.now = *x.schedule.wake();
  x.take(x.schedule.on_time(x.now));
  CHECK(x.attempts[0] == 3);
  x.end(0, passing);
  CHECK(x.over);
}

TEST_CASE("tasks of one session run one after the other") {
  volley_world x{{.workers = 4, .retries = {2, 1s, 1s}},
                 {{.chain = "a"}, {.chain = "a"}, {.chain = "b"}, {}}};
  x.take(x.schedule.begin(x.now));
  CHECK(x.running == std::set<std::size_t>{0, 2, 3});
  x.end(0, passing);
  CHECK(x.running == std::set<std::size_t>{2, 3});
  x.now = *x.schedule.wake();
  x.take(x.schedule.on_time(x.now));
  x.end(0, good);
  CHECK(x.running == std::set<std::size_t>{1, 2, 3});
}

TEST_CASE("a failure ends the others, where that is wanted") {
  volley_world x{{.workers = 2, .retries = {2, 1s, 1s}, .fail_fast = true},
                 plain(5)};
  x.take(x.schedule.begin(x.now));
  x.end(0, passing);  // not yet
  CHECK(x.cancelled.empty());
  x.end(1, bad);
  CHECK(x.cancelled == std::set<std::size_t>{2});
  CHECK(x.ended == std::set<std::size_t>{0, 1, 3, 4});
  CHECK_FALSE(x.over);
  x.end(2, bad);
  CHECK(x.over);
}

TEST_CASE("a cancelled volley begins nothing and waits for what runs") {
  volley_world x{{.workers = 2, .retries = {5, 1s, 1s}}, plain(4)};
  x.take(x.schedule.begin(x.now));
  x.take(x.schedule.cancel());
  x.take(x.schedule.cancel());
  CHECK(x.cancelled == std::set<std::size_t>{0, 1});
  CHECK(x.ended == std::set<std::size_t>{2, 3});
  x.end(0, passing);
  x.end(1, good);
  CHECK(x.over);
}

TEST_CASE("what a cancelled volley would have run again is left, not failed") {
  const bool by_a_failure = GENERATE(false, true);
  volley_world x{
      {.workers = 2, .retries = {2, 1s, 1s}, .fail_fast = by_a_failure},
      plain(4)};
  x.take(x.schedule.begin(x.now));
  x.end(0, passing);  // waits for its second run
  REQUIRE(x.running == std::set<std::size_t>{1, 2});
  if (by_a_failure) {
    x.end(1, bad);
    x.end(2, good);
    CHECK(x.left.empty());
  } else {
    x.take(x.schedule.cancel());
    x.end(1, passing);  // by itself, at this moment
    x.end(2, bad);
    CHECK(x.left == std::set<std::size_t>{0, 1});
  }
  CHECK(x.over);
}

TEST_CASE("fewer run while the provider refuses, more when tasks complete") {
  volley_world x{{.workers = 8, .retries = {9, 1ms, 1ms}}, plain(64)};
  x.take(x.schedule.begin(x.now));
  CHECK(x.running.size() == 8);
  x.end(*x.running.begin(), limited);
  CHECK(x.schedule.capacity() == 4);
  CHECK(x.running.size() == 7);
  while (x.running.size() > 4) x.end(*x.running.begin(), limited);
  CHECK(x.schedule.capacity() == 1);
  x.end(*x.running.begin(), good);
  CHECK(x.schedule.capacity() == 2);
  for (int i = 0; i < 12; ++i) x.end(*x.running.begin(), good);
  CHECK(x.schedule.capacity() == 8);
  CHECK(x.running.size() == 8);
}

TEST_CASE("no more tasks are tried than the process has room for") {
  volley_world x{{.workers = 4}, plain(6)};
  x.take(x.schedule.begin(x.now));
  x.end(2, no_room);
  x.end(3, no_room);
  CHECK(x.running == std::set<std::size_t>{0, 1});
  x.end(0, good);  // and the others have kept their turn
  CHECK(x.running == std::set<std::size_t>{1, 2});
  REQUIRE(x.schedule.wake() == x.now + 1s);
  x.now += 1s;
  x.take(x.schedule.on_time(x.now));
  CHECK(x.running == std::set<std::size_t>{1, 2, 3, 4});
  CHECK(x.attempts[3] == 1);
  CHECK_FALSE(x.schedule.wake());
}

TEST_CASE("a volley without any room waits for it, and can be cancelled") {
  volley_world x{{.workers = 2}, plain(2)};
  x.take(x.schedule.begin(x.now));
  x.end(0, no_room);
  x.end(1, no_room);
  CHECK(x.running.empty());
  x.now = *x.schedule.wake();
  x.take(x.schedule.on_time(x.now));
  CHECK(x.running == std::set<std::size_t>{0});
  x.take(x.schedule.cancel());
  x.end(0, no_room);
  CHECK(x.over);
}

TEST_CASE("any volley keeps its promises") {
  std::mt19937_64 random{riffle::testing::fresh_seed()};
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int round = 0; round < 2'000; ++round) {
    volley_limits limits;
    limits.workers = static_cast<std::uint32_t>(below(5));
    limits.retries = {static_cast<std::uint32_t>(below(4)), 1s, 4s};
    limits.fail_fast = below(4) == 0;
    std::vector<volley_task> tasks(below(12));
    for (auto& x : tasks) {
      if (below(2) == 0) x.chain = std::string(1, "abc"[below(3)]);
      x.ended = below(5) == 0;
    }
    volley_world x{limits, tasks};
    x.take(x.schedule.begin(x.now));
    for (int steps = 0; !x.over; ++steps) {
      REQUIRE(steps < 1'000);
      if (below(40) == 0) {
        x.take(x.schedule.cancel());
        x.stopped = true;
        continue;
      }
      const bool waits = x.schedule.wake() && (x.running.empty() || below(2));
      if (waits) {
        x.now = *x.schedule.wake();
        x.take(x.schedule.on_time(x.now));
        continue;
      }
      REQUIRE_FALSE(x.running.empty());
      auto one = x.running.begin();
      std::advance(one, static_cast<long>(below(x.running.size())));
      const task_end all[] = {good, bad, passing, limited, no_room};
      x.end(*one, all[below(5)]);
    }
  }
}

TEST_CASE("ten thousand tasks are scheduled in their order") {
  constexpr std::size_t many = 10'000;
  std::vector<volley_task> tasks(many);
  for (std::size_t i = 0; i < many; i += 2) tasks[i].chain = "one";
  volley_world x{{.workers = 50}, {}};
  volley_schedule schedule{{.workers = 50}, tasks};
  std::deque<std::size_t> running;
  std::size_t ended = 0;
  bool over = false;
  const auto take = [&](const volley_effects& all) {
    for (const auto& e : all) {
      if (const auto* s = std::get_if<start_task>(&e))
        running.push_back(s->task);
      ended += std::holds_alternative<task_over>(e);
      over = over || std::holds_alternative<volley_over>(e);
    }
  };
  take(schedule.begin(x.now));
  while (!running.empty()) {
    const auto task = running.front();
    running.pop_front();
    take(schedule.on_end(task, good, x.now, 0));
  }
  CHECK(ended == many);
  CHECK(over);
}

TEST_CASE("no more run than the rate limiter lets through, down and up") {
  volley_world x{{.workers = 4}, plain(12)};
  x.take(x.schedule.begin(x.now));
  REQUIRE(x.running.size() == 4);
  x.take(x.schedule.on_capacity("", 1));
  CHECK(x.schedule.capacity() == 1);
  for (int i = 0; i < 3; ++i) x.end(*x.running.begin(), good);
  CHECK(x.running.size() == 1);
  x.take(x.schedule.on_capacity("", 3));  // as soon as there is room
  CHECK(x.running.size() == 3);
  x.take(x.schedule.on_capacity("", 9));  // never more than workers
  CHECK(x.running.size() == 4);
  x.take(x.schedule.on_capacity("", 2));
  x.take(x.schedule.on_capacity("", any));
  CHECK(x.schedule.capacity() == 4);
}

TEST_CASE("while the rate limiter lets nothing through no task begins") {
  volley_world x{{.workers = 4}, plain(3)};
  x.take(x.schedule.on_capacity("", 0));
  x.take(x.schedule.begin(x.now));
  CHECK(x.running.empty());
  CHECK_FALSE(x.schedule.wake());  // it is told
  x.take(x.schedule.on_capacity("", 2));
  CHECK(x.running == std::set<std::size_t>{0, 1});
  x.take(x.schedule.on_capacity("", 0));
  x.end(0, good);
  CHECK(x.running == std::set<std::size_t>{1});  // what runs goes on
  x.take(x.schedule.on_capacity("", any));
  CHECK(x.running == std::set<std::size_t>{1, 2});
}

TEST_CASE("a model that refuses holds up its own tasks alone") {
  auto all = plain(12);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].model = i % 2 == 0 ? "slow" : "fast";
  volley_world x{{.workers = 4}, all};
  x.take(x.schedule.on_capacity("slow", 1));
  x.take(x.schedule.on_capacity("unknown", 1));
  x.take(x.schedule.begin(x.now));
  CHECK(x.running == std::set<std::size_t>{0, 1, 3, 5});  // 2 is overtaken
  x.end(1, limited);
  CHECK(x.schedule.capacity("fast") == 2);
  CHECK(x.schedule.capacity("slow") == 1);
  x.end(0, good);
  CHECK(x.running == std::set<std::size_t>{2, 3, 5});
  x.take(x.schedule.on_capacity("slow", any));
  CHECK(x.running == std::set<std::size_t>{2, 3, 4, 5});
  while (!x.running.empty()) x.end(*x.running.begin(), good);
  CHECK_FALSE(x.over);  // the refused one waits for its pause
  x.now = *x.schedule.wake();
  x.take(x.schedule.on_time(x.now));
  x.end(1, good);
  CHECK(x.over);
}

TEST_CASE("nothing begins before the limits of all models are known") {
  auto tasks = plain(3);
  tasks[0].model = tasks[2].model = "slow";
  volley_schedule schedule{{.workers = 3}, tasks};
  CHECK(schedule.on_capacity("", 8).empty());
  CHECK(schedule.on_capacity("slow", 1).empty());
  CHECK(schedule.begin(time_point{}) ==
        volley_effects{start_task{0, 1}, start_task{1, 1}});
}
