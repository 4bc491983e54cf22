// SPDX-License-Identifier: MIT
#include "actors/core/restart_policy.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "tests/core/t0.hpp"
#include "tests/support/catch.hpp"

using riffle::time_point;
using riffle::core::restart_policy;
using namespace std::chrono_literals;
using riffle::testing::t0;

namespace {}  // namespace

TEST_CASE("restarts up to the intensity are allowed within a period") {
  restart_policy x{3, 60s};
  CHECK(x.allow(t0));
  CHECK(x.allow(t0 + 1s));
  CHECK(x.allow(t0 + 2s));
  CHECK_FALSE(x.allow(t0 + 3s));
  CHECK_FALSE(x.allow(t0 + 60s));
  CHECK(x.allow(t0 + 60s + 1ns));
  CHECK_FALSE(x.allow(t0 + 60s + 2ns));
}

TEST_CASE("an intensity of none never restarts") {
  restart_policy x{0, 60s};
  CHECK_FALSE(x.allow(t0));
  CHECK_FALSE(x.allow(t0 + 100h));
}

TEST_CASE("the delay grows with each restart and starts anew after quiet") {
  restart_policy x{5, 60s, {100ms, 1s}};
  CHECK(x.allow(t0));
  CHECK(x.delay(0.0) == 50ms);
  CHECK(x.allow(t0 + 1s));
  CHECK(x.delay(0.0) == 100ms);
  CHECK(x.allow(t0 + 2s));
  CHECK(x.allow(t0 + 3s));
  CHECK(x.allow(t0 + 4s));
  CHECK(x.delay(0.0) == 500ms);
  CHECK(x.allow(t0 + 65s));
  CHECK(x.delay(0.0) == 50ms);
}

TEST_CASE("slow but steady crashes keep their long delay") {
  restart_policy x{5, 60s, {100ms, 30s}};
  for (int i = 0; i < 20; ++i) REQUIRE(x.allow(t0 + i * 30s));
  CHECK(x.delay(0.0) == 15s);
}

TEST_CASE("a refusal counts as no restart") {
  restart_policy x{1, 60s, {100ms, 30s}};
  CHECK(x.allow(t0));
  for (int i = 1; i <= 60; ++i) CHECK_FALSE(x.allow(t0 + i * 1s));
  CHECK(x.allow(t0 + 61s));
  CHECK(x.delay(0.0) == 50ms);
}

TEST_CASE("a reset forgets the crashes") {
  restart_policy x{1, 60s};
  CHECK(x.allow(t0));
  CHECK_FALSE(x.allow(t0 + 1s));
  x.reset();
  CHECK(x.allow(t0 + 2s));
}

TEST_CASE("no window of one period holds more restarts than the intensity") {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    const std::uint32_t intensity = random() % 6;
    restart_policy x{intensity, 10s};
    std::vector<time_point> allowed;
    auto now = t0;
    for (int i = 0; i < 60; ++i) {
      now += std::chrono::milliseconds{random() % 6000};
      const auto recent = static_cast<std::uint32_t>(std::ranges::count_if(
          allowed, [&](time_point t) { return now - t <= 10s; }));
      const auto ok = x.allow(now);
      REQUIRE(ok == (recent < intensity));
      if (ok) allowed.push_back(now);
    }
  }
}
