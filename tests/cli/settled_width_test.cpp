// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/settled_width.hpp"

#include "runtime/cli/view/volley_view.hpp"
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

TEST_CASE("a window that is being pulled has one row until it stays so") {
  const time_point start{100s};
  view_options options;
  options.status = true;
  volley_view x{options, {"a", "b"}};
  for (std::size_t i = 0; i < 2; ++i) x.begun(i, false, start, {80, 24});
  const auto drawn = [&](duration at, view_size size) {
    std::string out;
    for (const auto& one : x.tick(start + at, size)) out += one.bytes;
    return out;
  };
  CHECK(drawn(1s, {80, 24}).find("▶ b") != std::string::npos);
  const auto size = GENERATE(view_size{80, 6}, view_size{40, 24});
  const auto pulled = drawn(1020ms, size);  // before its turn
  CHECK(pulled.find("0/2 ended — 1.0s") != std::string::npos);
  CHECK(pulled.find("▶") == std::string::npos);
  CHECK(drawn(1200ms, size).find("▶") == std::string::npos);
  CHECK(drawn(1400ms, size).find("▶ b") != std::string::npos);
}
