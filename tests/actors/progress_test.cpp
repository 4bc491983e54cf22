// SPDX-License-Identifier: MIT
// How many events of progress a call has that never stops reporting.
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
