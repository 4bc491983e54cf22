// SPDX-License-Identifier: MIT
#include "runtime/model/rate_limiter.hpp"

#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace std::chrono_literals;
using riffle::duration;
using riffle::time_point;
using riffle::model::rate_limiter;

namespace {

using tickets = std::vector<rate_limiter::ticket>;

constexpr time_point zero{};

}  // namespace

TEST_CASE("without limits every request starts at once") {
  rate_limiter gate{{}};
  for (int i = 0; i < 1000; ++i) CHECK(gate.try_start(zero));
  CHECK_FALSE(gate.next());
}

TEST_CASE("those beyond the limit wait for an end, first come first served") {
  rate_limiter gate{{2, 0}};
  CHECK(gate.try_start(zero));
  CHECK(gate.try_start(zero));
  CHECK_FALSE(gate.try_start(zero));
  gate.wait(3, zero + 10s);
  gate.wait(4, zero + 5s);
  CHECK(gate.poll(zero).started.empty());
  CHECK(gate.next() == zero + 5s);
  gate.on_end();
  CHECK_FALSE(gate.try_start(zero));  // nobody overtakes who waits
  CHECK(gate.poll(zero).started == tickets{3});
  gate.on_end();
  CHECK(gate.poll(zero).started == tickets{4});
  CHECK(gate.waiting() == 0);
  CHECK_FALSE(gate.next());
}

TEST_CASE("a minute has no more starts than it may have") {
  rate_limiter gate{{0, 2}};
  CHECK(gate.try_start(zero));
  CHECK(gate.try_start(zero + 20s));
  gate.on_end();
  gate.on_end();
  CHECK_FALSE(gate.try_start(zero + 20s));
  gate.wait(3, zero + 10min);
  gate.wait(4, zero + 10min);
  CHECK(gate.next() == zero + 60s);
  CHECK(gate.poll(zero + 60s - 1ns).started.empty());
  CHECK(gate.poll(zero + 60s).started == tickets{3});
  CHECK(gate.next() == zero + 80s);
  CHECK(gate.poll(zero + 80s).started == tickets{4});
}

TEST_CASE("who waits too long expires and gives its place to the next") {
  rate_limiter gate{{1, 0}};
  CHECK(gate.try_start(zero));
  gate.wait(2, zero + 1s);
  gate.wait(3, zero + 9s);
  const auto moves = gate.poll(zero + 1s);
  CHECK(moves.expired == tickets{2});
  CHECK(moves.started.empty());
  gate.on_end();
  CHECK(gate.poll(zero + 2s).started == tickets{3});
}

TEST_CASE("one that was taken back never starts") {
  rate_limiter gate{{1, 0}};
  CHECK(gate.try_start(zero));
  gate.wait(2, zero + 1s);
  gate.wait(3, zero + 1s);
  CHECK(gate.withdraw(2));
  CHECK_FALSE(gate.withdraw(2));
  CHECK_FALSE(gate.withdraw(1));
  gate.on_end();
  CHECK(gate.poll(zero).started == tickets{3});
  CHECK_FALSE(gate.next());
}

TEST_CASE("no schedule breaks a limit, the order, or forgets a request") {
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto pick = [&](int n) {
    return std::uniform_int_distribution<int>{0, n - 1}(random);
  };
  for (int round = 0; round < 200; ++round) {
    const auto most = static_cast<std::uint32_t>(pick(4));
    const auto rate = static_cast<std::uint32_t>(pick(5));
    rate_limiter gate{{most, rate}};
    auto now = zero;
    std::uint64_t last = 0;
    std::uint64_t last_started = 0;
    std::size_t open = 0;
    std::vector<time_point> starts;
    std::map<std::uint64_t, time_point> waiting;
    const auto started = [&](std::uint64_t id) {
      CHECK(id > last_started);
      last_started = id;
      starts.push_back(now);
      ++open;
      if (most > 0) CHECK(open <= most);
      const auto n = starts.size();
      if (rate > 0 && n > rate) CHECK(now - starts[n - 1 - rate] >= 60s);
    };
    const auto poll = [&] {
      const auto moves = gate.poll(now);
      for (const auto id : moves.expired) {
        CHECK(waiting.at(id) <= now);
        waiting.erase(id);
      }
      for (const auto id : moves.started) {
        CHECK(waiting.erase(id) == 1);
        started(id);
      }
    };
    for (int step = 0; step < 100; ++step) {
      now += std::chrono::seconds{pick(10)};
      const auto next = gate.next();
      const auto before = waiting.size();
      poll();
      // What `next` did not announce does not happen.
      if (next && *next > now) CHECK(waiting.size() == before);
      switch (pick(4)) {
        case 0:
        case 1:
          ++last;
          if (gate.try_start(now)) {
            CHECK(waiting.empty());
            started(last);
          } else {
            waiting[last] = now + std::chrono::seconds{1 + pick(90)};
            gate.wait(last, waiting[last]);
          }
          break;
        case 2:
          if (open > 0) {
            --open;
            gate.on_end();
          }
          break;
        default:
          if (!waiting.empty()) {
            CHECK(gate.withdraw(waiting.begin()->first));
            waiting.erase(waiting.begin());
          }
      }
      CHECK(gate.waiting() == waiting.size());
    }
    for (int i = 0; i < 1000 && !waiting.empty(); ++i) {
      for (; open > 0; --open) gate.on_end();
      now = std::max(now, gate.next().value());
      poll();
    }
    CHECK(waiting.empty());
  }
}

TEST_CASE("a refusal stops all starts for as long as the server says") {
  rate_limiter gate{{0, 0, true}};
  for (int i = 0; i < 8; ++i) REQUIRE(gate.try_start(zero));
  CHECK(gate.capacity(zero) == rate_limiter::no_limit);
  gate.refuse(zero, 2s, zero + 10ms);
  gate.on_end();
  const auto later = zero + 60s;
  CHECK(gate.capacity(later) == 4);  // half of what was open
  // Those that were under way say the same once more.
  gate.refuse(zero, 1s, zero + 20ms);
  gate.on_end();
  CHECK(gate.capacity(later) == 4);
  for (int i = 0; i < 6; ++i) gate.on_end();
  CHECK_FALSE(gate.try_start(zero + 2009ms));
  CHECK(gate.held_until(zero + 1s) > zero + 2009ms);
  gate.wait(1, zero + 60s);
  const auto next = gate.next().value();
  CHECK(next >= zero + 2010ms);
  CHECK(next <= zero + 2200ms);
  CHECK(gate.poll(next - 1ns).started.empty());
  CHECK(gate.poll(next).started == tickets{1});
}

TEST_CASE("a server that says no time is left alone longer each time") {
  rate_limiter gate{{0, 0, true}};
  auto now = zero;
  for (const auto pause : {1s, 2s, 4s, 8s, 16s, 32s, 32s}) {
    REQUIRE(gate.try_start(now));
    gate.refuse(now, {}, now + 1ms);
    gate.on_end();
    CHECK(gate.held_until(now + 1ms) == now + 1ms + pause);
    now += pause + 1ms;
  }
}

TEST_CASE("the ceiling that a refusal leaves grows with what is accepted") {
  rate_limiter gate{{0, 0, true}};
  for (int i = 0; i < 4; ++i) REQUIRE(gate.try_start(zero));
  for (int i = 0; i < 4; ++i) gate.refuse(zero, 0s, zero);
  for (int i = 0; i < 4; ++i) gate.on_end();
  auto now = zero + 1min;
  CHECK(gate.capacity(now) == 2);
  std::uint32_t highest = 0;
  int successes = 0;
  while (gate.capacity(now) != rate_limiter::no_limit && ++successes < 100) {
    CHECK(gate.capacity(now) >= highest);
    highest = gate.capacity(now);
    REQUIRE(gate.try_start(now));
    gate.accept(now);
    gate.on_end(true);
    now += 1min;
  }
  CHECK(successes < 100);  // twice as much as was refused: forgotten
  CHECK(highest < 8);
  rate_limiter bounded{{3, 0, true}};
  for (int i = 0; i < 3; ++i) REQUIRE(bounded.try_start(zero));
  CHECK(bounded.capacity(zero) == 3);
  for (int i = 0; i < 3; ++i) bounded.refuse(zero, 0s, zero);
  for (int i = 0; i < 3; ++i) bounded.on_end();
  CHECK(bounded.capacity(zero + 1min) == 1);
}

TEST_CASE("what the server takes counts from its answer's begin, not its end") {
  // It takes four in 10 s; their answers are long, and none has ended.
  rate_limiter gate{{0, 0, true}};
  for (int i = 0; i < 4; ++i) {
    REQUIRE(gate.try_start(zero));
    gate.accept(zero);
  }
  const auto fifth = zero + 1s;
  REQUIRE(gate.try_start(fifth));
  gate.refuse(fifth, 9s, fifth);
  gate.on_end();
  for (int i = 0; i < 4; ++i) gate.on_end(true);
  // They are asked for anew: as many in the same time.
  for (rate_limiter::ticket id = 1; id <= 5; ++id) gate.wait(id, zero + 1h);
  CHECK(gate.poll(zero + 10s - 1ms).started.empty());
  CHECK(gate.poll(zero + 11s).started == tickets{1, 2, 3, 4});
  for (int i = 0; i < 4; ++i) gate.on_end(true);
  CHECK(gate.next().value() > zero + 20s);
  CHECK(gate.next().value() < zero + 23s);
}

TEST_CASE("answers that run on show how many may be open") {
  // A server that takes three at once: half of eight would be too many.
  rate_limiter gate{{0, 0, true}};
  for (int i = 0; i < 8; ++i) REQUIRE(gate.try_start(zero));
  for (int i = 0; i < 5; ++i) gate.refuse(zero, 0s, zero + 1ms);
  for (int i = 0; i < 5; ++i) gate.on_end();
  for (int i = 0; i < 3; ++i) gate.accept(zero);
  REQUIRE(gate.try_start(zero + 10s));
  gate.refuse(zero + 10s, 0s, zero + 10s);
  gate.on_end();
  CHECK(gate.capacity(zero + 1min) == 3);
}

TEST_CASE("one that was refused waits in front of the others") {
  rate_limiter gate{{1, 0, true}};
  REQUIRE(gate.try_start(zero));
  gate.wait(1, zero + 1h);
  gate.wait(2, zero + 1h);
  gate.wait(3, zero + 1h, true);
  gate.wait(4, zero + 1h, true);
  CHECK(gate.waiting() == 4);
  for (const rate_limiter::ticket id : {3u, 4u, 1u, 2u}) {
    gate.on_end();
    CHECK_FALSE(gate.try_start(zero));
    CHECK(gate.poll(zero).started == tickets{id});
  }
  // It overtakes the line also where it need not stand in it.
  gate.wait(5, zero + 1h);
  gate.on_end();
  CHECK(gate.try_start(zero, true));
  CHECK(gate.withdraw(5));
  CHECK(gate.waiting() == 0);
}

TEST_CASE("the capacity knows what a minute has left") {
  rate_limiter gate{{8, 4}};
  CHECK(gate.capacity(zero) == 4);
  for (int i = 0; i < 3; ++i) REQUIRE(gate.try_start(zero));
  CHECK(gate.capacity(zero) == 4);  // three are open, one more may be
  for (int i = 0; i < 3; ++i) gate.on_end();
  CHECK(gate.capacity(zero + 1s) == 1);
  CHECK(gate.more_at(zero + 1s) == zero + 60s);
  REQUIRE(gate.try_start(zero + 1s));
  gate.on_end();
  CHECK(gate.capacity(zero + 2s) == 0);
  gate.wait(5, zero + 1h);  // its place is its own
  CHECK(gate.capacity(zero + 2s) == 1);
  CHECK(gate.more_at(zero + 2s) == zero + 60s);
  CHECK(gate.poll(zero + 60s).started == tickets{5});
  CHECK(gate.capacity(zero + 60s) == 3);  // open, and the two that are left
  gate.on_end();
  CHECK(gate.capacity(zero + 3min) == 4);
  CHECK_FALSE(gate.more_at(zero + 3min));
}

TEST_CASE("the capacity knows the pace and the pause that a server asks for") {
  rate_limiter gate{{8, 0, true}};
  REQUIRE(gate.try_start(zero));
  gate.on_end();
  CHECK(gate.capacity(zero) == 8);
  gate.pace(5s, zero);
  CHECK(gate.capacity(zero + 1s) == 0);
  CHECK(gate.more_at(zero + 1s) == zero + 5s);
  CHECK(gate.capacity(zero + 5s) == 1);  // one, then a pause again
  REQUIRE(gate.try_start(zero + 5s));
  CHECK(gate.capacity(zero + 6s) == 1);
  gate.pace(0s, zero + 6s);
  CHECK(gate.capacity(zero + 6s) == 8);
}
