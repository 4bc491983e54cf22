// SPDX-License-Identifier: MIT
#include "runtime/base/timer.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

constexpr auto timeout = 20s;

}  // namespace

TEST_CASE("jobs run in the order of their times, not of their submission") {
  std::string order;
  std::promise<void> submitted;
  auto go = submitted.get_future();
  std::promise<void> last;
  auto done = last.get_future();
  thread_timer timer;
  // Holds the timer's thread until all are there; hours in the past, so that
  // the pace of this test does not matter.
  timer.after(-9h, [&] { go.wait_for(timeout); });
  timer.after(-1h, [&] { last.set_value(); });
  timer.after(-2h, [&] { order += 'c'; });
  timer.after(-4h, [&] { order += 'a'; });
  timer.after(-3h, [&] { order += "b1"; });
  timer.after(-3h, [&] { order += "b2"; });
  submitted.set_value();
  REQUIRE(done.wait_for(timeout) == std::future_status::ready);
  CHECK(order == "ab1b2c");
}

TEST_CASE("a job does not run before its time") {
  const auto begin = std::chrono::steady_clock::now();
  std::promise<std::chrono::steady_clock::time_point> ran;
  auto when = ran.get_future();
  thread_timer timer;
  timer.after(30ms, [&] { ran.set_value(std::chrono::steady_clock::now()); });
  REQUIRE(when.wait_for(timeout) == std::future_status::ready);
  CHECK(when.get() - begin >= 30ms);
}

TEST_CASE("a later, shorter delay wakes a timer that sleeps longer") {
  std::promise<void> ran;
  auto done = ran.get_future();
  thread_timer timer;
  timer.after(1h, [] {});
  timer.after(1ms, [&] { ran.set_value(); });
  CHECK(done.wait_for(timeout) == std::future_status::ready);
}

TEST_CASE("a job may ask for another one") {
  std::promise<void> ran;
  auto done = ran.get_future();
  thread_timer timer;
  timer.after(0ns, [&] { timer.after(0ns, [&] { ran.set_value(); }); });
  CHECK(done.wait_for(timeout) == std::future_status::ready);
}

TEST_CASE("the end drops jobs that are not due, and does not wait for them") {
  auto token = std::make_shared<int>(0);
  std::atomic<bool> ran{false};
  {
    thread_timer timer;
    timer.after(1h, [&, token] { ran = true; });
  }
  CHECK_FALSE(ran);
  CHECK(token.use_count() == 1);
}

TEST_CASE("a delay without end is never due") {
  std::promise<void> ran;
  auto done = ran.get_future();
  std::atomic<bool> never{false};
  thread_timer timer;
  timer.after(duration::max(), [&] { never = true; });
  timer.after(1ms, [&] { ran.set_value(); });
  REQUIRE(done.wait_for(timeout) == std::future_status::ready);
  CHECK_FALSE(never);
}

TEST_CASE("a timer that was never used ends at once") { thread_timer timer; }
