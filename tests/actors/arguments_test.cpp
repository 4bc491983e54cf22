// SPDX-License-Identifier: MIT
// What readers see of calls whose arguments are of no use.
#include <string>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

const std::string the_end =
    model_says("done") + model_stops("stop") + model_done;

/// The event of the only call of a run.
nlohmann::json call_of(const std::string& tool, const nlohmann::json& arguments) {
  actor_fixture x;
  x.begin();
  x.provider->answers = {
      model_calls(0, tool, arguments) + model_stops("tool_calls") + model_done,
      the_end};
  x.start(x.make_spec());
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
  // The model reads what it had asked for, not something else.
  CHECK(x.provider->requests.back().find("made_up") != std::string::npos);
  return events_of(x.reader->lines, "tool_call").at(0).at("data");
}

}  // namespace

TEST_CASE("arguments that parse are an object, whatever becomes of the call") {
  const nlohmann::json arguments = {{"made_up", 1}};
  SECTION("no such tool") {
    const auto seen = call_of("nothing", arguments);
    CHECK(seen.at("arguments") == arguments);
    CHECK_FALSE(seen.contains("arguments_text"));
  }
  SECTION("not what its schema says") {
    const auto seen = call_of("act", {{"n", "made_up"}});
    CHECK(seen.at("arguments") == nlohmann::json{{"n", "made_up"}});
    CHECK_FALSE(seen.contains("arguments_text"));
  }
}
