// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/settled_width.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace std::chrono_literals;

TEST_CASE("a window that is being pulled is drawn for when its width stays") {
  settled_width x;
  const time_point start{100s};
  CHECK_FALSE(x.asks_for_drawing(80, 80, start));
  for (std::size_t columns = 79; columns > 60; --columns)
    CHECK_FALSE(x.asks_for_drawing(columns, 80, start + columns * 100ms));
  const auto last = start + 10s;
  CHECK_FALSE(x.asks_for_drawing(60, 80, last));
  CHECK_FALSE(x.asks_for_drawing(60, 80, last + 299ms));
  CHECK(x.asks_for_drawing(60, 80, last + 300ms));
  CHECK_FALSE(x.asks_for_drawing(60, 60, last + 301ms));  // it was drawn
  // And back again, before anybody had drawn.
  CHECK_FALSE(x.asks_for_drawing(70, 60, last + 1s));
  CHECK_FALSE(x.asks_for_drawing(60, 60, last + 2s));
}
