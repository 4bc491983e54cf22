// SPDX-License-Identifier: MIT
// Why an actor ended is told in a person's words, to people and to the model.
#include "actors/end_reason.hpp"

#include <caf/all.hpp>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

TEST_CASE("the end of an actor is told without CAF's wrapping") {
  CHECK(describe_end(caf::make_error(caf::sec::runtime_error, "a.b",
                                     "the disk is gone")) ==
        "the disk is gone");
  CHECK(describe_end(caf::make_error(caf::sec::runtime_error, "it broke")) ==
        "it broke");
  CHECK(describe_end(caf::make_error(caf::exit_reason::kill)) ==
        "it was killed");
  CHECK_FALSE(describe_end(caf::make_error(caf::sec::runtime_error)).empty());
  CHECK_FALSE(
      describe_end(caf::make_error(caf::sec::runtime_error, 7)).empty());
}

TEST_CASE("the end of a worker is told in the words of what broke it") {
  actor_fixture x;
  x.settings.defaults.attempts = 2;
  x.supervision.backoff_base = 1ms;
  int faults = 0;
  x.process_faults = [&](const std::string& at) {
    if (at == "tool_worker.assignment" && faults++ < 4)
      throw std::runtime_error{"the disk is gone"};
  };
  x.begin();
  x.provider->answers = {
      model_calls(0, "look") + model_stops("tool_calls"),
      model_says("The end.") + model_stops("stop"),
  };
  x.start(x.make_spec());
  x.run_out(1min);
  REQUIRE(faults > 0);
  const auto retries = events_of(x.reader->lines, "retry");
  REQUIRE_FALSE(retries.empty());
  CHECK(x.reader->lines.find("system_error") == std::string::npos);
  const std::string why = retries.front().at("data").at("reason");
  CHECK(why.find("the disk is gone") != std::string::npos);
}
