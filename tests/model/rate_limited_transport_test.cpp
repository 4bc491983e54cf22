// SPDX-License-Identifier: MIT
#include "runtime/model/rate_limited_transport.hpp"

#include <atomic>
#include <optional>
#include <thread>

#include "tests/model/rate_limited_world.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace riffle;
using namespace riffle::model;
using riffle::testing::fake_transport;
using riffle::testing::refusal;

namespace {

constexpr auto first = fake_transport::first_id;

using world = riffle::testing::limited_world;

}  // namespace

TEST_CASE("without a limit there is nothing in between") {
  world w{{0, 0}};
  CHECK(w.limited == w.inner);
}

TEST_CASE("transfers beyond the limit wait, and start in order") {
  world w{{2, 0}};
  const auto a = w.open("a");
  const auto b = w.open("b");
  const auto c = w.open("c");
  const auto d = w.open("d");
  CHECK(w.inner->order() == "ab");
  w.inner->finish(first + 1);
  CHECK(b.said->code() == "ok");
  w.settle();
  CHECK(w.inner->order() == "abc");
  const auto e = w.open("e");
  w.inner->finish(first);
  w.inner->finish(first + 2);
  w.settle();
  CHECK(w.inner->order() == "abcde");
  CHECK(w.inner->most_open() == 2);
  w.inner->finish(first + 3);
  w.inner->finish(first + 4);
  for (const auto& x : {a, b, c, d, e}) CHECK(x.said->code() == "ok");
}

TEST_CASE("bytes, the end, grants and cancels pass through") {
  world w{{1, 0}};
  const auto a = w.open("a");
  w.inner->all()[0].listener->on_bytes("words");
  CHECK(a.said->heard == "words");
  w.limited->grant(a.id, 11);
  CHECK(w.inner->all()[0].credit == 111);
  w.limited->cancel(a.id);
  CHECK(w.inner->all()[0].cancelled);
  CHECK(a.said->code() == "cancelled");
  w.limited->grant(a.id, 1);
  w.limited->cancel(a.id);
  CHECK(a.said->code() == "cancelled");

  const auto b = w.open("b");
  const auto end = refusal(7s);
  w.inner->finish(first + 1, end);
  CHECK(b.said->end.http_status == 429);
  CHECK(b.said->end.retry_after == duration{7s});
  CHECK(b.said->end.failure == end.failure);
}

TEST_CASE("what is granted to one that waits is added to its credit") {
  world w{{1, 0}};
  w.open("a");
  const auto b = w.open("b");
  w.limited->grant(b.id, 23);
  w.inner->finish(first);
  w.settle();
  CHECK(w.inner->all().at(1).credit == 123);
}

TEST_CASE("a waiting transfer is cancelled once and never starts") {
  world w{{1, 0}};
  w.open("a");
  const auto b = w.open("b");
  const auto c = w.open("c");
  w.limited->cancel(b.id);
  w.limited->cancel(b.id);
  CHECK(b.said->ends == 0);  // not inside of its own call
  w.settle();
  CHECK(b.said->code() == "cancelled");
  w.inner->finish(first);
  w.settle();
  CHECK(w.inner->order() == "ac");
  CHECK(b.said->code() == "cancelled");
  CHECK(c.said->ends == 0);
}

TEST_CASE("no minute has more starts than allowed") {
  world w{{0, 2}};
  for (const auto* name : {"a", "b", "c", "d", "e"}) w.open(name);
  CHECK(w.inner->order() == "ab");
  w.clock.pass(60s - 1ms);
  CHECK(w.inner->order() == "ab");
  w.clock.pass(1ms);
  CHECK(w.inner->order() == "abcd");
  w.clock.pass(60s);
  CHECK(w.inner->order() == "abcde");
}

TEST_CASE("a transfer that waits too long ends, and can be tried again") {
  world w{{1, 0}};
  w.open("a");
  const auto b = w.open("b", 30s);
  const auto c = w.open("c", 0s);  // no limit of its own
  w.clock.pass(30s - 1ms);
  CHECK(b.said->ends == 0);
  w.clock.pass(1ms);
  REQUIRE(b.said->code() == "timeout");
  CHECK(b.said->end.failure->retryable);
  CHECK_THAT(b.said->end.failure->message,
             Catch::Matchers::Contains("max_concurrent = 1"));
  w.clock.pass(9min + 29s);
  CHECK(c.said->ends == 0);
  w.clock.pass(1s);
  CHECK(c.said->code() == "timeout");
  w.inner->finish(first);
  w.settle();
  CHECK(w.inner->order() == "a");
  CHECK(w.clock.idle());  // nothing is left to wake for
}

TEST_CASE("a grant and a cancel inside the start are not lost") {
  world w{{1, 0}};
  w.open("a");
  const auto b = w.open("b");
  w.inner->on_open = [&](transfer_id) {
    w.limited->grant(b.id, 5);
    w.limited->cancel(b.id);
  };
  w.inner->finish(first);
  w.settle();
  CHECK(w.inner->all().at(1).credit == 105);
  CHECK(w.inner->all().at(1).cancelled);
  CHECK(b.said->code() == "cancelled");
}

TEST_CASE("a transfer that ends inside its start frees its place") {
  world w{{1, 0}};
  w.inner->on_open = [&](transfer_id id) { w.inner->finish(id); };
  const auto a = w.open("a");
  const auto b = w.open("b");
  w.settle();
  CHECK(a.said->code() == "ok");
  CHECK(b.said->code() == "ok");
}

TEST_CASE("the end of the transport ends what waits and what is open") {
  world w{{1, 0}};
  const auto a = w.open("a");
  const auto b = w.open("b");
  const auto c = w.open("c");
  w.limited->cancel(c.id);
  w.limited.reset();
  for (const auto& x : {a, b, c}) CHECK(x.said->code() == "cancelled");
  w.settle();
  CHECK(w.inner->order() == "a");
  CHECK(w.inner.use_count() == 1);
}

TEST_CASE("a queue has an end") {
  world w{{1, 0}};
  w.open("a");
  for (int i = 0; i < 65536; ++i) w.open("b");
  const auto last = w.open("c");
  w.settle();
  CHECK(last.said->code() == "model_rate_limited");
  CHECK(last.said->end.failure->retryable);
}

TEST_CASE("many threads never break the limit and lose nothing") {
  struct counting final : transfer_listener {
    explicit counting(std::atomic<int>& x) : ended{x} {}
    void on_bytes(std::string) override {}
    void on_end(transport_end) override { ++ended; }
    std::atomic<int>& ended;
  };
  constexpr int threads = 4;
  constexpr int each = 200;
  std::atomic<int> ended{0};
  const auto inner = std::make_shared<fake_transport>();
  thread_timer ends;
  thread_timer clock;
  inner->on_open = [&](transfer_id id) {
    ends.after(0s, [&, id] { inner->finish(id); });
  };
  const auto limited = make_rate_limited_transport(inner, {3, 0}, clock);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        const auto id = limited->open({}, std::make_shared<counting>(ended));
        if ((i + t) % 5 == 0) limited->cancel(id);
        limited->grant(id, 1);
      }
    });
  for (auto& x : all) x.join();
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (ended < threads * each && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  CHECK(ended == threads * each);
  CHECK(inner->most_open() <= 3);
}

TEST_CASE("the pace that a server asks for is kept, by all requests") {
  for (const bool obeys : {true, false}) {
    world w{{8, 0, obeys}};
    const auto a = w.open("a");
    REQUIRE(w.inner->all().size() == 1);
    transport_end slow;
    slow.http_status = 200;
    slow.pace = 5s;
    w.inner->finish(first, slow);
    w.settle();
    const auto b = w.open("b");
    const auto c = w.open("c");
    CAPTURE(obeys);
    CHECK(w.inner->all().size() == (obeys ? 1u : 3u));
    if (!obeys) continue;
    w.clock.pass(5s);
    CHECK(w.inner->all().size() == 2);
    transport_end unreachable;  // says nothing about limits
    w.inner->finish(first + 1, unreachable);
    w.settle();
    CHECK(w.inner->all().size() == 2);
    w.clock.pass(5s);
    CHECK(w.inner->all().size() == 3);
    transport_end plenty;
    plenty.http_status = 200;
    w.inner->finish(first + 2, plenty);
    w.settle();
    const auto d = w.open("d");
    CHECK(w.inner->all().size() == 4);
  }
}

TEST_CASE("a wait for the server's pace ends as any other") {
  world w{{0, 0, true}};
  const auto a = w.open("a");
  transport_end slow;
  slow.http_status = 429;
  slow.pace = 60s;
  w.inner->finish(first, slow);
  w.settle();
  const auto b = w.open("b", 3s);
  w.clock.pass(3s);
  CHECK(b.said->code() == "timeout");
  CHECK_THAT(b.said->end.failure->message,
             Catch::Matchers::Contains("what the provider says is left"));
}
