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

#include "tests/support/catch.hpp"
#include "tests/support/patience.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = riffle::testing::patiently(5s);

// Jobs that meet: each waits until `n` are there.
class meeting {
 public:
  explicit meeting(std::size_t n) : due_{n} {}

  bool arrive() {
    std::unique_lock lock{mutex_};
    ++here_;
    all_.notify_all();
    return all_.wait_for(lock, patience, [this] { return here_ >= due_; });
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
  return x.wait_for(patience) == std::future_status::ready;
}

}  // namespace

TEST_CASE("jobs run in parallel up to the number of threads") {
  meeting jobs{4};
  std::atomic<int> met{0};
  std::promise<void> all;
  auto done = all.get_future();
  thread_lane lane{4};
  for (int i = 0; i < 4; ++i)
    lane.submit([&] {
      const bool ok = jobs.arrive();
      if (ok && ++met == 4) all.set_value();
    });
  CHECK(ready(done));
}

TEST_CASE("a job never runs on the thread that submits it") {
  std::promise<std::thread::id> where;
  auto answer = where.get_future();
  thread_lane lane{1};
  lane.submit([&] { where.set_value(std::this_thread::get_id()); });
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
  thread_lane lane{3};
  for (int i = 0; i < 300; ++i)
    lane.submit([&] {
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
  thread_lane lane{0};  // counts as one
  lane.submit([&] {
    go.wait_for(patience);
    order += 'a';
    lane.submit([&] {
      order += 'c';
      last.set_value();
    });
  });
  lane.submit([&] { order += 'b'; });
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
  auto lane = std::make_unique<thread_lane>(1);
  lane->submit([&, go] {
    began.set_value();
    go.wait_for(patience);
    finished = true;
  });
  for (int i = 0; i < 10; ++i) lane->submit([&, token] { ++others; });
  auto start = began.get_future();
  REQUIRE(ready(start));
  CHECK(token.use_count() == 11);
  std::thread end{[&] { lane.reset(); }};
  // The waiting jobs are dropped while the running one still runs.
  const auto limit = std::chrono::steady_clock::now() + patience;
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
  thread_lane lane{1};
  lane.submit([&, token] { ran.set_value(); });
  REQUIRE(ready(done));
  std::promise<void> next;
  auto after = next.get_future();
  lane.submit([&] { next.set_value(); });
  REQUIRE(ready(after));
  CHECK(token.use_count() == 1);
}

TEST_CASE("close is patient with a job that ends in time") {
  std::promise<void> began;
  auto start = began.get_future();
  std::atomic<bool> finished{false};
  thread_lane lane{2};
  lane.submit([&] {
    began.set_value();
    finished = true;
  });
  REQUIRE(ready(start));
  CHECK(lane.close(patience));
  CHECK(finished);
  CHECK(lane.close(0ns));
  lane.submit([] { FAIL("a closed lane runs nothing"); });
}

TEST_CASE("a job that does not end is abandoned; its late end hurts nobody") {
  auto lane = std::make_unique<thread_lane>(2);
  std::promise<void> began;
  std::promise<void> go_on;
  auto go = go_on.get_future().share();
  auto exited = std::make_shared<std::promise<void>>();
  auto gone = exited->get_future();
  lane->submit([&began, go, exited] {
    exited->set_value_at_thread_exit();
    began.set_value();
    go.wait_for(patience);
  });
  auto start = began.get_future();
  REQUIRE(ready(start));
  CHECK_FALSE(lane->close(1ms));
  go_on.set_value();
  REQUIRE(ready(gone));
  std::promise<void> ended;
  auto end = ended.get_future();
  std::thread{[lane = std::move(lane), ended = std::move(ended)]() mutable {
    lane.reset();
    ended.set_value();
  }}.detach();
  CHECK(ready(end));
}

TEST_CASE("a group whose jobs hang leaves the others their threads") {
  std::promise<void> go_on;
  auto go = go_on.get_future().share();
  std::atomic<int> hung{0};
  std::array<std::promise<void>, 50> others;
  thread_lane lane{3, 2};
  for (int i = 0; i < 5; ++i)
    lane.submit(
        [&, go] {
          ++hung;
          go.wait_for(patience);
        },
        {"a", 0}, {});
  // One after the other: what hangs could take the place of each.
  for (auto& other : others) {
    auto done = other.get_future();
    lane.submit([&] { other.set_value(); }, {"b", 0}, {});
    REQUIRE(ready(done));
  }
  CHECK(hung <= 2);
  // What waited for its own group runs once there is room.
  std::promise<void> last;
  auto all = last.get_future();
  lane.submit([&] { last.set_value(); }, {"a", 0}, {});
  go_on.set_value();
  CHECK(ready(all));
  CHECK(lane.close(patience));
}
