// SPDX-License-Identifier: MIT
#include "messages/duration_text.hpp"

#include <cstdint>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace std::chrono_literals;

TEST_CASE("durations are numbers with a unit") {
  CHECK(parse_duration("250ms") == duration{250ms});
  CHECK(parse_duration("1.5s") == duration{1500ms});
  CHECK(parse_duration("2m") == duration{2min});
  CHECK(parse_duration("24h") == duration{24h});
  CHECK(parse_duration("0s") == duration{0});
  CHECK(parse_duration("7us") == duration{7us});
  CHECK(parse_duration("9ns") == duration{9ns});
  CHECK(parse_duration("0.5h") == duration{30min});
  CHECK(parse_duration("0.000000001s") == duration{1ns});
}

TEST_CASE("what is no duration is refused") {
  for (const auto* text : {"",
                           "s",
                           "5",
                           "-1s",
                           "+1s",
                           " 1s",
                           "1s ",
                           "1 s",
                           "1,5s",
                           ".5s",
                           "1.s",
                           "1m30s",
                           "1d",
                           "1S",
                           "0x1s",
                           "1e3s",
                           "nan",
                           "infs",
                           "1.5ns",
                           "0.0000000001s",
                           "9223372036854775807s",
                           "99999999999999999999h"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
}

TEST_CASE("the longest duration that fits is read") {
  CHECK(parse_duration("2562046h") == duration{2562046h});
  CHECK_FALSE(parse_duration("2562048h"));
  CHECK(parse_duration("9223372036000000000ns"));
}

TEST_CASE("durations are shown as short as possible") {
  CHECK(duration_text(250ms) == "250ms");
  CHECK(duration_text(100ms) == "100ms");
  CHECK(duration_text(1500ms) == "1.5s");
  CHECK(duration_text(90s) == "90s");
  CHECK(duration_text(60s) == "1m");
  CHECK(duration_text(120s) == "2m");
  CHECK(duration_text(24h) == "24h");
  CHECK(duration_text(0s) == "0s");
  CHECK(duration_text(1ns) == "1ns");
}

TEST_CASE("every duration survives being shown and read") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random{seed};
  for (int i = 0; i < 2000; ++i) {
    const auto bits = std::uniform_int_distribution<int>{1, 60}(random);
    auto ns = static_cast<std::int64_t>(random() >> (64 - bits));
    if (i % 2 == 0) ns = ns / 1'000'000 * 1'000'000;
    const auto text = duration_text(duration{ns});
    CAPTURE(ns, text);
    CHECK(parse_duration(text) == duration{ns});
  }
}
