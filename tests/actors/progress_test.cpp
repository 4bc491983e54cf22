// SPDX-License-Identifier: MIT
// How many events of progress a call has that never stops reporting.
#include <future>
#include <thread>

#include "actors/tools/tool_worker.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

TEST_CASE(
    "a call has a thousand events of progress, however often it is tried") {
  const int attempts = GENERATE(1, 3);
  CAPTURE(attempts);
  constexpr int in_sum = 300'000;
  actor_fixture x;
  x.settings.defaults.attempts = static_cast<std::uint32_t>(attempts);
  x.settings.defaults.timeout = 1h;
  x.settings.defaults.idle_timeout = 0s;
  x.begin();
  x.look->throw_times = attempts - 1;
  // Time passes between the reports, and all that left was acknowledged.
  int reported = 0;
  x.look->also = [&](tools::tool_context& context) {
    const int steps = 3000 / attempts;
    for (int step = 0; step < steps; ++step) {
      for (int i = 0; i < 100; ++i)
        context.progress(
            {"report " + std::to_string(++reported), {}, {}, {}, 0});
      x.settle();
      x.advance(100ms);
    }
  };
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls"),
                         model_says("The end.") + model_stops("stop")};
  x.start(x.make_spec());
  x.run_out();
  CHECK(reported == in_sum);
  check_log(x.reader->lines);
  const auto result = events_of(x.reader->lines, "tool_result").at(0);
  CHECK(result.at("data").at("outcome") == "ok");
  const auto reports = events_of(x.reader->lines, "tool_progress");
  CHECK(reports.size() <= 1000);
  CHECK(reports.size() >= 600);  // that nobody held them back beside
  std::uint64_t stands_for = 0;
  for (const auto& r : reports)
    stands_for += 1 + r.at("data").value("coalesced", std::uint64_t{0});
  CHECK(stands_for == in_sum);
  CHECK(reports.back().at("data").at("message") ==
        "report " + std::to_string(in_sum));
}

TEST_CASE(
    "a report wakes others on its tool's thread, and holds no lock then") {
  caf::actor_system_config config;
  register_wire(config);
  // Its queue has a lock; that of "stealing" orders by what no sanitizer sees.
  config.set("scheduler.policy", caf::atom("sharing"));
  caf::actor_system system{config};
  std::promise<void> both;
  std::vector<work::progress> seen;
  caf::actor_addr sender;
  const auto worker = system.spawn(
      [](thread_worker_actor::pointer) -> thread_worker_actor::behavior_type {
        return {[](work::assignment&, work_listeners&) {}, [](work::stop&) {},
                [](work::ack&) {}, [](blocking_done&) {}, [](tick&) {}};
      });
  const auto muxer = system.spawn(
      [&](progress_listener::pointer self) -> progress_listener::behavior_type {
        return {[&, self](work::progress& x) {
          sender = caf::actor_cast<caf::actor_addr>(self->current_sender());
          seen.push_back(std::move(x));
          if (seen.size() == 2) both.set_value();
        }};
      });
  int rounds = 0;
  std::unique_ptr<progress_relay> relay;
  relay = std::make_unique<progress_relay>(
      progress_relay::way{worker,
                          muxer,
                          {"c"},
                          1,
                          "look",
                          [&](const std::function<void()>& work) {
                            ++rounds;
                            work();
                            relay->on_ack();  // as one that it woke may
                          }},
      16, 1);
  relay->begin();
  relay->offer({.message = "mine"});
  std::thread{[&] { relay->offer({.message = "another's"}); }}.join();
  REQUIRE(both.get_future().wait_for(1min) == std::future_status::ready);
  CHECK(rounds == 1);
  CHECK(sender == worker.address());
  CHECK(seen.at(0) == work::progress{{"c"}, 1, 1, "look", {.message = "mine"}});
  CHECK(seen.at(1).number == 2);
  caf::anon_send_exit(muxer, caf::exit_reason::kill);
  caf::anon_send_exit(worker, caf::exit_reason::kill);
}
