// SPDX-License-Identifier: MIT
// A session that has become too long for its model goes on: what is old is
// shortened or left out, and what is asked now stays whole.
#include <nlohmann/json.hpp>

#include "actors/run/conversation.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

conversation with_window(const std::string& dialect, std::uint64_t window) {
  conversation::settings x;
  x.dialect = model::make_dialect(dialect);
  x.request.model = "m";
  x.window = window;
  x.maker = "me";
  return conversation{std::move(x)};
}

void say_answer(conversation& x, const std::string& text) {
  x.compact();
  x.say_model({true, text, "", {}, {}});
}

/// A task and its answer.
void exchange(conversation& x, const std::string& task,
              const std::string& text) {
  x.begin_task();
  x.say_user(task);
  say_answer(x, text);
}

std::string long_text(std::size_t bytes) {
  std::string out = "Begin. ";
  while (out.size() < bytes) out += "word ";
  return out + "The end.";
}

const std::string says_ok = model_says("ok") + model_stops("stop");

void run(actor_fixture& x, const run_spec_ptr& spec) {
  x.reader = std::make_shared<recording_subscriber>();
  x.start(spec);
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
}

}  // namespace

TEST_CASE("long texts of earlier tasks are shortened, the oldest first") {
  const auto* const dialect =
      GENERATE("openai", "anthropic", "responses", "ollama");
  CAPTURE(dialect);
  auto x = with_window(dialect, 10'000);
  x.say_system("be good");
  exchange(x, "one " + long_text(20'000), "first answer");
  exchange(x, "two " + long_text(15'000), "second answer");
  x.begin_task();
  x.say_user("three " + long_text(8'000));
  const auto done = x.compact();
  CHECK(done == core::made_room{0, 1, 0});
  const auto body = json::parse(x.request({})).dump();
  CHECK(x.estimate({}) <= 10'000);
  CHECK(body.size() < 40'000);
  // How it began and ended is still told.
  CHECK_THAT(body, Contains("one Begin. word") &&
                       Contains("bytes were left out here to make room") &&
                       Contains("first answer"));
  CHECK_THAT(body, Contains("two " + long_text(15'000)));
  CHECK_THAT(body, Contains("three " + long_text(8'000)));
  CHECK_FALSE(x.compact());  // and there is nothing more to do
}

TEST_CASE("where that is not enough the oldest tasks are left out") {
  const auto* const dialect =
      GENERATE("openai", "anthropic", "responses", "ollama");
  CAPTURE(dialect);
  auto x = with_window(dialect, 2'000);
  x.say_system("be good");
  std::size_t gone = 0;
  for (int i = 0; i < 60; ++i) {
    const auto n = std::to_string(i);
    x.begin_task();
    x.say_user("task " + n + " " + std::string(180, 'a'));
    const auto done = x.compact();
    CHECK(done.outputs == 0);
    gone += done.tasks;
    CHECK(x.estimate({}) <= 2'000);
    const auto body = json::parse(x.request({})).dump();
    CHECK_THAT(body, Contains("task " + n + " a") && Contains("be good"));
    if (gone > 0) {
      CHECK_THAT(body, Contains("with which this conversation began"));
      CHECK_FALSE(Contains("task 0 a").match(body));
    }
    x.say_model({true, "answer " + n, "", {}, {}});
  }
  CHECK(gone > 20);
}

TEST_CASE("what is asked now is never shortened") {
  auto x = with_window("openai", 2'000);
  exchange(x, "one", "first answer");
  x.begin_task();
  const auto text = long_text(20'000);
  x.say_user(text);
  CHECK(x.compact() == core::made_room{0, 0, 1});
  CHECK_THAT(x.request({}), Contains(text));
  CHECK(x.estimate({}) > 2'000);  // so it is not asked
}

TEST_CASE("who is told by its server that it is too long forgets as well") {
  auto x = with_window("anthropic", 1'000'000);
  exchange(x, "one " + long_text(20'000), "first answer");
  x.begin_task();
  x.say_user("two " + long_text(8'000));
  CHECK(x.make_room() == core::made_room{0, 1, 0});
  CHECK(x.make_room() == core::made_room{0, 0, 1});
  CHECK_FALSE(x.make_room());
  const auto all = json::parse(x.request({})).at("messages");
  REQUIRE(all.size() == 2);
  CHECK_THAT(all[0].dump(), Contains("[1 earlier task with which"));
  CHECK_THAT(all[1].dump(), Contains("two " + long_text(8'000)));
}

TEST_CASE("a session with a task that was too long goes on") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {says_ok, says_ok};
  const auto task = [&](const std::string& run, const std::string& text) {
    auto spec = x.make_spec(run);
    spec->task = text;
    spec->model.context_window = 8'000;
    return spec;
  };
  run(x, task("run_1", "hello"));
  CHECK(x.provider->requests.size() == 1);
  run(x, task("run_2", long_text(60'000)));
  CHECK(x.provider->requests.size() == 1);
  CHECK(events_of(x.reader->lines, "error").at(0).at("data").at("code") ==
        "invalid_request");
  run(x, task("run_3", "hello again"));
  REQUIRE(x.provider->requests.size() == 2);
  CHECK(events_of(x.reader->lines, "error").empty());
  const auto& asked = x.provider->requests.back();
  CHECK(asked.size() < 8'000);
  CHECK_THAT(asked, Contains("hello again"));
  const auto said = events_of(x.reader->lines, "status");
  CHECK(std::ranges::any_of(said, [](const json& s) {
    return core::is_forgetting(
        s.at("data").at("text").get_ref<const std::string&>());
  }));
}

TEST_CASE("outputs of the last task go before what was said in it") {
  actor_fixture x;
  x.begin();
  x.look->says = std::string(40'000, 'x');
  x.provider->answers = {
      model_calls(0, "look", json{{"n", 1}}) + model_stops("tool_calls"),
      says_ok};
  auto spec = x.make_spec();
  spec->task = "the question";
  spec->model.context_window = 8'000;
  run(x, spec);
  CHECK(x.provider->requests.size() == 1);
  auto next = x.make_spec("run_2");
  next->model.context_window = 8'000;
  run(x, next);
  REQUIRE(x.provider->requests.size() == 2);
  CHECK_THAT(x.provider->requests.back(),
             Contains("the question") && Contains("[The output of look"));
}
