// SPDX-License-Identifier: MIT
// A thread that is not the scheduler's runs the actors that it wakes.
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include <caf/all.hpp>

#include "runtime/scheduler/lifo_slot.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

struct lent_system {
  lent_system() {
    use_lifo_slot(config);
    config.set("scheduler.max-threads", std::size_t{1});
    system.emplace(config);
    inlined.open(*system);
  }

  /// Where an actor runs that is sent a message in a round.
  std::thread::id place(std::chrono::milliseconds work = {},
                        lender whose = lender::awaited) {
    std::promise<std::thread::id> where;
    auto found = where.get_future();
    auto actor = system->spawn([&where, work](caf::event_based_actor* self) {
      return caf::behavior{[&where, self, work](int) {
        std::this_thread::sleep_for(work);
        where.set_value(std::this_thread::get_id());
        self->quit();
      }};
    });
    // Until its first behaviour waits it is the workers'.
    while (!is_waiting(actor)) std::this_thread::yield();
    inlined.run([&] { caf::anon_send(actor, 1); }, {}, whose);
    REQUIRE(found.wait_for(testing::scaled(10s)) == std::future_status::ready);
    return found.get();
  }

  static bool is_waiting(const caf::actor& x) {
    auto* ptr = caf::actor_cast<caf::abstract_actor*>(x);
    return dynamic_cast<caf::scheduled_actor*>(ptr)->mailbox().blocked();
  }

  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  inline_run inlined;
};

struct carries {
  static inline const char* name = "carries";
};
struct calls_others {
  static inline const char* name = "calls_others";
};

const auto here = [] { return std::this_thread::get_id(); };

}  // namespace

TEST_CASE("an actor runs on the lent thread that wakes it") {
  lent_system x;
  CHECK(x.place() == here());
  CHECK(x.place() == here());
}

TEST_CASE("after a slow actor the thread lends itself no more for a while") {
  lent_system x;
  CHECK(x.place(20ms) == here());
  CHECK(x.place() != here());
}

namespace {

/// Many that do a little each, for longer than a round may take.
void run_long_round(lent_system& x, lender whose) {
  std::vector<caf::actor> all;
  for (int i = 0; i < 20; ++i)
    all.push_back(x.system->spawn([](caf::event_based_actor* self) {
      return caf::behavior{[self](int) {
        const auto end = std::chrono::steady_clock::now() + 1ms;
        while (std::chrono::steady_clock::now() < end) {
        }
        self->quit();
      }};
    }));
  for (const auto& one : all)
    while (!lent_system::is_waiting(one)) std::this_thread::yield();
  x.inlined.run(
      [&] {
        for (const auto& one : all) caf::anon_send(one, 1);
      },
      {}, whose);
}

/// Whether one try of a few shows it: a busy machine may take the core away.
template <class F>
bool once_of_a_few(F shows) {
  for (int i = 0; i < 10; ++i) {
    lent_system x;
    if (shows(x)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a spare thread goes on after a long round of short turns") {
  CHECK(once_of_a_few([](lent_system& x) {
    run_long_round(x, lender::spare);
    return x.place({}, lender::spare) == here();
  }));
}

TEST_CASE("a thread that is awaited rests after a long round, spare ones not") {
  CHECK(once_of_a_few([](lent_system& x) {
    run_long_round(x, lender::awaited);
    return x.place() != here() && x.place({}, lender::spare) == here();
  }));
}

TEST_CASE("a spare thread rests, too, if one actor kept it for long") {
  CHECK(once_of_a_few([](lent_system& x) {
    return x.place(50ms, lender::spare) == here() &&
           x.place({}, lender::spare) != here() && x.place() == here();
  }));
}

TEST_CASE(
    "a closed inline run does its work and leaves actors to the workers") {
  lent_system x;
  x.inlined.close();
  CHECK(x.place() != here());
}

TEST_CASE("actors that keep each other busy do not keep the thread") {
  lent_system x;
  std::atomic<bool> enough{false};
  std::promise<void> over;
  const auto player = [&](caf::event_based_actor* self) {
    return caf::behavior{[&, self](const caf::actor& other) {
      self->send(other, caf::actor{self});
      if (!enough) return;
      self->quit();
      if (other != self) caf::anon_send_exit(other, caf::exit_reason::kill);
    }};
  };
  auto one = x.system->spawn(player);
  auto two = x.system->spawn(player);
  two->attach_functor([&over] { over.set_value(); });
  while (!lent_system::is_waiting(one) || !lent_system::is_waiting(two))
    std::this_thread::yield();
  // That it comes back is the test: they never end by themselves.
  x.inlined.run([&] { caf::anon_send(one, two); });
  enough = true;
  CHECK(over.get_future().wait_for(testing::scaled(20s)) ==
        std::future_status::ready);
  caf::anon_send_exit(one, caf::exit_reason::kill);
}

TEST_CASE(
    "a thread that lends itself to some actors leaves others to workers") {
  lent_system x;
  std::promise<std::thread::id> first;
  std::promise<std::thread::id> second;
  auto other =
      x.system->spawn([&second](caf::stateful_actor<calls_others>* self) {
        return caf::behavior{[&second, self](int) {
          second.set_value(std::this_thread::get_id());
          self->quit();
        }};
      });
  auto one = x.system->spawn([&](caf::stateful_actor<carries>* self) {
    return caf::behavior{[&first, other, self](int) {
      first.set_value(std::this_thread::get_id());
      self->send(other, 1);
      self->quit();
    }};
  });
  while (!lent_system::is_waiting(one) || !lent_system::is_waiting(other))
    std::this_thread::yield();
  constexpr std::array<std::string_view, 1> some{"carries"};
  x.inlined.run([&] { caf::anon_send(one, 1); }, some);
  CHECK(first.get_future().get() == here());
  CHECK(second.get_future().get() != here());
}
