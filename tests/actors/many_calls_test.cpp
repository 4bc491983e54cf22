// SPDX-License-Identifier: MIT
// Turns with more calls than a model has reason for.
#include <algorithm>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

namespace {

std::string many(int n, const std::string& tool) {
  std::string out;
  for (int i = 0; i < n; ++i) out += model_calls(i, tool, {{"n", i}});
  return out;
}

void run(actor_fixture& x, const run_spec_ptr& spec) {
  x.start(spec);
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
}

std::size_t outcomes(const actor_fixture& x, const std::string& how) {
  const auto all = events_of(x.reader->lines, "tool_result");
  return static_cast<std::size_t>(std::ranges::count_if(
      all, [&](const json& e) { return e.at("data").at("outcome") == how; }));
}

}  // namespace

TEST_CASE("the calls behind the limit of a turn are skipped, not the turn") {
  const std::string tool = GENERATE("look", "act");
  actor_fixture x;
  x.begin();
  x.approval = approve::all;
  x.provider->answers = {many(5, tool) + model_stops("tool_calls"), model_ends};
  auto spec = x.make_spec();
  spec->agent.max_calls_per_turn = 3;
  run(x, spec);
  CHECK(x.look->acted.size() + x.act->acted.size() == 3);
  CHECK(outcomes(x, "ok") == 3);
  CHECK(outcomes(x, "skipped") == 2);
  // The model hears of each of them, and why it did not run.
  REQUIRE(x.provider->requests.size() == 2);
  const auto request = json::parse(x.provider->requests[1]);
  const auto& last = request.at("messages").back();
  CHECK(last.at("tool_call_id") == "id4");
  CHECK(last.at("content").get<std::string>().find(
            "a turn may have 3 tool calls") != std::string::npos);
  CHECK(events_of(x.reader->lines, "final_answer").size() == 1);
}

TEST_CASE("without a limit all calls of a turn run") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {many(300, "look") + model_stops("tool_calls"),
                         model_ends};
  auto spec = x.make_spec();
  SECTION("and by default 256 of them") {
    run(x, spec);
    CHECK(x.look->acted.size() == 256);
    CHECK(outcomes(x, "skipped") == 44);
  }
  SECTION("if there is none") {
    spec->agent.max_calls_per_turn = 0;
    run(x, spec);
    CHECK(x.look->acted.size() == 300);
  }
}

TEST_CASE("thousands of long calls behind the limit cost the run nothing") {
  const std::string tool = GENERATE("look", "act");
  actor_fixture x;
  x.begin();
  x.approval = approve::all;
  x.look->says = x.act->says = "ok";
  std::string calls;
  for (int i = 0; i < 6000; ++i)
    calls += model_calls(i, tool, {{"n", i}, {"text", std::string(1000, 'x')}});
  x.provider->answers = {calls + model_stops("tool_calls"), model_ends};
  run(x, x.make_spec());  // limits as people have them
  CHECK(x.look->acted.size() + x.act->acted.size() == 256);
  CHECK(outcomes(x, "ok") == 256);
  CHECK(outcomes(x, "skipped") == 768);
  REQUIRE(x.provider->requests.size() == 2);
  // What they asked for is kept of those that ran.
  CHECK(x.provider->requests[1].size() < 256 * 1000 + 300'000);
  CHECK(events_of(x.reader->lines, "error").empty());
  CHECK(events_of(x.reader->lines, "final_answer").size() == 1);
}

TEST_CASE("of a call behind the limit nobody says what it asked for") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_calls(0, "look", {{"n", 1}}) +
                             model_calls(1, "look", {{"n", 2}}) +
                             model_stops("tool_calls"),
                         model_ends};
  auto spec = x.make_spec();
  spec->agent.max_calls_per_turn = 1;
  run(x, spec);
  const auto calls = events_of(x.reader->lines, "tool_call");
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].at("data").at("arguments") == json{{"n", 1}});
  CHECK(calls[1].at("data").at("arguments").is_null());
  CHECK(calls[1].at("data").at("arguments_text") == "[not kept]");
  REQUIRE(x.provider->requests.size() == 2);
  const auto request = json::parse(x.provider->requests[1]);
  const auto& messages = request.at("messages");
  const auto asked = std::ranges::find_if(
      messages, [](const json& m) { return m.contains("tool_calls"); });
  REQUIRE(asked != messages.end());
  const auto& told = asked->at("tool_calls");
  REQUIRE(told.size() == 2);
  CHECK(told[1].at("function").at("arguments") ==
        R"({"arguments":"[not kept]"})");
}

TEST_CASE("where skipped calls have no room the model is told how many") {
  actor_fixture x;
  x.begin();
  x.look->says = "ok";
  x.provider->answers = {many(1000, "look") + model_stops("tool_calls"),
                         model_ends};
  auto spec = x.make_spec();
  spec->agent.max_calls_per_turn = 3;
  spec->model.context_window = 20'000;
  run(x, spec);
  CHECK(outcomes(x, "skipped") == 997);
  CHECK(events_of(x.reader->lines, "final_answer").size() == 1);
  REQUIRE(x.provider->requests.size() == 2);
  const auto request = json::parse(x.provider->requests[1]);
  const auto& last = request.at("messages").back();
  CHECK(last.at("tool_call_id") == "id66");
  CHECK(last.at("content").get<std::string>().ends_with(
      "nor were the 933 calls behind it"));
}

TEST_CASE("names without end end their turn, wherever their calls stand") {
  actor_fixture x;
  x.begin();
  const int kept = GENERATE(1, 100);
  std::string endless = model_calls(0, "look");
  for (int i = 1; i < 50; ++i)
    endless += model_calls(i, std::string(1u << 20, 'n'), {});
  x.provider->answers = {endless + scripted_model::hold, model_ends};
  auto spec = x.make_spec();
  spec->agent.max_calls_per_turn = static_cast<std::uint32_t>(kept);
  run(x, spec);
  CHECK(x.provider->cancelled.size() == 1);
  CHECK(x.provider->requests.size() == 2);
  CHECK(events_of(x.reader->lines, "final_answer").size() == 1);
}

TEST_CASE("arguments without end behind the limit end their turn alone") {
  actor_fixture x;
  x.begin();
  std::string endless = model_calls(0, "look") + model_calls(1, "look");
  const auto more =
      json{{"choices",
            {{{"index", 0},
              {"delta",
               {{"tool_calls",
                 {{{"index", 1},
                   {"function",
                    {{"arguments", std::string(1u << 20, ' ')}}}}}}}}}}}};
  for (int i = 0; i < 66; ++i) endless += "data: " + more.dump() + "\n\n";
  x.provider->answers = {endless + scripted_model::hold, model_ends};
  auto spec = x.make_spec();
  spec->agent.max_calls_per_turn = 1;
  run(x, spec);
  CHECK(x.provider->cancelled.size() == 1);
  CHECK(x.provider->requests.size() == 2);
  CHECK(outcomes(x, "ok") == 1);
  CHECK(outcomes(x, "skipped") == 1);
  CHECK(events_of(x.reader->lines, "final_answer").size() == 1);
}

TEST_CASE("a turn of calls without end is cut, and the run goes on") {
  actor_fixture x;
  x.begin();
  x.approval = approve::all;
  const std::string tool = GENERATE("look", "act");
  // The stream would stay open for ever, or ends by itself.
  const bool ends = GENERATE(false, true);
  x.provider->answers = {many(ends ? 1100 : 21'000, tool) +
                             (ends ? model_stops("tool_calls")
                                   : std::string{scripted_model::hold}),
                         model_ends};
  auto spec = x.make_spec();
  spec->agent.max_calls_per_turn = 4;
  run(x, spec);
  REQUIRE(x.provider->requests.size() == 2);
  if (!ends) CHECK(x.provider->cancelled.size() == 1);
  // What changes something acts only where the turn ended by itself.
  const bool acts = ends || tool == "look";
  CHECK(x.look->acted.size() + x.act->acted.size() == (acts ? 4 : 0));
  CHECK(outcomes(x, "ok") == (acts ? 4 : 0));
  CHECK(outcomes(x, "skipped") == (acts ? 1020 : 1024));
  CHECK(events_of(x.reader->lines, "error").empty());
  CHECK(events_of(x.reader->lines, "final_answer").size() == 1);
}

TEST_CASE("without a limit a turn of calls without end ends the run") {
  actor_fixture x;
  x.begin();
  const bool ends = GENERATE(false, true);
  x.provider->answers = {
      many(16'400, "look") +
      (ends ? model_stops("tool_calls") : std::string{scripted_model::hold})};
  auto spec = x.make_spec();
  spec->agent.max_calls_per_turn = 0;
  run(x, spec);
  CHECK(x.provider->requests.size() == 1);
  if (!ends) CHECK(x.provider->cancelled.size() == 1);
  const auto why = events_of(x.reader->lines, "error");
  REQUIRE(why.size() == 1);
  CHECK(why[0].at("data").at("code") == "model_error");
  CHECK(why[0].at("data").at("retryable") == false);
  CHECK(why[0].at("data").at("message").get<std::string>().find(
            "more than 16384 tool calls in one turn") != std::string::npos);
}

TEST_CASE("a cancel gets in while a large turn is taken in") {
  actor_fixture x;
  x.begin();
  x.run_blocking = false;
  x.provider->answers = {many(2000, "look") + model_stops("tool_calls"),
                         model_ends};
  auto spec = x.make_spec();
  spec->agent.max_calls_per_turn = 0;
  x.start(spec);
  x.settle();
  x.cancel();
  x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
  CHECK(outcomes(x, "ok") + outcomes(x, "cancelled") == 2000);
  CHECK(outcomes(x, "cancelled") > 1000);
}
