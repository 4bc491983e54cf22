// SPDX-License-Identifier: MIT
// The scheduler's clock: real time, so only order and "not early" are checked.
#include <algorithm>
#include <chrono>
#include <future>
#include <mutex>
#include <random>
#include <vector>

#include <caf/all.hpp>

#include "runtime/scheduler/lifo_slot.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace {

struct clocked_system {
  clocked_system() {
    use_lifo_slot(config);
    config.set("scheduler.max-threads", std::size_t{2});
    system.emplace(config);
  }
  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
};

template <class T>
bool comes(std::future<T>& x) {
  return x.wait_for(testing::scaled(10s)) == std::future_status::ready;
}

}  // namespace

TEST_CASE("a delayed message comes, and not early") {
  clocked_system x;
  std::promise<steady::time_point> at;
  auto came = at.get_future();
  const auto begin = steady::now();
  x.system->spawn([&](caf::event_based_actor* self) {
    self->delayed_send(self, 20ms, 1);
    return caf::behavior{[&, self](int) {
      at.set_value(steady::now());
      self->quit();
    }};
  });
  REQUIRE(comes(came));
  CHECK(came.get() - begin >= 20ms);
}

TEST_CASE("a timer that is due before the others wakes the clock") {
  clocked_system x;
  std::promise<void> over;
  auto came = over.get_future();
  x.system->spawn([&](caf::event_based_actor* self) {
    self->delayed_send(self, 1h, 1);
    self->send(self, 0);
    // The clock goes back to its hour of sleep between two links of the chain,
    // nearly always before the next one is set.
    return caf::behavior{[&, self, links = 0](int) mutable {
      if (++links < 200) {
        self->delayed_send(self, 1ms, 0);
      } else {
        over.set_value();
        self->quit();
      }
    }};
  });
  REQUIRE(comes(came));
}

TEST_CASE("timers in any order fire in the order of their time") {
  clocked_system x;
  const unsigned seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  std::vector<int> delays;
  for (int i = 0; i < 300; ++i)
    delays.push_back(static_cast<int>(random() % 40));
  std::vector<int> seen;
  std::promise<void> over;
  auto all = over.get_future();
  x.system->spawn([&](caf::event_based_actor* self) {
    const auto base = self->clock().now() + 5ms;
    for (const int ms : delays)
      self->scheduled_send(self, base + std::chrono::milliseconds{ms}, ms);
    return caf::behavior{[&, self](int ms) {
      seen.push_back(ms);
      if (seen.size() < delays.size()) return;
      self->quit();
      over.set_value();
    }};
  });
  REQUIRE(comes(all));
  CHECK(std::ranges::is_sorted(seen));
  std::ranges::sort(delays);
  CHECK(seen == delays);
}

TEST_CASE("a request has its answer or its deadline, one of them") {
  clocked_system x;
  auto echo = x.system->spawn([](caf::event_based_actor* self) {
    return caf::behavior{[self](int n) -> caf::result<int> {
      if (n > 0) return n;
      return self->make_response_promise<int>();  // never delivered
    }};
  });
  for (const int n : {1, 0}) {
    std::promise<int> answer;
    auto came = answer.get_future();
    x.system->spawn([&, n](caf::event_based_actor* self) {
      self->request(echo, 50ms, n)
          .then([&](int value) { answer.set_value(value); },
                [&](caf::error& why) {
                  answer.set_value(why == caf::sec::request_timeout ? -1 : -2);
                });
    });
    REQUIRE(comes(came));
    const int value = came.get();
    CHECK(value == (n > 0 ? n : -1));
  }
  caf::anon_send_exit(echo, caf::exit_reason::kill);
}

TEST_CASE("a system ends although timers are far away") {
  const bool detached = GENERATE(false, true);
  clocked_system x;
  const auto body = [](caf::event_based_actor* self) {
    self->delayed_send(self, 1h, 1);
    return caf::behavior{[](int) {}};
  };
  auto actor =
      detached ? x.system->spawn<caf::detached>(body) : x.system->spawn(body);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
  actor = nullptr;
  x.system.reset();  // that it comes back is the test
  SUCCEED();
}
