// SPDX-License-Identifier: MIT
#include "runtime/base/fair_queue.hpp"

#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

namespace {

using namespace riffle;
using namespace std::chrono_literals;

constexpr time_point start{};

std::string drain_in_order(fair_queue<char>& q, time_point now) {
  std::string out;
  while (auto x = q.pop(now)) out += *x;
  return out;
}

}  // namespace

TEST_CASE("equals are served in the order of coming") {
  fair_queue<char> q;
  for (const char c : {'a', 'b', 'c'}) q.push(c, {}, start);
  CHECK(q.size() == 3);
  CHECK(q.pop(start) == 'a');
  q.push('d', {}, start);
  CHECK(drain_in_order(q, start) == "bcd");
  CHECK(q.empty());
  CHECK_FALSE(q.pop(start));
}

TEST_CASE("a higher priority goes first") {
  fair_queue<char> q;
  q.push('l', {"r", -1}, start);
  q.push('n', {"r", 0}, start);
  q.push('h', {"r", 7}, start);
  CHECK(drain_in_order(q, start) == "hnl");
}

TEST_CASE("waiting raises the priority by one each span") {
  fair_queue<char> q;
  q.push('o', {"a", 0}, start);
  const auto later = start + 2 * fair_queue<char>::ageing;
  q.push('y', {"a", 2}, later);
  CHECK(q.pop(later - 1ns) == 'y');  // just before it has aged enough
  q.push('z', {"a", 2}, later);
  CHECK(q.pop(later) == 'o');  // as urgent now, and it came first
}

TEST_CASE("groups share the places") {
  fair_queue<char> q;
  for (const char c : {'a', 'a', 'a', 'a'}) q.push(c, {"one", 0}, start);
  for (const char c : {'b', 'b'}) q.push(c, {"two", 0}, start);
  CHECK(drain_in_order(q, start) == "ababaa");
  for (int i = 0; i < 4; ++i) q.release("one");
  q.push('a', {"one", 0}, start);
  q.push('b', {"two", 0}, start);
  CHECK(q.pop(start) == 'a');  // the other one still holds two
}

TEST_CASE("groups take turns at a single place") {
  fair_queue<char> q;
  for (const char c : {'a', 'a', 'a', 'a'}) q.push(c, {"one", 0}, start);
  std::string order;
  const auto serve = [&] {
    order += *q.pop(start);
    q.release(order.back() == 'a' ? "one" : "two");
  };
  serve();
  for (const char c : {'b', 'b'}) q.push(c, {"two", 0}, start);
  while (!q.empty()) serve();
  CHECK(order == "ababaa");
}

TEST_CASE("being away earns no credit") {
  fair_queue<char> q;
  for (int i = 0; i < 100; ++i) {
    q.push('a', {"one", 0}, start);
    CHECK(q.pop(start) == 'a');
    if (i < 99) q.release("one");
  }
  for (int i = 0; i < 3; ++i) q.push('a', {"one", 0}, start);
  for (int i = 0; i < 3; ++i) q.push('b', {"two", 0}, start);
  q.release("one");
  std::string order;
  while (auto x = q.pop(start)) {
    order += *x;
    q.release(*x == 'a' ? "one" : "two");
  }
  CHECK(order.substr(0, 4) != "bbba");
  CHECK(order.size() == 6);
}

TEST_CASE("nothing starves under a steady stream of urgent work") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random{seed};
  fair_queue<int> q;
  const int urgency = 3;
  q.push(0, {"patient", 0}, start);
  auto now = start;
  // One place, and always something more urgent that came just now.
  for (int i = 1;; ++i) {
    now += std::chrono::milliseconds{random() % 1000};
    q.push(i, {"busy", urgency}, now);
    const auto next = q.pop(now);
    q.release(*next == 0 ? "patient" : "busy");
    if (*next == 0) break;
    REQUIRE(now - start <= (urgency + 1) * fair_queue<int>::ageing);
  }
  CHECK(now - start >= (urgency - 1) * fair_queue<int>::ageing);
}

TEST_CASE("what is dropped is never served") {
  fair_queue<int> q;
  for (int i = 0; i < 6; ++i) q.push(i, {}, start);
  q.erase_if([](int x) { return x % 2 == 0; });
  CHECK(q.pop(start) == 1);
  CHECK(q.drain() == std::vector{3, 5});
  CHECK(q.empty());
}

TEST_CASE("one that waits can be taken out by its number") {
  fair_queue<char> q;
  const queue_ticket who{"r", 2};
  q.push('a', who, start);
  const auto b = q.push('b', who, start);
  q.push('c', {"s", 0}, start);
  CHECK(q.take(who, b) == 'b');
  CHECK_FALSE(q.take(who, b));
  CHECK_FALSE(q.take({"nobody", 2}, b));
  CHECK_FALSE(q.take({"r", 1}, b));
  CHECK(q.size() == 2);
  CHECK(drain_in_order(q, start) == "ac");
}
