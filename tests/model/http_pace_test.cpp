// SPDX-License-Identifier: MIT
#include "runtime/model/http_pace.hpp"

#include <map>

#include "runtime/model/rate_limiter.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using model::read_reset;

namespace {

constexpr wall_time now{1'767'225'600'000'000};  // 2026-01-01T00:00:00Z

std::optional<duration> pace(std::map<std::string, std::string> headers,
                             std::size_t tokens = 0) {
  return model::read_pace(
      [&](const std::string& name) { return headers[name]; }, tokens, now);
}

}  // namespace

TEST_CASE("every form of a limit's reset is read") {
  CHECK(read_reset("1s", now) == 1s);
  CHECK(read_reset("6m0s", now) == 6min);
  CHECK(read_reset("17ms", now) == 17ms);
  CHECK(read_reset("1m30.5s", now) == 90500ms);
  CHECK(read_reset("2h1m", now) == 121min);
  CHECK(read_reset("12.5", now) == 12500ms);
  CHECK(read_reset("1767225610", now) == 10s);
  CHECK(read_reset("1767225610000", now) == 10s);
  CHECK(read_reset("2026-01-01T00:00:30Z", now) == 30s);
  CHECK(read_reset("2026-01-01T00:00:30.25Z", now) == 30s);
  CHECK(read_reset("2025-12-31T23:00:00Z", now) == 0s);
  for (const auto* none : {"", "soon", "5x", "-3", "s", "1s!", "nan", "inf",
                           "2026-01-01T00:00:30", "Z"})
    CHECK_FALSE(read_reset(none, now));
}

TEST_CASE("nothing is asked for while enough is left") {
  CHECK_FALSE(pace({}));
  CHECK_FALSE(pace({{"x-ratelimit-limit-requests", "500"},
                    {"x-ratelimit-remaining-requests", "101"},
                    {"x-ratelimit-reset-requests", "60s"}}));
  CHECK_FALSE(pace({{"x-ratelimit-remaining-requests", "1"},
                    {"x-ratelimit-reset-requests", "60s"}}));
  CHECK_FALSE(pace({{"x-ratelimit-limit-requests", "500"},
                    {"x-ratelimit-remaining-requests", "0"}}));
}

TEST_CASE("the last fifth of a limit is spread until it is full again") {
  const std::map<std::string, std::string> few{
      {"x-ratelimit-limit-requests", "500"},
      {"x-ratelimit-remaining-requests", "9"},
      {"x-ratelimit-reset-requests", "50s"}};
  CHECK(pace(few) == 5s);
  auto none = few;
  none["x-ratelimit-remaining-requests"] = "0";
  CHECK(pace(none) == 50s);
  none["x-ratelimit-reset-requests"] = "20h";
  CHECK(pace(none) == 1min);  // never longer
  CHECK(pace({{"anthropic-ratelimit-requests-limit", "50"},
              {"anthropic-ratelimit-requests-remaining", "4"},
              {"anthropic-ratelimit-requests-reset",
               "2026-01-01T00:00:10Z"}}) == 2s);
  CHECK(pace({{"x-ratelimit-limit", "20"},
              {"x-ratelimit-remaining", "0"},
              {"x-ratelimit-reset", "1767225610000"}}) == 10s);
}

TEST_CASE("tokens are counted in requests like the last one") {
  const std::map<std::string, std::string> left{
      {"anthropic-ratelimit-input-tokens-limit", "50000"},
      {"anthropic-ratelimit-input-tokens-remaining", "5000"},
      {"anthropic-ratelimit-input-tokens-reset", "2026-01-01T00:00:12Z"}};
  CHECK(pace(left, 1000) == 2s);
  CHECK(pace(left, 6000) == 12s);
  CHECK(pace(left, 0) < 10ms);
  CHECK(pace({{"x-ratelimit-limit-tokens-minute", "100"},
              {"x-ratelimit-remaining-tokens-minute", "0"},
              {"x-ratelimit-reset-tokens-minute", "7"}}) == 7s);
}

TEST_CASE("starts are spread as the server asks") {
  using model::rate_limiter;
  constexpr time_point zero{};
  rate_limiter gate{{0, 0, true}};
  CHECK(gate.try_start(zero));
  gate.on_end();
  gate.pace(5s, zero);
  CHECK_FALSE(gate.try_start(zero));
  gate.wait(2, zero + 10min);
  gate.wait(3, zero + 10min);
  CHECK(gate.next() == zero + 5s);
  CHECK(gate.poll(zero + 5s - 1ns).started.empty());
  CHECK(gate.poll(zero + 5s).started == std::vector<rate_limiter::ticket>{2});
  CHECK(gate.next() == zero + 10s);  // not both at once
  gate.pace(0s, zero + 6s);
  CHECK(gate.poll(zero + 6s).started == std::vector<rate_limiter::ticket>{3});
  CHECK(gate.try_start(zero + 6s));
}

TEST_CASE("a server's pace does not lengthen a wait beyond its limit") {
  model::rate_limiter gate{{0, 0, true}};
  constexpr time_point zero{};
  gate.pace(60s, zero);
  gate.wait(1, zero + 3s);
  CHECK(gate.next() == zero + 3s);
  CHECK(gate.poll(zero + 3s).expired.size() == 1);
}
