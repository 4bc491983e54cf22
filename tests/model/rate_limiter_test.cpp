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
  CHECK(gate.capacity() == 0);
  gate.refuse(2s, zero + 10ms);
  gate.on_end();
  CHECK(gate.capacity() == 4);  // half of what was open
  // Those that were under way say the same once more.
  gate.refuse(1s, zero + 20ms);
  gate.on_end();
  CHECK(gate.capacity() == 4);
  for (int i = 0; i < 5; ++i) gate.on_end();
  CHECK_FALSE(gate.try_start(zero + 2009ms));
  gate.wait(1, zero + 60s);
  CHECK(gate.next() == zero + 2010ms);
  CHECK(gate.poll(zero + 2009ms).started.empty());
  CHECK(gate.poll(zero + 2010ms).started == tickets{1});
}

TEST_CASE("the ceiling that a refusal leaves grows with what is accepted") {
  rate_limiter gate{{0, 0, true}};
  for (int i = 0; i < 4; ++i) REQUIRE(gate.try_start(zero));
  gate.refuse({}, zero);
  CHECK(gate.capacity() == 2);
  std::uint32_t highest = 0;
  int successes = 0;
  while (gate.capacity() != 0 && ++successes < 1000) {
    CHECK(gate.capacity() >= highest);
    highest = gate.capacity();
    gate.accept();
  }
  CHECK(gate.capacity() == 0);  // twice as much as was refused: forgotten
  CHECK(highest == 7);
  rate_limiter bounded{{3, 0, true}};
  for (int i = 0; i < 3; ++i) REQUIRE(bounded.try_start(zero));
  CHECK(bounded.capacity() == 3);
  bounded.refuse({}, zero);
  CHECK(bounded.capacity() == 1);
}

TEST_CASE("starts keep the distance at which they were accepted") {
  // A server that takes 10 a second and is asked for as many as it takes.
  rate_limiter gate{{0, 0, true}};
  auto now = zero;
  int taken = 0;
  int refused = 0;
  int in_window = 0;
  auto window = zero;
  rate_limiter::ticket last = 0;
  while (taken < 1000) {
    if (now >= window + 1s) {
      window += (now - window) / 1s * 1s;
      in_window = 0;
    }
    if (!gate.try_start(now)) {
      gate.wait(++last, now + 600s);
      auto moves = gate.poll(now);
      while (moves.started.empty()) {
        now = std::max(now + 1ms, *gate.next());
        moves = gate.poll(now);
      }
      if (now >= window + 1s) {
        window += (now - window) / 1s * 1s;
        in_window = 0;
      }
    }
    if (++in_window <= 10) {
      ++taken;
      gate.accept();
    } else {
      ++refused;
      gate.refuse(window + 1s - now, now);
    }
    gate.on_end();
    now += 1ms;
  }
  CAPTURE(refused);
  CHECK(refused < 60);       // of 1,000
  CHECK(now - zero < 135s);  // ideal: 100 s
}
