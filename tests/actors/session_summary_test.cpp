// SPDX-License-Identifier: MIT
// What a model is told of a session that was summed up.
#include <nlohmann/json.hpp>

#include "actors/run/conversation.hpp"
#include "actors/run/recovery.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

struct summed_up : actor_fixture {
  summed_up() {
    begin();
    look->says = "what was looked at";
    provider->answers = {
        model_calls(0, "look", json{{"n", 1}}) + model_stops("tool_calls"),
        model_says("It is tea.") + model_stops("stop")};
    task("run_1", "what is it?");
  }

  void task(const std::string& run, const std::string& text,
            bool sums_up = false) {
    auto spec = make_spec(run);
    spec->task = text;
    if (sums_up) spec->context = sum_up_context;
    spec->approval = approve::all;
    reader = std::make_shared<recording_subscriber>();
    start(spec);
    run_out();
    check_log(reader->lines);
    check_requests(provider->requests);
  }

  void answer(const std::string& text) {
    provider->answers.push_back(model_says(text) + model_stops("stop"));
  }

  [[nodiscard]] std::string asked() const { return provider->requests.back(); }
};

storage::run_record completed_run(const std::string& id, bool sums_up) {
  storage::run_record x;
  x.id = run_id{id};
  x.task = sums_up ? sum_up_task : "work";
  x.state = storage::run_state::completed;
  return x;
}

storage::message_record said(const std::string& run, const std::string& text,
                             storage::message_role role) {
  storage::message_record x;
  x.run = run_id{run};
  x.role = role;
  x.text = text;
  return x;
}

storage::message_record its_answer(const std::string& run,
                                   const std::string& text) {
  return said(run, text, storage::message_role::assistant);
}

storage::message_record its_task(const std::string& run) {
  return said(run, "/compact\n\nContext:\n" + std::string{sum_up_context},
              storage::message_role::user);
}

}  // namespace

TEST_CASE("a summary is told in the place of all that came before") {
  summed_up x;
  x.answer("We had tea.");
  x.task("run_2", "/compact", true);
  // Who sums up has all of it.
  CHECK_THAT(x.asked(), Contains("what is it?") &&
                            Contains("what was looked at") &&
                            Contains("It is tea."));
  for (const auto* next : {"three", "four"}) {
    CAPTURE(next);
    x.answer(std::string{"said "} + next);
    x.task(std::string{"run_"} + next, next);
    CHECK_THAT(x.asked(),
               Contains(R"(What came before, summed up:\nWe had tea.)") &&
                   Contains(next));
    for (const auto* gone :
         {"what is it?", "what was looked at", "It is tea.", "/compact"})
      CHECK_FALSE(Contains(gone).match(x.asked()));
  }
  CHECK_THAT(x.asked(), Contains("said three"));
}

TEST_CASE("nothing is done for a summary, whatever the model calls") {
  summed_up x;
  const auto looks = x.look->acted.size();
  CHECK(looks == 1);
  x.provider->answers.push_back(model_calls(0, "look", json{{"n", 1}}) +
                                model_calls(1, "act", json{{"n", 2}}) +
                                model_stops("tool_calls"));
  x.answer("We had tea.");
  x.task("run_2", "/compact", true);
  CHECK(x.look->acted.size() == looks);
  CHECK(x.act->acted.empty());
  CHECK_THAT(x.asked(), Contains("so no tool is executed"));
  x.provider->answers.push_back(model_calls(0, "act", json{{"n", 2}}) +
                                model_stops("tool_calls"));
  x.answer("three");
  x.task("run_3", "go on");
  CHECK(x.act->acted.size() == 1);
  CHECK_THAT(x.asked(),
             Contains(R"(What came before, summed up:\nWe had tea.)"));
}

TEST_CASE("a summary that did not come takes nothing away") {
  summed_up x;
  SECTION("not a word") { x.provider->answers.push_back(model_stops("stop")); }
  SECTION("nothing but blanks") { x.answer("   \n \u00a0\u3000\u200b\n"); }
  SECTION("far too much") { x.answer(std::string(70'000, 'x')); }
  x.task("run_2", "/compact", true);
  x.answer("three");
  x.task("run_3", "go on");
  CHECK_THAT(x.asked(), Contains("what is it?") && Contains("It is tea."));
  CHECK_FALSE(Contains("summed up").match(x.asked()));
}

TEST_CASE("a summary stays where tasks are left out for lack of room") {
  conversation::settings with;
  with.dialect = model::make_dialect("openai");
  with.window = 2'000;
  conversation x{std::move(with)};
  x.say_system("be good");
  x.say_summary("We had tea.");
  std::size_t gone = 0;
  for (int i = 0; i < 60; ++i) {
    x.begin_task();
    x.say_user("task " + std::to_string(i) + " " + std::string(180, 'a'));
    gone += x.compact().tasks;
    x.say_model({true, "answer", "", {}, {}});
  }
  CHECK(gone > 20);
  CHECK_THAT(x.request({}), Contains("be good") && Contains("We had tea."));
  CHECK_FALSE(Contains("task 0 a").match(x.request({})));
}

TEST_CASE("a session goes on with its newest summary") {
  storage::session_snapshot x;
  CHECK_FALSE(session_summary_of(x));
  x.runs = {completed_run("a", false), completed_run("b", true)};
  x.messages = {its_answer("a", "done"), its_task("b"),
                its_answer("b", "Let me see."), its_answer("b", "We worked.")};
  const summed_up_runs first{"What came before, summed up:\nWe worked.",
                             {run_id{"a"}, run_id{"b"}}};
  CHECK(session_summary_of(x) == first);
  SECTION("also where it went on behind that") {
    x.runs.push_back(completed_run("c", false));
    x.messages.push_back(its_answer("c", "more"));
    CHECK(session_summary_of(x) == first);
    x.runs.push_back(completed_run("d", true));
    x.messages.push_back(its_task("d"));
    x.messages.push_back(its_answer("d", "All of it."));
    CHECK(session_summary_of(x) ==
          summed_up_runs{"What came before, summed up:\nAll of it.",
                         {run_id{"a"}, run_id{"b"}, run_id{"c"}, run_id{"d"}}});
    x.runs.back().state = storage::run_state::cancelled;
    CHECK(session_summary_of(x) == first);
  }
  SECTION("not with one that works, or did not end well") {
    for (const auto state :
         {storage::run_state::active, storage::run_state::failed,
          storage::run_state::cancelled}) {
      x.runs.back().state = state;
      CHECK_FALSE(session_summary_of(x));
    }
  }
  SECTION("not where nothing was said") {
    x.messages = {its_answer("a", "done"), its_task("b"), its_answer("b", "")};
    CHECK_FALSE(session_summary_of(x));
  }
  SECTION("not where it only began to look") {
    x.messages.push_back(its_answer("b", ""));
    CHECK_FALSE(session_summary_of(x));
  }
  SECTION("not of a person's own words") {
    x.messages[1].text = "/compact";
    CHECK_FALSE(session_summary_of(x));
  }
}
