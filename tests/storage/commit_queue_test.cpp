// SPDX-License-Identifier: MIT
// The writer's thread: calls of completions, what runs around them, and when
// units gather.
#include "runtime/storage/commit_queue.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "runtime/storage/commit_gatherer.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using storage::commit_gatherer;
using storage::commit_queue;

storage::commit_unit unit(const std::string& run, std::uint64_t seq) {
  return {{run}, make_block(run, seq, seq), {}};
}

/// After `count` units of `runs` runs in turn, `apart` from each other.
duration wait_after(std::size_t count, duration apart, std::size_t runs,
                    std::size_t events = 1) {
  commit_gatherer g;
  time_point now{1s};
  for (std::size_t i = 0; i < count; ++i) {
    g.on_unit("run_" + std::to_string(i % runs), events);
    g.on_commit(now += apart);
  }
  return g.wait();
}

}  // namespace

TEST_CASE("a completion that waits for the journal is served in its place") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
  REQUIRE(journal->open_run(make_run("ses_2", "run_2")));
  std::vector<std::uint64_t> order;
  std::optional<std::uint64_t> seen;
  std::promise<void> over;
  for (std::uint64_t seq = 1; seq <= 50; ++seq)
    journal->append(unit("run_1", seq), [&, seq](auto failure) {
      if (failure) return;
      order.push_back(seq);
      if (seq == 2) {
        // More than is stored yet, of which this call has to come after.
        journal->append(unit("run_2", 1), [](auto) {});
        journal->append(unit("run_2", 2), [](auto) {});
        seen = journal->adopt_run({"run_2"})->last_seq;
      }
      if (seq == 50) over.set_value();
    });
  REQUIRE(over.get_future().wait_for(scaled(20s)) == std::future_status::ready);
  CHECK(seen == 2);
  REQUIRE(order.size() == 50);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("a completion may decide, delete and set what a session keeps") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  const auto run = journal->open_run(make_run("ses_1", "run_1"))->run;
  std::promise<bool> answer;
  journal->append(
      {run.id, make_block("run_1", 1, 1), {make_proposal(run, "prop_1")}},
      [&](auto) {
        const auto said = journal->decide(make_decision("prop_1"), {});
        const bool set =
            journal->set_state({{"ses_9"}, "a", "1"}).has_value() &&
            journal->delete_session({"ses_9"}).has_value();
        answer.set_value(set && said &&
                         said->verdict == storage::decision_verdict::accepted);
      });
  CHECK(answer.get_future().get());
}

TEST_CASE("completions of a commit are called within what was asked for") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
  std::atomic<int> rounds = 0;
  std::atomic<bool> inside = false;
  std::atomic<int> right = 0;
  journal->complete_within([&](const std::function<void()>& work) {
    ++rounds;
    inside = true;
    work();
    inside = false;
  });
  for (std::uint64_t seq = 1; seq <= 20; ++seq)
    journal->append(unit("run_1", seq), [&](auto) {
      if (inside) ++right;
    });
  REQUIRE(journal->adopt_run({"run_1"}));
  CHECK(right == 20);
  CHECK(static_cast<std::size_t>(rounds) == journal->counts().commits);
  journal->complete_within({});
  REQUIRE_FALSE(store(*journal, unit("run_1", 21)));
  CHECK(static_cast<std::size_t>(rounds) == journal->counts().commits - 1);
}

TEST_CASE("what a job throws comes to who waits, and the queue goes on") {
  storage::commit_queue queue{
      {}, [](const auto&) { return storage::commit_queue::stored{}; }};
  CHECK_THROWS_WITH(queue.run([] { throw std::runtime_error{"no room"}; }),
                    "no room");
  // Also from a completion, which runs it in its place.
  std::promise<std::string> said;
  queue.append(unit("run_a", 1), [&](const auto&) {
    try {
      queue.run([] { throw std::runtime_error{"none here"}; });
    } catch (const std::exception& e) {
      said.set_value(e.what());
    }
  });
  CHECK(said.get_future().get() == "none here");
  bool ran = false;
  CHECK_FALSE(queue.run([&] { ran = true; }));
  CHECK(ran);
}

TEST_CASE("many busy runs gather their units") {
  CHECK(wait_after(1000, 200us, 100) == commit_gatherer::pause);
  // Also where each brings many events.
  CHECK(wait_after(1000, 200us, 100, 50) == commit_gatherer::pause);
}

TEST_CASE("a lone run never waits for others to commit") {
  CHECK(wait_after(1000, 100us, 1) == 0s);
  CHECK(wait_after(1000, 100us, commit_gatherer::many_runs - 1) == 0s);
  // Nor where it waits itself, step by step, or says as much as can be read.
  CHECK(wait_after(1000, 200us, 1, 3) == 0s);
  CHECK(wait_after(1000, 5ms, 1, 20) == 0s);
}

TEST_CASE("a flood of a lone run gathers, until it ends") {
  // A commit of 14 events each 700 us: a turn of thousands of calls.
  CHECK(wait_after(1000, 700us, 1, 14) == commit_gatherer::flood_pause);
  // As it comes once it gathers.
  CHECK(wait_after(1000, 4300us, 1, 80) == commit_gatherer::flood_pause);
  CHECK(wait_after(1000, 4300us, 1, 10) == 0s);
}

TEST_CASE("what comes behind a flood waits once") {
  commit_gatherer g;
  time_point now{1s};
  for (int i = 0; i < 100; ++i) {
    g.on_unit("run_1", 80);
    g.on_commit(now += 4300us);
  }
  REQUIRE(g.wait() == commit_gatherer::flood_pause);
  SECTION("text at the pace of a model") {
    g.on_unit("run_1", 4);
    g.on_commit(now += 4300us);
    CHECK(g.wait() == 0s);
  }
  SECTION("a call that ends the pause says nothing about the flood") {
    g.on_commit(now += 100us);
    CHECK(g.wait() == commit_gatherer::flood_pause);
  }
}

TEST_CASE("many runs that bring little do not gather") {
  CHECK(wait_after(1000, 1ms, 1000) == 0s);
}

TEST_CASE("gathering of units ends with the load") {
  commit_gatherer g;
  time_point now{1s};
  for (int i = 0; i < 1000; ++i) {
    g.on_unit("run_" + std::to_string(i % 100), 1);
    g.on_commit(now += 200us);
  }
  REQUIRE(g.wait() > 0s);
  g.on_unit("run_1", 100);
  g.on_commit(now += 1s);
  CHECK(g.wait() == 0s);
}

TEST_CASE("under load commits gather, and a call does not wait for it") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  constexpr std::size_t runs = 32;
  for (std::size_t i = 0; i < runs; ++i)
    REQUIRE(journal->open_run(
        make_run("ses_" + std::to_string(i), "run_" + std::to_string(i))));
  std::atomic<std::size_t> stored = 0;
  for (std::uint64_t seq = 1; seq <= 400; ++seq)
    for (std::size_t i = 0; i < runs; ++i) {
      while (stored + 2 * runs < (seq - 1) * runs + i)
        std::this_thread::yield();
      journal->append(unit("run_" + std::to_string(i), seq),
                      [&](auto) { ++stored; });
    }
  REQUIRE(journal->adopt_run({"run_1"})->last_seq == 400);
  CHECK(stored == 400 * runs);
  // With two rounds of units on their way it could be many more.
  CHECK(journal->counts().commits < 400 * runs / 8);
}

TEST_CASE("a queue under load lets units gather, and a call ends that") {
  CHECK(commit_gatherer::pause <= 1ms);
  commit_queue::limits most;
  most.pause = 60s;
  commit_queue queue{most, [](const auto&) { return commit_queue::stored{}; }};
  const auto deadline = std::chrono::steady_clock::now() + scaled(30s);
  bool gathers = false;
  std::uint64_t seq = 0;
  while (!gathers && std::chrono::steady_clock::now() < deadline) {
    ++seq;
    for (int i = 0; i < 64; ++i)
      queue.append(unit("run_" + std::to_string(i % 32), seq), [](auto) {});
    REQUIRE_FALSE(queue.run([] {}));
    // Alone it would be stored at once.
    std::promise<void> stored;
    auto done = stored.get_future();
    queue.append(unit("run_0", seq), [&](auto) { stored.set_value(); });
    gathers = done.wait_for(1s) != std::future_status::ready;
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE_FALSE(queue.run([] {}));
    CHECK(std::chrono::steady_clock::now() - begin < 30s);
    done.get();
  }
  CHECK(gathers);
}
