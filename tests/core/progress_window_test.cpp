// SPDX-License-Identifier: MIT
#include "actors/core/progress_window.hpp"

#include <random>
#include <string>

#include "tests/support/catch.hpp"

using riffle::tool_progress_report;
using riffle::core::progress_window;

namespace {

tool_progress_report report(int number) {
  return {std::to_string(number), {}, {}, {}, 0};
}

}  // namespace

TEST_CASE("reports within the window leave at once") {
  progress_window x{2};
  CHECK(x.offer(report(1), {}) == report(1));
  CHECK(x.sent() == 1);
  CHECK(x.offer(report(2), {}) == report(2));
  CHECK(x.sent() == 2);
}

TEST_CASE("over the window the newest report wins and says so") {
  progress_window x{1};
  x.offer(report(1), {});
  CHECK_FALSE(x.offer(report(2), {}));
  CHECK_FALSE(x.offer(report(3), {}));
  CHECK_FALSE(x.offer(report(4), {}));
  auto expected = report(4);
  expected.coalesced = 2;
  SECTION("when there is room again") { CHECK(x.on_ack({}) == expected); }
  SECTION("at the end of the call") { CHECK(x.last() == expected); }
  CHECK(x.sent() == 2);
  CHECK_FALSE(x.last());
}

TEST_CASE("what the tool itself coalesced is counted too") {
  progress_window x{1};
  x.offer(report(1), {});
  auto second = report(2);
  second.coalesced = 5;
  x.offer(second, {});
  x.offer(report(3), {});
  CHECK(x.last()->coalesced == 6);
}

TEST_CASE("nothing is taken after the end, and strange acks are ignored") {
  progress_window x{1};
  CHECK_FALSE(x.on_ack({}));
  x.offer(report(1), {});
  CHECK_FALSE(x.last());
  CHECK_FALSE(x.offer(report(2), {}));
  CHECK_FALSE(x.on_ack({}));
  CHECK_FALSE(x.on_ack({}));
  CHECK(x.sent() == 1);
}

TEST_CASE("an ack of nothing does not widen the window") {
  progress_window x{1};
  x.on_ack({});
  x.on_ack({});
  CHECK(x.offer(report(1), {}));
  CHECK_FALSE(x.offer(report(2), {}));
}

TEST_CASE("a window of none is a window of one") {
  progress_window x{0};
  CHECK(x.offer(report(1), {}));
  CHECK_FALSE(x.offer(report(2), {}));
}

TEST_CASE("no schedule loses the last report, or the count of the others") {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    const std::size_t window = random() % 5;
    progress_window x{window};
    const int reports = static_cast<int>(random() % 40);
    std::uint64_t represented = 0;
    std::uint64_t sent = 0;
    std::size_t in_flight = 0;
    int newest = 0;
    const auto take = [&](const std::optional<tool_progress_report>& r) {
      if (!r) return;
      REQUIRE(x.sent() == ++sent);
      REQUIRE(std::stoi(r->message) > newest);
      newest = std::stoi(r->message);
      represented += 1 + r->coalesced;
      ++in_flight;
    };
    for (int i = 1; i <= reports;) {
      if (random() % 2 == 0) {
        take(x.offer(report(i++), {}));
      } else if (in_flight > 0) {
        --in_flight;
        take(x.on_ack({}));
      }
      REQUIRE(in_flight <= std::max<std::size_t>(window, 1));
    }
    take(x.last());
    REQUIRE(newest == reports);
    REQUIRE(represented == static_cast<std::uint64_t>(reports));
  }
}

TEST_CASE("however much a call reports, a thousand reports leave") {
  for (const auto step :
       {std::chrono::microseconds{0}, std::chrono::microseconds{100},
        std::chrono::microseconds{200'000}}) {
    CAPTURE(step.count());
    progress_window x{16};
    riffle::time_point now{};
    std::uint64_t left = 0;
    std::uint64_t represented = 0;
    std::string newest;
    const auto take = [&](const std::optional<tool_progress_report>& r) {
      if (!r) return false;
      ++left;
      represented += 1 + r->coalesced;
      newest = r->message;
      return true;
    };
    constexpr int reports = 300'000;
    for (int i = 1; i <= reports; ++i) {
      now += step;
      if (take(x.offer(report(i), now))) take(x.on_ack(now));
    }
    take(x.last());
    CHECK(left <= 1000);
    CHECK(left >= 100);
    CHECK(represented == reports);
    CHECK(newest == std::to_string(reports));
  }
}

TEST_CASE("what waits for its time leaves then, without another report") {
  using std::chrono::milliseconds;
  progress_window x{16, {.at_once = 2, .gap = milliseconds{50}, .most = 9}};
  riffle::time_point now{};
  CHECK(x.offer(report(1), now));
  x.on_ack(now);
  CHECK_FALSE(x.due());
  CHECK(x.offer(report(2), now));
  x.on_ack(now);
  CHECK_FALSE(x.offer(report(3), now));
  REQUIRE(x.due() == now + milliseconds{50});
  CHECK_FALSE(x.on_time(now + milliseconds{49}));
  CHECK(x.on_time(now + milliseconds{50}) == report(3));
  CHECK_FALSE(x.due());
}

TEST_CASE("the last report leaves although all places were used up") {
  progress_window x{16, {.at_once = 100, .gap = {}, .most = 3}};
  CHECK(x.offer(report(1), {}));
  CHECK(x.offer(report(2), {}));
  CHECK_FALSE(x.offer(report(3), {}));
  CHECK_FALSE(x.offer(report(4), {}));
  CHECK_FALSE(x.due());
  const auto last = x.last();
  REQUIRE(last);
  CHECK(last->message == "4");
  CHECK(last->coalesced == 1);
}
