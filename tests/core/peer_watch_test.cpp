// SPDX-License-Identifier: MIT
#include "actors/core/peer_watch.hpp"

#include "actors/core/piece_window.hpp"
#include "tests/core/t0.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using riffle::testing::t0;
using namespace std::chrono_literals;
using core::dial_plan;
using core::peer_watch;

namespace {}  // namespace

TEST_CASE("a peer is asked each heartbeat, and silent after the time-out") {
  peer_watch x{{1s, 3s}, t0};
  CHECK(x.ping_due(t0));
  CHECK_FALSE(x.ping_due(t0 + 900ms));
  CHECK(x.ping_due(t0 + 1s));
  CHECK_FALSE(x.is_silent(t0 + 2999ms));
  CHECK(x.is_silent(t0 + 3s));
  x.on_ping(1, t0 + 1s);
  x.on_heard(t0 + 2s);
  x.on_pong(1, t0 + 2s);
  CHECK_FALSE(x.is_silent(t0 + 4999ms));
  CHECK(x.is_silent(t0 + 5s));
  CHECK(x.heard() == t0 + 2s);
}

TEST_CASE("the round trip is that of the newest ping that was answered") {
  peer_watch x{{1s, 3s}, t0};
  CHECK_FALSE(x.round_trip());
  x.on_ping(1, t0);
  x.on_ping(2, t0 + 1s);
  x.on_pong(1, t0 + 1100ms);
  CHECK(x.round_trip() == 1100ms);
  x.on_pong(2, t0 + 1200ms);
  CHECK(x.round_trip() == 200ms);
  x.on_pong(2, t0 + 9s);  // said twice
  x.on_pong(7, t0 + 9s);  // nobody asked
  CHECK(x.round_trip() == 200ms);
}

TEST_CASE("a peer that is heard but answers nothing is silent, too") {
  peer_watch x{{1s, 3s}, t0};
  x.on_ping(1, t0 + 500ms);
  x.on_pong(1, t0 + 600ms);
  CHECK(x.confirmed() == t0 + 500ms);
  for (auto at = 1s; at <= 10s; at += 1s) {
    x.on_ping(static_cast<std::uint64_t>(at.count()) + 1, t0 + at);
    x.on_heard(t0 + at);
  }
  CHECK(x.confirmed() == t0 + 500ms);
  CHECK(x.is_silent(t0 + 4500ms));
  x.restart(t0 + 10s);
  CHECK_FALSE(x.is_silent(t0 + 12999ms));
  CHECK(x.is_silent(t0 + 13s));
}

TEST_CASE("a dial can be put off for longer than its turn") {
  dial_plan x{{200ms, 10s}};
  REQUIRE(x.begin_if_due(t0));
  x.on_failed(t0, 1, 2s);
  CHECK_FALSE(x.begin_if_due(t0 + 1999ms));
  CHECK(x.begin_if_due(t0 + 2s));
}

TEST_CASE("an address is dialled at once, later and later after failures") {
  dial_plan x{{200ms, 10s}};
  CHECK(x.begin_if_due(t0));
  CHECK_FALSE(x.begin_if_due(t0 + 1h));  // it is being dialled
  auto now = t0;
  duration last{};
  for (int i = 0; i < 10; ++i) {
    x.on_failed(now, 1);
    auto wait = 1ms;
    while (!x.begin_if_due(now + wait)) wait += 1ms;
    CHECK(wait >= last);
    CHECK(wait <= 10s);
    last = wait;
    now += wait;
  }
  CHECK(last >= 9s);
  x.on_linked();
  CHECK(x.linked());
  CHECK_FALSE(x.begin_if_due(now + 1h));
}

TEST_CASE("who was refused is not dialled more often than who is away") {
  dial_plan x{{200ms, 10s}};
  auto now = t0;
  for (int i = 0; i < 6; ++i) {
    REQUIRE(x.begin_if_due(now));
    x.on_linked();  // and then refused
    x.on_failed(now, 0);
    now += 1h;
  }
  CHECK(x.failures() == 6);
  REQUIRE(x.begin_if_due(now));
  x.on_linked();
  x.on_joined();
  x.on_failed(now, 0);
  CHECK(x.failures() == 1);
  CHECK_FALSE(x.begin_if_due(now + 90ms));
  CHECK(x.begin_if_due(now + 200ms));
}

TEST_CASE("who is refused behind each greeting is dialled less and less") {
  dial_plan x{{200ms, 10s}};
  auto now = t0;
  duration last{};
  for (int i = 0; i < 8; ++i) {
    REQUIRE(x.begin_if_due(now));
    x.on_linked();
    x.on_joined();
    x.on_refused(now, 1);
    auto wait = 1ms;
    while (!x.begin_if_due(now + wait)) wait += 1ms;
    CHECK(wait >= last);
    last = wait;
    x.on_failed(now + wait, 1);  // and one that reached nobody
    now += 1h;
  }
  CHECK(last == 2s);  // it may be wanted when another one goes
  REQUIRE(x.begin_if_due(now));
  x.on_linked();
  x.on_joined();  // it stays
  x.on_failed(now, 0);
  CHECK(x.failures() == 1);
}

namespace {

void watch_for_a_while(core::piece_window& x, time_point now, duration far,
                       duration each) {
  x.on_answer(far + each, now);  // the first stands behind nobody
  for (int i = 0; i < 100; ++i)
    x.on_answer(far + each * static_cast<std::int64_t>(x.size()), now);
}

/// What a window comes to on a link where a piece is `far` on its way, and each
/// takes `each` of the link for itself.
core::piece_window after_a_while(duration far, duration each) {
  core::piece_window x;
  watch_for_a_while(x, time_point{} + 1h, far, each);
  return x;
}

}  // namespace

TEST_CASE("few pieces of outputs stand in the queue of a slow link") {
  CHECK(after_a_while(1ms, 10ms).size() <= core::piece_window::least + 1);
}

TEST_CASE("a link that is far away is filled with pieces all the same") {
  CHECK(after_a_while(100ms, 100us).size() == core::piece_window::most);
}

TEST_CASE("as many pieces are on their way as stand in a short queue") {
  const auto size = after_a_while(1ms, 1ms).size();
  CHECK(size > core::piece_window::least);
  CHECK(size < core::piece_window::first + 3);
}

TEST_CASE("a way that became longer is filled with pieces again") {
  core::piece_window x;
  const auto now = time_point{} + 1h;
  watch_for_a_while(x, now, 10ms, 100us);
  watch_for_a_while(x, now + 1s, 100ms, 100us);
  CHECK(x.size() == core::piece_window::least);
  watch_for_a_while(x, now + 3min, 100ms, 100us);
  watch_for_a_while(x, now + 5min, 100ms, 100us);
  CHECK(x.size() == core::piece_window::most);
}
