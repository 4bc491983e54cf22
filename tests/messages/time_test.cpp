// SPDX-License-Identifier: MIT
#include "messages/time.hpp"

#include <limits>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;

TEST_CASE("a wall time is written in UTC with six digits") {
  CHECK(to_string(wall_time{0}) == "1970-01-01T00:00:00.000000Z");
  CHECK(to_string(wall_time{1}) == "1970-01-01T00:00:00.000001Z");
  CHECK(to_string(wall_time{-1}) == "1969-12-31T23:59:59.999999Z");
  CHECK(to_string(wall_time{1'769'851'800'123'456}) ==
        "2026-01-31T09:30:00.123456Z");
  CHECK(to_string(wall_time{951'782'400'000'000}) ==
        "2000-02-29T00:00:00.000000Z");
}

TEST_CASE("times beyond four digits of a year become the nearest") {
  using limits = std::numeric_limits<std::int64_t>;
  CHECK(to_string({limits::min()}) == "0000-01-01T00:00:00.000000Z");
  CHECK(to_string({limits::max()}) == "9999-12-31T23:59:59.999999Z");
}

TEST_CASE("a wall time comes back from its text") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random{seed};
  std::uniform_int_distribution<std::int64_t> pick{-62'167'219'200'000'000,
                                                   253'402'300'799'999'999};
  for (int i = 0; i < 2000; ++i) {
    const wall_time x{pick(random)};
    wall_time y;
    REQUIRE(parse(to_string(x), y));
    REQUIRE(x == y);
  }
}

TEST_CASE("a text of another form is no wall time") {
  wall_time x{42};
  for (std::string_view text : {
           "",
           "2026-01-31",
           "2026-01-31T09:30:00Z",
           "2026-01-31T09:30:00.123Z",
           "2026-01-31 09:30:00.123456Z",
           "2026-01-31T09:30:00.123456",
           "2026-01-31T09:30:00.123456z",
           "2026-01-31T09:30:00.123456+",
           "2026-13-31T09:30:00.123456Z",
           "2026-02-29T09:30:00.123456Z",
           "2026-00-10T09:30:00.123456Z",
           "2026-01-31T24:30:00.123456Z",
           "2026-01-31T09:60:00.123456Z",
           "2026-01-31T09:30:60.123456Z",
           "2026-01-31T09:30:00.12345xZ",
           "-026-01-31T09:30:00.123456Z",
           "2026-01-31T09:30:00.123456Z ",
       }) {
    CAPTURE(text);
    CHECK_FALSE(parse(text, x));
    CHECK(x == wall_time{42});
  }
}
