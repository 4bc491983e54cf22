// SPDX-License-Identifier: MIT
#include "actors/core/held_notice.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;
using namespace std::chrono_literals;

TEST_CASE("who is held back reads for how long") {
  CHECK(held_notice(5200ms) ==
        "held back by the model's rate limit, next in 6s");
  CHECK(held_notice({}) == "held back by the model's rate limit");
  for (const std::optional<duration> next : {std::optional<duration>{}, {6s}}) {
    const auto read = read_held_notice(held_notice(next));
    REQUIRE(read);
    CHECK(read->next == next);
  }
  for (const auto* other :
       {"", "waiting for the model", "held back by the model's rate limits",
        "held back by the model's rate limit, next in s",
        "held back by the model's rate limit, next in 6m",
        "held back by the model's rate limit, next in 6xs"})
    CHECK_FALSE(read_held_notice(other));
}

TEST_CASE("a refusal for the rate is told from a failure") {
  CHECK(is_rate_refusal("HTTP 429: Rate limit reached"));
  CHECK(is_rate_refusal("HTTP 429"));
  CHECK_FALSE(is_rate_refusal("HTTP 4290"));
  CHECK_FALSE(is_rate_refusal("HTTP 503: slow"));
}
