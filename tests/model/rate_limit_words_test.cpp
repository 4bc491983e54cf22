// SPDX-License-Identifier: MIT
// What a rate-limited transport learns of its server, and tells of it.
#include "tests/model/rate_limited_world.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace riffle;
using namespace riffle::model;
using riffle::testing::answered;
using riffle::testing::refusal;

namespace {

constexpr auto first = riffle::testing::fake_transport::first_id;

using world = riffle::testing::limited_world;

}  // namespace

TEST_CASE("streams that run are counted, and who was refused goes first") {
  world w{{0, 0, true}};
  for (const auto* name : {"a", "b", "c", "d"}) w.open(name);
  for (int i = 0; i < 4; ++i) w.inner->all()[i].listener->on_bytes("words");
  w.clock.pass(1s);
  w.open("e");
  w.inner->finish(first + 4, refusal(9s));
  for (int i = 0; i < 4; ++i) w.inner->finish(first + i, answered());
  for (const auto* name : {"f", "g", "h", "i"}) w.open(name);
  w.open("E", 10min, true);
  w.clock.pass(8900ms);
  CHECK(w.inner->order() == "abcde");
  w.clock.pass(1s);
  CHECK(w.inner->order() == "abcdeEfgh");
  w.clock.pass(9s);
  CHECK(w.inner->order() == "abcdeEfgh");
  for (int i = 5; i < 9; ++i) w.inner->finish(first + i, answered());
  w.clock.pass(3s);
  CHECK(w.inner->order() == "abcdeEfghi");
}

TEST_CASE("the capacity is told when an end or time alone changes it") {
  world w{{8, 2}};
  w.open("a");
  w.open("b");
  CHECK_FALSE(w.capacity);
  w.inner->finish(first, answered());
  CHECK(w.capacity == 1);  // the other is open
  w.inner->finish(first + 1, answered());
  CHECK(w.capacity == 0);
  w.clock.pass(60s - 1ms);
  CHECK(w.capacity == 0);
  w.clock.pass(1ms);
  CHECK(w.capacity == 2);
  CHECK(w.clock.idle());
  const auto c = w.open("c");
  w.inner->finish(first + 2, answered());
  CHECK(w.capacity == 1);
}

TEST_CASE("the capacity is told when a refusal holds all, and behind it") {
  world w{{8, 0, true}};
  w.open("a");
  w.inner->finish(first, refusal(9s));
  CHECK(w.capacity == 0);
  w.clock.pass(9s);
  CHECK(w.capacity == 1);
  transport_end slow = answered();
  slow.pace = 5s;
  w.open("b");
  w.inner->finish(first + 1, slow);
  CHECK(w.capacity == 0);
  w.clock.pass(5s);
  CHECK(w.capacity == 1);
}

TEST_CASE("who is held back by the server's limits is told, and of the start") {
  world w{{8, 0, true}};
  const auto a = w.open("a");
  const auto b = w.open("b");
  w.inner->finish(first, refusal(9s));
  w.settle();
  const auto c = w.open("c");
  const auto d = w.open("d");
  w.settle();
  CHECK(c.said->held == "9452 ");  // one in 9 s, and the margin
  CHECK(d.said->held == "9452 ");
  w.clock.pass(9500ms);
  CHECK(w.inner->order() == "ab");  // half of two, and that one is open
  CHECK(c.said->held == "9452 ? ");
  w.inner->finish(first + 1, answered());
  w.settle();
  CHECK(w.inner->order() == "abc");
  CHECK(c.said->held == "9452 ? sent");
  CHECK(d.said->held == "9452 ? ");
  w.limited->cancel(d.id);
  w.settle();
  CHECK(d.said->code() == "cancelled");
  CHECK(a.said->held.empty());
  CHECK(b.said->held.empty());
}

TEST_CASE(
    "a minute's limit holds back as the server's own, another's end not") {
  world w{{1, 2}};
  w.open("a");
  const auto b = w.open("b");
  w.settle();
  CHECK(b.said->held.empty());  // it waits for a, whose end may come at once
  w.inner->finish(first, answered());
  w.clock.pass(10s);
  const auto c = w.open("c");
  w.settle();
  CHECK(c.said->held == "50000 ");
  w.inner->finish(first + 1, answered());
  w.clock.pass(50s);
  CHECK(c.said->held == "50000 sent");
}
