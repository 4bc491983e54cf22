// SPDX-License-Identifier: MIT
// Keys of the configuration that only simulated faults can show.
#include <stdexcept>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

TEST_CASE("a run is recovered as often as configured") {
  const auto attempts = [](std::uint32_t allowed) {
    actor_fixture x;
    x.begin();
    x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls")};
    auto spec = x.make_spec();
    spec->agent.recovery_attempts = allowed;
    spec->faults = [](const std::string& handler) {
      if (handler == "dispatcher.parsed_calls")
        throw std::runtime_error{"always"};
    };
    x.start(spec);
    x.run_out();
    CHECK(x.reader->is_closed);
    return x.provider->requests.size();
  };
  CHECK(attempts(2) == attempts(1) + 1);
}
