// SPDX-License-Identifier: MIT
// The policies of the loop in a whole run: loops, budgets, silence, endings.
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string one_call(const std::string& tool,
                     const json& arguments = {{"n", 1}}) {
  return model_calls(0, tool, arguments) + model_stops("tool_calls");
}

std::string used(int input, int output) {
  const json x{
      {"choices", json::array()},
      {"usage", {{"prompt_tokens", input}, {"completion_tokens", output}}}};
  return "data: " + x.dump() + "\n\n";
}

json only(const actor_fixture& x, std::string_view type) {
  const auto found = events_of(x.reader->lines, type);
  INFO(x.reader->lines);
  REQUIRE(found.size() == 1);
  return found[0].at("data");
}

void run(actor_fixture& x, const run_spec_ptr& spec) {
  x.start(spec);
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
}

/// Messages of the n-th request that are in the user's place and not his.
std::vector<std::string> notes(const actor_fixture& x, std::size_t n) {
  std::vector<std::string> out;
  const auto request = json::parse(x.provider->requests.at(n));
  for (const auto& m : request.at("messages"))
    if (m.at("role") == "user" &&
        m.at("content").get<std::string>().starts_with("[Note of the runtime]"))
      out.push_back(m.at("content"));
  return out;
}

}  // namespace

// -- loops --------------------------------------------------------------------

TEST_CASE("a loop is met with a hint first, and ends the run if it goes on") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {one_call("look")};
  auto spec = x.make_spec();
  spec->agent.loop_limit = 3;
  run(x, spec);
  REQUIRE(x.provider->requests.size() == 4);
  CHECK(notes(x, 2).empty());
  REQUIRE(notes(x, 3).size() == 1);
  CHECK(notes(x, 3)[0].find("the same call (`look`) 3 times") !=
        std::string::npos);
  CHECK(only(x, "error").at("code") == "loop_detected");
  const auto said = events_of(x.reader->lines, "status");
  CHECK(std::ranges::any_of(said, [](const json& s) {
    return s.at("data").at("text") == "the model repeats itself";
  }));
}

TEST_CASE("a model that listens to the hint finishes") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {one_call("look"), one_call("look"), one_call("redo"),
                         model_ends};
  auto spec = x.make_spec();
  spec->agent.loop_limit = 2;
  run(x, spec);
  CHECK(only(x, "final_answer").at("content") == "The end.");
  CHECK(notes(x, 3).size() == 1);
}

TEST_CASE("two calls in turn are a loop") {
  actor_fixture x;
  x.begin();
  for (int i = 0; i < 9; ++i)
    x.provider->answers.push_back(one_call(i % 2 == 0 ? "look" : "redo"));
  auto spec = x.make_spec();
  spec->agent.loop_limit = 3;
  run(x, spec);
  CHECK(x.provider->requests.size() == 8);
  CHECK(only(x, "error")
            .at("message")
            .get<std::string>()
            .find("two calls in turn (`look`, `redo`)") != std::string::npos);
}

TEST_CASE("a polling tool may be asked again and again") {
  actor_fixture x;
  x.settings.by_name["look"] = x.settings.defaults;
  x.settings.by_name["look"].polling = true;
  x.begin();
  x.provider->answers = {one_call("look"), one_call("look"), one_call("look"),
                         one_call("look"), model_ends};
  auto spec = x.make_spec();
  spec->agent.loop_limit = 2;
  run(x, spec);
  CHECK(only(x, "run_finished").at("status") == "completed");
  CHECK(notes(x, 4).empty());
}

TEST_CASE("a loop is found across a crash, wherever it happens") {
  for (std::size_t point = 1; point < 60; ++point) {
    actor_fixture x;
    x.begin();
    x.provider->answers = {one_call("look")};
    auto spec = x.make_spec();
    spec->agent.loop_limit = 3;
    std::size_t handled = 0;
    spec->faults = [&](const std::string& handler) {
      if (handler.starts_with("orchestrator.") && ++handled == point)
        throw std::runtime_error{"broken"};
    };
    CAPTURE(point);
    x.start(spec);
    x.run_out();
    check_log(x.reader->lines);
    check_requests(x.provider->requests);
    CHECK(only(x, "error").at("code") == "loop_detected");
    CHECK(notes(x, x.provider->requests.size() - 1).size() == 1);
    if (handled < point) return;
  }
  FAIL("the run has more handlers than were tried");
}

// -- budgets ------------------------------------------------------------------

TEST_CASE("calls over the budget never begin, and the run ends") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_calls(0, "look") + model_calls(1, "act") +
                         model_calls(2, "look", {{"n", 2}}) +
                         model_calls(3, "act") + model_stops("tool_calls")};
  auto spec = x.make_spec();
  spec->agent.budget.tool_calls = 2;
  run(x, spec);
  CHECK(x.look->acted.size() == 1);
  CHECK(x.act->acted.size() == 1);
  const auto results = events_of(x.reader->lines, "tool_result");
  REQUIRE(results.size() == 4);
  int skipped = 0;
  for (const auto& r : results) {
    if (r.at("data").at("outcome") != "skipped") continue;
    ++skipped;
    CHECK(r.at("data").at("error").at("code") == "budget_exceeded");
  }
  CHECK(skipped == 2);
  CHECK(only(x, "error").at("code") == "budget_exceeded");
  CHECK(x.provider->requests.size() == 1);
}

TEST_CASE("a budget of calls leaves room for the answer and for complete") {
  actor_fixture x;
  x.begin();
  SECTION("text") { x.provider->answers = {one_call("look"), model_ends}; }
  SECTION("complete") {
    x.provider->answers = {one_call("look"),
                           one_call("complete", {{"answer", "The end."}})};
  }
  auto spec = x.make_spec();
  spec->agent.budget.tool_calls = 1;
  run(x, spec);
  CHECK(only(x, "final_answer").at("content") == "The end.");
}

TEST_CASE("the budget of calls holds across a crash") {
  for (std::size_t point = 1; point < 80; ++point) {
    actor_fixture x;
    x.begin();
    x.provider->answers = {one_call("act"), one_call("act"), one_call("act"),
                           model_ends};
    auto spec = x.make_spec();
    spec->agent.budget.tool_calls = 2;
    std::size_t handled = 0;
    spec->faults = [&](const std::string& handler) {
      if (handler.starts_with("dispatcher.") && ++handled == point)
        throw std::runtime_error{"broken"};
    };
    CAPTURE(point);
    x.start(spec);
    x.run_out();
    check_log(x.reader->lines);
    CHECK(x.act->acted.size() <= 2);
    if (handled < point) {
      CHECK(only(x, "error").at("code") == "budget_exceeded");
      return;
    }
  }
  FAIL("the run has more handlers than were tried");
}

TEST_CASE("a turn that cannot be paid for is not asked for") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {one_call("look") + used(400, 100)};
  auto spec = x.make_spec();
  std::size_t asked = 1;
  SECTION("tokens") { spec->agent.budget.tokens = 900; }
  SECTION("money") {
    spec->model.price = {1.0, 1.0};
    spec->agent.budget.cost_usd = 0.0009;
  }
  SECTION("enough for two") {
    spec->agent.budget.tokens = 1100;
    asked = 2;
  }
  SECTION("not even for one") {
    spec->agent.budget.tokens = 3;
    asked = 0;
  }
  // The usage comes before the end mark.
  auto& answer = x.provider->answers[0];
  answer = model_calls(0, "look") + used(400, 100) + model_stops("tool_calls");
  run(x, spec);
  CHECK(x.provider->requests.size() == asked);
  CHECK(only(x, "error").at("code") == "budget_exceeded");
}

TEST_CASE("what a broken or stopped stream used is recorded as an estimate") {
  actor_fixture x;
  x.begin();
  auto spec = x.make_spec();
  spec->model.price = {1.0, 2.0};
  std::size_t times = 1;
  SECTION("broken in its text") {
    x.provider->answers = {model_says("Once upon ") + scripted_model::cut};
    times = 3;
  }
  SECTION("broken in a call") {
    x.provider->answers = {model_calls(0, "act") + scripted_model::cut};
    times = 3;
  }
  SECTION("cancelled") {
    x.provider->answers = {model_says("Once upon ") + scripted_model::hold};
  }
  SECTION("over the run's time limit") {
    x.provider->answers = {model_says("Once upon ") + scripted_model::hold};
    spec->time_limit = 5s;
  }
  SECTION("nothing came") {
    x.provider->answers = {scripted_model::cut};
    times = 0;
  }
  x.start(spec);
  x.settle();
  if (x.provider->answers[0].ends_with(scripted_model::hold) &&
      spec->time_limit == duration{})
    x.cancel();
  x.run_out();
  check_log(x.reader->lines);
  const auto seen = events_of(x.reader->lines, "usage");
  REQUIRE(seen.size() == times);
  for (const auto& u : seen) {
    CHECK(u.at("data").at("estimated") == true);
    CHECK(u.at("data").at("input_tokens") > 0);
    CHECK(u.at("data").at("output_tokens") > 0);
    CHECK(u.at("data").at("cost_usd") > 0);
  }
  const auto total = only(x, "run_finished").at("usage");
  if (times > 0) CHECK(total.at("estimated") == true);
}

TEST_CASE("broken attempts count against the budget") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {
      model_says(std::string(4000, 'x')) + scripted_model::cut, model_ends};
  auto spec = x.make_spec();
  spec->agent.budget.tokens = 1500;
  SECTION("too much") {
    spec->agent.budget.tokens = 1000;
    run(x, spec);
    CHECK(only(x, "error").at("code") == "budget_exceeded");
    CHECK(x.provider->requests.size() == 1);
  }
  SECTION("enough") {
    run(x, spec);
    CHECK(only(x, "run_finished").at("status") == "completed");
  }
}

// -- silence ------------------------------------------------------------------

TEST_CASE("a silent agent's text is kept, not published") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("I look. ") + one_call("look"), model_ends,
                         model_ends};
  auto spec = x.make_spec();
  spec->agent.silent = true;
  run(x, spec);
  CHECK(events_of(x.reader->lines, "llm_token").empty());
  CHECK(only(x, "final_answer").at("content") == "The end.");
  CHECK(only(x, "tool_result").at("outcome") == "ok");
  const auto second = json::parse(x.provider->requests.at(1));
  CHECK(second.at("messages").at(1).at("content") == "I look. ");
  x.reader = std::make_shared<recording_subscriber>();
  run(x, x.make_spec("run_2"));
  CHECK(x.provider->requests.back().find("The end.") != std::string::npos);
}

TEST_CASE("a silent agent's broken turn is asked for again, unseen") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("Once upon ") + scripted_model::cut,
                         model_ends};
  auto spec = x.make_spec();
  spec->agent.silent = true;
  run(x, spec);
  CHECK(only(x, "final_answer").at("content") == "The end.");
  CHECK(events_of(x.reader->lines, "usage").size() == 2);
}

// -- endings ------------------------------------------------------------------

TEST_CASE("an agent that routes others is reminded and never completed") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_ends};
  auto spec = x.make_spec();
  spec->agent.completion = "tool";
  spec->agent.phase = "work";
  spec->agent.silent = true;
  run(x, spec);
  CHECK(only(x, "error").at("code") == "not_terminated");
  CHECK(notes(x, 1).at(0).find("You route the work of others") !=
        std::string::npos);
  CHECK(notes(x, 2).size() == 2);
}

TEST_CASE("a reminder begins with a fresh state and the same log") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {
      model_says("Draft. ") + one_call("look"), model_says("Hm. ") + model_ends,
      model_says("Now. ") + one_call("complete", {{"answer", " "}})};
  auto spec = x.make_spec();
  spec->agent.completion = "tool";
  spec->agent.phase = "work";
  run(x, spec);
  // Nothing of the attempts before is in the answer, all of it in the log.
  CHECK(only(x, "final_answer").at("content") == "Now. ");
  const auto lines = x.reader->lines;
  CHECK(lines.find("Draft. ") < lines.find("Hm. "));
  CHECK(lines.find("Hm. ") < lines.find("Now. "));
  CHECK(only(x, "retry").at("what") == "termination");
  CHECK(notes(x, 2).at(0).find("in the phase \"work\"") != std::string::npos);
  CHECK(notes(x, 2).at(0).find("`look`") != std::string::npos);
}

TEST_CASE("a crash after a reminder does not remind twice") {
  for (std::size_t point = 1; point < 60; ++point) {
    actor_fixture x;
    x.begin();
    x.provider->answers = {model_ends};
    auto spec = x.make_spec();
    spec->agent.completion = "tool";
    spec->agent.phase = "work";
    std::size_t handled = 0;
    spec->faults = [&](const std::string& handler) {
      if (++handled == point) throw std::runtime_error{"broken in " + handler};
    };
    CAPTURE(point);
    x.start(spec);
    x.run_out();
    check_log(x.reader->lines);
    CHECK(only(x, "final_answer").at("content") == "The end.");
    CHECK(notes(x, x.provider->requests.size() - 1).size() == 2);
    if (handled < point) return;
  }
  FAIL("the run has more handlers than were tried");
}
