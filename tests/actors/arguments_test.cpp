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
nlohmann::json call_of(const std::string& tool,
                       const nlohmann::json& arguments) {
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

namespace {

/// A piece of the arguments of the model's first call.
std::string more_arguments(const std::string& text) {
  const nlohmann::json delta{
      {"choices", nlohmann::json::array(
                      {{{"index", 0},
                        {"delta",
                         {{"tool_calls",
                           nlohmann::json::array(
                               {{{"index", 0},
                                 {"function", {{"arguments", text}}}}})}}}}})}};
  return "data: " + delta.dump() + "\n\n";
}

}  // namespace

TEST_CASE("arguments beyond the limit fail their call, the run goes on") {
  actor_fixture x;
  x.begin();
  auto spec = x.make_spec();
  auto limited = std::make_shared<run_spec>(*spec);
  limited->agent.max_argument_bytes = 1000;
  std::string endless = model_calls(0, "act", {{"n", 1}});
  for (int i = 0; i < 200; ++i) endless += more_arguments(std::string(50, ' '));
  x.provider->answers = {
      endless + model_calls(1, "look", {{"n", 2}}) + model_stops("tool_calls"),
      the_end};
  x.start(limited);
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
  const auto results = events_of(x.reader->lines, "tool_result");
  REQUIRE(results.size() == 2);
  for (const auto& result : results) {
    const auto& data = result.at("data");
    if (data.at("tool") == "look") {
      CHECK(data.at("outcome") == "ok");
    } else {
      CHECK(data.at("outcome") == "failed");
      CHECK(data.at("error").at("code") == "invalid_arguments");
    }
  }
  CHECK(x.act->acted.empty());
  CHECK(x.provider->requests.back().find("longer than the 1000 bytes") !=
        std::string::npos);
}

TEST_CASE("an answer beyond the limit ends there, for its length") {
  actor_fixture x;
  x.begin();
  auto limited = std::make_shared<run_spec>(*x.make_spec());
  limited->agent.max_turn_bytes = 1000;
  std::string endless;
  std::size_t turns = 2;
  SECTION("text") {
    turns = 1;  // what came is the answer
    for (int i = 0; i < 1000; ++i) endless += model_says(std::string(50, 'x'));
  }
  SECTION("arguments") {
    endless = model_says("I call. ") + model_calls(0, "act", {{"n", 1}});
    for (int i = 0; i < 1000; ++i)
      endless += more_arguments(std::string(50, ' '));
  }
  // It would go on: only the limit ends it.
  x.provider->answers = {endless + scripted_model::hold, the_end};
  x.start(limited);
  x.run_out();
  REQUIRE(x.reader->is_closed);
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
  CHECK(x.act->acted.empty());
  CHECK(x.provider->cancelled.size() == 1);
  CHECK(x.provider->requests.size() == turns);
  CHECK(events_of(x.reader->lines, "step_restarted").empty());
  const auto end = events_of(x.reader->lines, "run_finished").at(0).at("data");
  CHECK(end.at("status") == "completed");
}
