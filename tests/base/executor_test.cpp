// SPDX-License-Identifier: MIT
#include "runtime/base/executor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/base/job_tail.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

constexpr auto timeout = riffle::testing::scaled(60s);

// Jobs that meet: each waits until `n` are there.
class meeting {
 public:
  explicit meeting(std::size_t n) : due_{n} {}

  bool arrive() {
    std::unique_lock lock{mutex_};
    ++here_;
    all_.notify_all();
    return all_.wait_for(lock, timeout, [this] { return here_ >= due_; });
  }
  std::size_t here() {
    std::lock_guard lock{mutex_};
    return here_;
  }

 private:
  const std::size_t due_;
  std::size_t here_ = 0;
  std::mutex mutex_;
  std::condition_variable all_;
};

template <class T>
bool ready(std::future<T>& x) {
  return x.wait_for(timeout) == std::future_status::ready;
}

}  // namespace

TEST_CASE("jobs run in parallel up to the number of threads") {
  meeting jobs{4};
  std::atomic<int> met{0};
  std::promise<void> all;
  auto done = all.get_future();
  blocking_executor blocking{4};
  for (int i = 0; i < 4; ++i)
    blocking.submit([&] {
      const bool ok = jobs.arrive();
      if (ok && ++met == 4) all.set_value();
    });
  CHECK(ready(done));
}

TEST_CASE("idle threads are all woken by as many jobs, again and again") {
  constexpr std::size_t threads = 4;
  constexpr std::size_t of_group = 2;
  blocking_executor pool{threads, of_group};
  for (int round = 0; round < 200; ++round) {
    // Two at a time of each group; the others wait until those are released.
    std::vector<std::future<bool>> all;
    for (const auto* group : {"even", "odd"})
      for (const bool late : {false, true}) {
        const auto jobs = std::make_shared<meeting>(of_group);
        for (std::size_t i = 0; i < of_group; ++i) {
          auto met = std::make_shared<std::promise<bool>>();
          all.push_back(met->get_future());
          pool.submit([jobs, met] { met->set_value(jobs->arrive()); },
                      {group, late ? -1 : 0}, {});
        }
      }
    for (auto& met : all) {
      REQUIRE(ready(met));
      REQUIRE(met.get());
    }
  }
}

TEST_CASE("a job never runs on the thread that submits it") {
  std::promise<std::thread::id> where;
  auto answer = where.get_future();
  blocking_executor blocking{1};
  blocking.submit([&] { where.set_value(std::this_thread::get_id()); });
  REQUIRE(ready(answer));
  CHECK(answer.get() != std::this_thread::get_id());
}

TEST_CASE("there are never more threads than allowed, and all jobs run") {
  std::mutex mutex;
  int running = 0;
  int most = 0;
  std::atomic<int> ran{0};
  std::promise<void> all;
  auto done = all.get_future();
  blocking_executor blocking{3};
  for (int i = 0; i < 300; ++i)
    blocking.submit([&] {
      {
        std::lock_guard lock{mutex};
        most = std::max(most, ++running);
      }
      std::this_thread::yield();
      {
        std::lock_guard lock{mutex};
        --running;
      }
      if (++ran == 300) all.set_value();
    });
  REQUIRE(ready(done));
  CHECK(most >= 1);
  CHECK(most <= 3);
}

TEST_CASE("jobs of one thread run in order, also those that jobs submit") {
  std::string order;
  std::promise<void> submitted;
  auto go = submitted.get_future();
  std::promise<void> last;
  auto done = last.get_future();
  blocking_executor blocking{0};  // counts as one
  blocking.submit([&] {
    go.wait_for(timeout);
    order += 'a';
    blocking.submit([&] {
      order += 'c';
      last.set_value();
    });
  });
  blocking.submit([&] { order += 'b'; });
  submitted.set_value();
  REQUIRE(ready(done));
  CHECK(order == "abc");
}

TEST_CASE("the end waits for the running job and drops those that wait") {
  std::promise<void> began;
  std::promise<void> go_on;
  auto go = go_on.get_future().share();
  std::atomic<bool> finished{false};
  std::atomic<int> others{0};
  auto token = std::make_shared<int>(0);
  auto blocking = std::make_unique<blocking_executor>(1);
  blocking->submit([&, go] {
    began.set_value();
    go.wait_for(timeout);
    finished = true;
  });
  for (int i = 0; i < 10; ++i) blocking->submit([&, token] { ++others; });
  auto start = began.get_future();
  REQUIRE(ready(start));
  CHECK(token.use_count() == 11);
  std::thread end{[&] { blocking.reset(); }};
  // The waiting jobs are dropped while the running one still runs.
  const auto limit = std::chrono::steady_clock::now() + timeout;
  while (token.use_count() > 1 && std::chrono::steady_clock::now() < limit)
    std::this_thread::yield();
  CHECK(token.use_count() == 1);
  CHECK_FALSE(finished);
  go_on.set_value();
  end.join();
  CHECK(finished);
  CHECK(others == 0);
}

TEST_CASE("what a job holds is released when it has run") {
  auto token = std::make_shared<int>(0);
  std::promise<void> ran;
  auto done = ran.get_future();
  blocking_executor blocking{1};
  blocking.submit([&, token] { ran.set_value(); });
  REQUIRE(ready(done));
  std::promise<void> next;
  auto after = next.get_future();
  blocking.submit([&] { next.set_value(); });
  REQUIRE(ready(after));
  CHECK(token.use_count() == 1);
}

TEST_CASE("close is patient with a job that ends in time") {
  std::promise<void> began;
  auto start = began.get_future();
  std::atomic<bool> finished{false};
  blocking_executor blocking{2};
  blocking.submit([&] {
    began.set_value();
    finished = true;
  });
  REQUIRE(ready(start));
  CHECK(blocking.close(timeout));
  CHECK(finished);
  CHECK(blocking.close(0ns));
  blocking.submit([] { FAIL("a closed executor runs nothing"); });
}

TEST_CASE("a job that does not end is abandoned; its late end hurts nobody") {
  auto blocking = std::make_unique<blocking_executor>(2);
  std::promise<void> began;
  std::promise<void> go_on;
  auto go = go_on.get_future().share();
  auto exited = std::make_shared<std::promise<void>>();
  auto gone = exited->get_future();
  blocking->submit([&began, go, exited] {
    exited->set_value_at_thread_exit();
    began.set_value();
    go.wait_for(timeout);
  });
  auto start = began.get_future();
  REQUIRE(ready(start));
  CHECK_FALSE(blocking->close(1ms));
  go_on.set_value();
  REQUIRE(ready(gone));
  std::promise<void> ended;
  auto end = ended.get_future();
  std::thread{[blocking = std::move(blocking),
               ended = std::move(ended)]() mutable {
    blocking.reset();
    ended.set_value();
  }}.detach();
  CHECK(ready(end));
}

TEST_CASE("a group whose jobs hang leaves the others their threads") {
  std::promise<void> go_on;
  auto go = go_on.get_future().share();
  std::atomic<int> hung{0};
  std::array<std::promise<void>, 50> others;
  blocking_executor blocking{3, 2};
  for (int i = 0; i < 5; ++i)
    blocking.submit(
        [&, go] {
          ++hung;
          go.wait_for(timeout);
        },
        {"a", 0}, {});
  // One after the other: what hangs could take the place of each.
  for (auto& other : others) {
    auto done = other.get_future();
    blocking.submit([&] { other.set_value(); }, {"b", 0}, {});
    REQUIRE(ready(done));
  }
  CHECK(hung <= 2);
  // What waited for its own group runs once there is room.
  std::promise<void> last;
  auto all = last.get_future();
  blocking.submit([&] { last.set_value(); }, {"a", 0}, {});
  go_on.set_value();
  CHECK(ready(all));
  CHECK(blocking.close(timeout));
}

namespace {

/// Two threads, which have both begun.
std::unique_ptr<blocking_executor> two_threads() {
  auto pool = std::make_unique<blocking_executor>(2);
  meeting both{2};
  std::promise<void> met[2];
  for (auto& x : met)
    pool->submit([&x, &both] {
      both.arrive();
      x.set_value();
    });
  for (auto& x : met) {
    auto future = x.get_future();
    REQUIRE(ready(future));
  }
  return pool;
}

}  // namespace

TEST_CASE("what the end of a job leads to is done by its own thread") {
  // The other thread may still be on its way to sleep, and find it.
  int kept = 0;
  for (int round = 0; round < 100 && kept == 0; ++round) {
    std::promise<void> next;
    std::promise<bool> all;
    auto done = next.get_future();
    const auto pool = two_threads();
    pool->submit([&] {
      const job_tail soon_free;
      pool->submit([&] { next.set_value(); });
      all.set_value(done.wait_for(50ms) == std::future_status::timeout);
    });
    auto was_kept = all.get_future();
    REQUIRE(ready(was_kept));
    if (was_kept.get()) ++kept;
    REQUIRE(ready(done));
  }
  CHECK(kept > 0);
}

TEST_CASE("a second job at the end of one goes to another thread") {
  meeting both{2};
  std::promise<bool> met[2];
  const auto pool = two_threads();
  pool->submit([&] {
    const job_tail soon_free;
    for (auto& x : met)
      pool->submit([&x, &both] { x.set_value(both.arrive()); });
  });
  for (auto& x : met) CHECK(x.get_future().get());
}

TEST_CASE("a job whose end takes long after all gives away what it kept") {
  std::promise<void> next;
  std::promise<bool> all;
  auto done = next.get_future();
  const auto pool = two_threads();
  pool->submit([&] {
    const job_tail soon_free;
    pool->submit([&] { next.set_value(); });
    end_job_tail();
    all.set_value(ready(done));  // it waits for what it gave away
  });
  CHECK(all.get_future().get());
}
