// SPDX-License-Identifier: MIT
// One call of a run is ended from outside.
#include <string>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

TEST_CASE("one call is cancelled, the others and the run go on") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_calls(0, "look") +
                             model_calls(1, "look", {{"n", 2}}) +
                             model_stops("tool_calls") + model_done,
                         model_says("The end.") + model_stops("stop")};
  x.run_blocking = false;
  // Whether they have begun, or wait for a thread.
  x.begin_blocking = GENERATE(true, false);
  x.start(x.make_spec());
  x.settle();
  REQUIRE(x.blocking->jobs.size() == 2);
  const auto begun = events_of(x.reader->lines, "tool_call");
  REQUIRE(begun.size() == 2);
  const call_id first{begun[0].at("data").at("id").get<std::string>()};
  caf::anon_send(x.registry, cancel_call{x.run, first, "by a test"});
  caf::anon_send(x.registry, cancel_call{x.run, call_id{"call_of_nobody"}});
  x.settle();
  x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
  // The run goes on: nobody is told that it was cancelled.
  const std::string told =
      std::string{"this call was cancelled by a test; it "} +
      (x.begin_blocking ? "did not run to its end" : "was not begun");
  for (const auto& r : events_of(x.reader->lines, "tool_result"))
    if (r.at("data").at("id") == first.value)
      CHECK(r.at("data").at("error").at("message") == told);
  REQUIRE(x.provider->requests.size() == 2);
  CHECK(x.provider->requests[1].find(told) != std::string::npos);
  for (const auto& r : events_of(x.reader->lines, "tool_result"))
    CHECK(r.at("data").at("outcome") ==
          (r.at("data").at("id") == first.value ? "cancelled" : "ok"));
  CHECK(events_of(x.reader->lines, "run_finished")
            .at(0)
            .at("data")
            .at("status") == "completed");
  caf::anon_send(x.registry, cancel_call{x.run, first});  // too late: nothing
  x.settle();
}
