// SPDX-License-Identifier: MIT
// Workers that are not threads of this process, as far as a pool can tell:
// what they offer, what they get, and that it can cross a wire.
#include <caf/all.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/tools/tool_pool.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

/// A pool of workers that say what the test wants and do nothing, and a
/// dispatcher that keeps what it hears.
struct work_fixture {
  work_fixture() {
    register_wire(config);
    config.set("scheduler.policy", caf::atom("testing"));
    system = std::make_unique<caf::actor_system>(config);
    dispatcher = system->spawn(
        [](work_listener::pointer,
           work_fixture* x) -> work_listener::behavior_type {
          return {[](const work::started&) {},
                  [x](work::done& y) { x->done.push_back(std::move(y)); },
                  [](const work::lost&) {}};
        },
        this);
    muxer = system->spawn(
        [](progress_listener::pointer) -> progress_listener::behavior_type {
          return {[](const work::progress&) {}};
        });
  }
  ~work_fixture() {
    caf::anon_send_exit(pool, caf::exit_reason::user_shutdown);
    // CAF keeps handles that it has written to a wire.
    caf::anon_send_exit(dispatcher, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(muxer, caf::exit_reason::user_shutdown);
    pool = nullptr;
    dispatcher = nullptr;
    muxer = nullptr;
    run();
  }
  work_fixture(const work_fixture&) = delete;
  work_fixture& operator=(const work_fixture&) = delete;

  void begin() {
    pool = system->spawn(
        tool_pool, "look", pool_limits{}, [this](tool_pool_actor::pointer me) {
          auto worker = system->spawn(fake_worker, this,
                                      caf::actor_cast<work_supervisor>(me));
          me->monitor(worker);
          ++spawned;
          return worker;
        });
  }
  static tool_worker_actor::behavior_type fake_worker(
      tool_worker_actor::pointer self, work_fixture* x, work_supervisor pool) {
    self->send(pool, x->offer);
    return {[x](work::assignment& y, work_listeners&) {
              x->given.push_back(std::move(y));
            },
            [self, pool](const work::stop& y) {
              self->send(pool, work::freed{y.id});
            },
            [](const work::ack&) {}};
  }

  void give(const std::string& id) {
    work::assignment x;
    x.run = run_id{"run_1"};
    x.call.id = call_id{id};
    x.call.tool = "look";
    x.state = {{"n", "1"}};
    caf::anon_send(pool, std::move(x), work_listeners{dispatcher, muxer});
    run();
  }
  void run() {
    dynamic_cast<caf::scheduler::test_coordinator&>(system->scheduler()).run();
  }

  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
  work_listener dispatcher;
  progress_listener muxer;
  tool_pool_actor pool;
  work::offer offer{.tools = {"look"}};
  int spawned = 0;
  std::vector<work::assignment> given;
  std::vector<work::done> done;
};

}  // namespace

TEST_CASE("an assignment crosses a wire, and so does whom it is for") {
  work_fixture x;
  const auto seed = fresh_seed();
  CAPTURE(seed);
  random_values random{seed};
  const auto task = random.next<work::assignment>();
  auto sent = caf::make_message(task, work_listeners{x.dispatcher, x.muxer});
  std::vector<char> bytes;
  caf::binary_serializer sink{*x.system, bytes};
  REQUIRE_FALSE(sink(sent));
  caf::binary_deserializer source{*x.system, bytes};
  caf::message received;
  REQUIRE_FALSE(source(received));
  REQUIRE(received.match_elements<work::assignment, work_listeners>());
  CHECK(received.get_as<work::assignment>(0) == task);
  CHECK(received.get_as<work_listeners>(1).dispatcher == x.dispatcher);
  CHECK(received.get_as<work_listeners>(1).muxer == x.muxer);
}

TEST_CASE("a worker gets as many calls at once as it offers places") {
  work_fixture x;
  x.offer.places = 2;
  x.begin();
  for (const auto* id : {"a", "b", "c"}) x.give(id);
  CHECK(x.spawned == 1);
  REQUIRE(x.given.size() == 2);
  CHECK(x.given[1].state == std::map<std::string, std::string>{{"n", "1"}});
  caf::anon_send(x.pool, work::stop{call_id{"a"}, 1});
  x.run();
  REQUIRE(x.given.size() == 3);
  CHECK(x.given[2].call.id == call_id{"c"});
  CHECK(x.done.empty());
}

TEST_CASE("a worker that cannot serve gets no call, and its calls say why") {
  work_fixture x;
  std::string why;
  SECTION("of another version") {
    x.offer.version = work::version + 1;
    why = "version " + std::to_string(work::version + 1) +
          " of the work messages";
  }
  SECTION("for other tools") {
    x.offer.tools = {"act"};
    why = "does not serve";
  }
  SECTION("for none, and it says why") {
    x.offer.tools.clear();
    why = x.offer.problem = "no such tool";
  }
  x.begin();
  x.give("a");
  CHECK(x.given.empty());
  CHECK(x.spawned == 1);
  REQUIRE(x.done.size() == 1);
  REQUIRE(x.done[0].result.err);
  CHECK(x.done[0].result.err->code == errc::tool_unavailable);
  CHECK(x.done[0].result.err->cause.find(why) != std::string::npos);
}
