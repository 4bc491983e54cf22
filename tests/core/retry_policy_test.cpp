// SPDX-License-Identifier: MIT
#include "actors/core/retry_policy.hpp"

#include <limits>

#include "tests/support/catch.hpp"

using riffle::duration;
using riffle::core::backoff_delay;
using riffle::core::next_retry;
using riffle::core::retry_limits;
using namespace std::chrono_literals;

namespace {

const retry_limits limits{5, 1s, 10s};
constexpr double most = 0.9999999;

}  // namespace

TEST_CASE("the back-off doubles up to its cap, half of it random") {
  const duration full[] = {1s, 2s, 4s, 8s, 10s, 10s};
  for (std::uint32_t n = 1; n <= 6; ++n) {
    CAPTURE(n);
    CHECK(backoff_delay(1s, 10s, n, 0.0) == full[n - 1] / 2);
    CHECK(backoff_delay(1s, 10s, n, 0.5) == full[n - 1] * 3 / 4);
    CHECK(backoff_delay(1s, 10s, n, most) > full[n - 1] * 9 / 10);
    CHECK(backoff_delay(1s, 10s, n, most) <= full[n - 1]);
  }
}

TEST_CASE("no number of failures and no limit overflows the back-off") {
  const auto failures = std::numeric_limits<std::uint32_t>::max();
  CHECK(backoff_delay(1ns, duration::max(), failures, 0.0) >=
        duration::max() / 2);
  CHECK(backoff_delay(1s, 60s, failures, 0.0) == 30s);
  CHECK(backoff_delay(0s, 60s, failures, 0.5) == 0s);
  CHECK(backoff_delay(-5s, 60s, 3, 0.5) == 0s);
  CHECK(backoff_delay(5s, 1s, 1, 0.0) == 500ms);
  CHECK(backoff_delay(5s, -1s, 1, 0.0) == 0s);
}

TEST_CASE("a random number outside its range is clamped") {
  CHECK(backoff_delay(2s, 60s, 1, -3.0) == 1s);
  CHECK(backoff_delay(2s, 60s, 1, 7.0) == 2s);
  CHECK(backoff_delay(2s, 60s, 1, std::numeric_limits<double>::quiet_NaN()) ==
        1s);
}

TEST_CASE("only what may go away is tried again") {
  const auto x = next_retry(limits, 1, false, std::nullopt, 0.5);
  CHECK_FALSE(x.again);
  CHECK_FALSE(x.why.empty());
}

TEST_CASE("the number of attempts includes the first") {
  CHECK(next_retry(limits, 4, true, std::nullopt, 0.5).again);
  CHECK_FALSE(next_retry(limits, 5, true, std::nullopt, 0.5).again);
  CHECK_FALSE(next_retry({1, 1s, 10s}, 1, true, std::nullopt, 0.5).again);
  CHECK_FALSE(next_retry({0, 1s, 10s}, 1, true, std::nullopt, 0.5).again);
}

TEST_CASE("retry-after is a minimum, even above the cap") {
  CHECK(next_retry(limits, 1, true, 30s, 0.0).delay == 30s);
  CHECK(next_retry(limits, 1, true, 30s, 0.5).delay == 30s + 500ms);
  CHECK(next_retry(limits, 4, true, 1ms, 0.0).delay == 4s);
  CHECK(next_retry(limits, 1, true, -30s, 0.0).delay == 500ms);
}

TEST_CASE("an absurd retry-after ends the trying") {
  CHECK(next_retry(limits, 1, true, 10min, 0.0).again);
  const auto x = next_retry(limits, 1, true, 10min + 1ns, 0.0);
  CHECK_FALSE(x.again);
  CHECK_FALSE(x.why.empty());
}
