// SPDX-License-Identifier: MIT
#include "runtime/model/read_coalescer.hpp"

#include "tests/support/catch.hpp"

using riffle::model::read_coalescer;
using namespace std::chrono_literals;

namespace {

/// `rounds` rounds of one read each, `apart` from each other.
bool busy_after(std::size_t rounds, riffle::duration apart,
                std::size_t transfers) {
  read_coalescer g;
  riffle::time_point now{1s};
  for (std::size_t i = 0; i < rounds; ++i)
    g.on_round(1, transfers, now += apart);
  return g.should_gather();
}

}  // namespace

TEST_CASE("many busy streams gather their reads") {
  CHECK(busy_after(1000, 200us, 100));
}

TEST_CASE("a lone stream never waits for others") {
  CHECK_FALSE(busy_after(1000, 100us, 1));
  CHECK_FALSE(busy_after(1000, 100us, read_coalescer::many_transfers - 1));
}

TEST_CASE("many streams that bring little do not wait") {
  CHECK_FALSE(busy_after(1000, 1ms, 1000));
}

TEST_CASE("gathering ends with the load") {
  read_coalescer g;
  riffle::time_point now{1s};
  for (int i = 0; i < 1000; ++i) g.on_round(1, 100, now += 200us);
  REQUIRE(g.should_gather());
  g.on_round(1, 100, now += 1s);
  CHECK_FALSE(g.should_gather());
}
