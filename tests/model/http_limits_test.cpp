// SPDX-License-Identifier: MIT
#include "runtime/model/http_limits.hpp"

#include "tests/support/catch.hpp"

namespace riffle::model {

using namespace std::chrono_literals;

namespace {

constexpr time_point start{1000s};

transport_timeouts limits() { return {10s, 60s, 20s, 100s}; }

using deadline = limit_clock::deadline;

}  // namespace

TEST_CASE("the connect limit runs first") {
  limit_clock clock{limits(), start};
  CHECK(clock.next() == deadline{start + 10s, time_limit::connect});
}

TEST_CASE("the first byte's limit runs from the moment of the request") {
  limit_clock clock{limits(), start};
  clock.on_connected(start + 3s);
  CHECK(clock.next() == deadline{start + 63s, time_limit::first_byte});
}

TEST_CASE("each read starts the idle limit anew") {
  limit_clock clock{limits(), start};
  clock.on_connected(start);
  clock.on_bytes(start + 5s);
  CHECK(clock.next() == deadline{start + 25s, time_limit::idle});
  clock.on_bytes(start + 24s);
  CHECK(clock.next() == deadline{start + 44s, time_limit::idle});
}

TEST_CASE("reads do not move the total limit") {
  limit_clock clock{limits(), start};
  clock.on_bytes(start + 99s);
  CHECK(clock.next() == deadline{start + 100s, time_limit::total});
}

TEST_CASE("idle and total stand still during a pause") {
  limit_clock clock{limits(), start};
  clock.on_bytes(start + 5s);
  clock.pause(start + 10s);
  CHECK_FALSE(clock.next());
  clock.pause(start + 11s);
  clock.resume(start + 1010s);
  CHECK(clock.next() == deadline{start + 1025s, time_limit::idle});
  clock.on_bytes(start + 1095s);
  CHECK(clock.next() == deadline{start + 1100s, time_limit::total});
}

TEST_CASE("a read that is held during a pause starts idle at the resume") {
  limit_clock clock{limits(), start};
  clock.on_bytes(start + 5s);
  clock.pause(start + 5s);
  clock.on_bytes(start + 15s);
  clock.resume(start + 50s);
  CHECK(clock.next() == deadline{start + 70s, time_limit::idle});
}

TEST_CASE("a limit of zero is none") {
  limit_clock clock{{0s, 0s, 0s, 0s}, start};
  CHECK_FALSE(clock.next());
  clock.on_connected(start);
  CHECK_FALSE(clock.next());
  clock.on_bytes(start);
  CHECK_FALSE(clock.next());
}

TEST_CASE("a new connection after a retry does not restart the first byte") {
  limit_clock clock{limits(), start};
  clock.on_connected(start);
  clock.on_connected(start + 50s);
  CHECK(clock.next() == deadline{start + 60s, time_limit::first_byte});
}

}  // namespace riffle::model
