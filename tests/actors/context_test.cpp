// SPDX-License-Identifier: MIT
// What the model is told: its plan, and as much as it can read.
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string one_call(const std::string& tool, const json& arguments) {
  return model_calls(0, tool, arguments) + model_stops("tool_calls");
}

std::string plan_call(const json& arguments) {
  return one_call("manage_plan", arguments);
}

json messages(const actor_fixture& x, std::size_t n) {
  return json::parse(x.provider->requests.at(n)).at("messages");
}

void run(actor_fixture& x, const run_spec_ptr& spec) {
  x.reader = std::make_shared<recording_subscriber>();
  x.start(spec);
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
}

/// Ten reads of 4,000 bytes, then an answer.
std::vector<std::string> ten_reads() {
  std::vector<std::string> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(one_call("look", {{"n", i}}));
  answers.push_back(model_ends);
  return answers;
}

std::size_t removed_in(const json& told) {
  std::size_t count = 0;
  for (const auto& m : told)
    if (m.at("role") == "tool" &&
        m.at("content").get<std::string>().starts_with("[The output of look"))
      ++count;
  return count;
}

}  // namespace

// -- plan ---------------------------------------------------------------------

TEST_CASE("the model sees the plan at the end of each request, as it is") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {
      plan_call({{"action", "create"}, {"steps", {"look", "leap"}}}),
      plan_call({{"action", "complete"}, {"id", 1}}), model_ends};
  run(x, x.make_spec());
  CHECK(messages(x, 0).size() == 1);
  const auto second = messages(x, 1);
  CHECK(second.back().at("content").get<std::string>().find(
            "1. [pending] look\n2. [pending] leap\n") != std::string::npos);
  const auto third = messages(x, 2);
  CHECK(third.back().at("content").get<std::string>().find(
            "1. [done] look\n2. [pending] leap\n") != std::string::npos);
  // What came before it is never changed, so that providers can cache it.
  for (std::size_t i = 0; i + 1 < second.size(); ++i)
    CHECK(second[i] == third[i]);
  CHECK(third.size() == second.size() + 2);
  const auto updates = events_of(x.reader->lines, "plan_updated");
  REQUIRE(updates.size() == 2);
  CHECK(updates[0].at("data").at("action") == "create");
  CHECK(updates[1].at("data").at("action") == "complete");
  CHECK(updates[1].at("data").at("plan") ==
        json::parse(R"([{"id":1,"title":"look","status":"done"},
                        {"id":2,"title":"leap","status":"pending"}])"));
}

TEST_CASE("the next run of the session has the plan from its first request") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {plan_call({{"action", "create"}, {"steps", {"look"}}}),
                         model_ends, model_ends};
  run(x, x.make_spec());
  run(x, x.make_spec("run_2"));
  CHECK(messages(x, 2).back().at("content").get<std::string>().find(
            "1. [pending] look") != std::string::npos);
}

TEST_CASE("an edit that fails changes no plan and makes no event") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {plan_call({{"action", "complete"}, {"id", 3}}),
                         plan_call({{"action", "list"}}), model_ends};
  run(x, x.make_spec());
  CHECK(events_of(x.reader->lines, "plan_updated").empty());
  const auto results = events_of(x.reader->lines, "tool_result");
  REQUIRE(results.size() == 2);
  CHECK(results[0].at("data").at("outcome") == "failed");
  CHECK(results[1].at("data").at("outcome") == "ok");
  CHECK(messages(x, 2).back().at("role") == "tool");
}

TEST_CASE("a crash anywhere adds a step to the plan once") {
  for (std::size_t point = 1; point < 100; ++point) {
    actor_fixture x;
    x.begin();
    x.provider->answers = {plan_call({{"action", "add"}, {"steps", {"look"}}}),
                           model_ends};
    // What is asked for again is answered by what was asked.
    std::size_t handled = 0;
    auto spec = x.make_spec();
    spec->faults = [&](const std::string& handler) {
      const bool late = !x.provider->requests.empty() &&
                        events_of(x.reader->lines, "usage").size() > 0;
      if (late && ++handled == point)
        throw std::runtime_error{"broken in " + handler};
    };
    CAPTURE(point);
    run(x, spec);
    const auto updates = events_of(x.reader->lines, "plan_updated");
    REQUIRE(updates.size() == 1);
    CHECK(updates[0].at("data").at("plan").size() == 1);
    if (handled < point) return;
  }
  FAIL("the run has more handlers than were tried");
}

// -- room ---------------------------------------------------------------------

TEST_CASE("old tool outputs make room near the model's limit") {
  actor_fixture x;
  x.begin();
  x.look->says = std::string(4000, 'x');
  x.provider->answers = ten_reads();
  auto spec = x.make_spec();
  spec->model.context_window = 8000;
  run(x, spec);
  std::size_t before = 0;
  for (std::size_t n = 0; n < x.provider->requests.size(); ++n) {
    const auto told = messages(x, n);
    CAPTURE(n);
    CHECK(x.provider->requests[n].size() < 8000 * 4);
    CHECK(removed_in(told) >= before);  // what is gone stays gone
    before = removed_in(told);
    if (n > 0)  // the newest is always there
      CHECK(told.back().at("content") == x.look->says);
    if (before > 0)
      CHECK(told.at(2).at("content") ==
            "[The output of look {\"n\":0} was removed to make room: 4000 "
            "bytes. Make the call again if you need it.]");
  }
  CHECK(before > 0);
  const auto said = events_of(x.reader->lines, "status");
  CHECK(std::ranges::any_of(said, [](const json& s) {
    return s.at("data").at("text").get<std::string>().starts_with(
        "made room: ");
  }));
}

TEST_CASE("with room enough nothing is removed") {
  actor_fixture x;
  x.begin();
  x.look->says = std::string(4000, 'x');
  x.provider->answers = ten_reads();
  auto spec = x.make_spec();
  SECTION("a large window") { spec->model.context_window = 20000; }
  SECTION("no limit") { spec->model.context_window = 0; }
  run(x, spec);
  CHECK(removed_in(messages(x, 10)) == 0);
  CHECK(events_of(x.reader->lines, "status").empty());
}

TEST_CASE("what does not fit at all is not asked") {
  actor_fixture x;
  x.begin();
  x.look->says = std::string(40000, 'x');
  x.provider->answers = ten_reads();
  auto spec = x.make_spec();
  spec->model.context_window = 8000;
  run(x, spec);
  CHECK(x.provider->requests.size() == 1);
  const auto why = events_of(x.reader->lines, "error").at(0).at("data");
  CHECK(why.at("code") == "invalid_request");
  CHECK(why.at("message").get<std::string>().find("raise context_window") !=
        std::string::npos);
}

TEST_CASE("a recovered run makes the same requests") {
  const auto requests = [](std::size_t point, bool& more) {
    actor_fixture x;
    x.begin();
    x.look->says = std::string(4000, 'x');
    x.provider->answers = ten_reads();
    auto spec = x.make_spec();
    spec->model.context_window = 8000;
    std::size_t handled = 0;
    spec->faults = [&](const std::string& handler) {
      if (handler == "orchestrator.settlement_committed" && ++handled == point)
        throw std::runtime_error{"broken"};
    };
    run(x, spec);
    more = handled >= point;
    return x.provider->requests;
  };
  bool more = false;
  const auto whole = requests(1000, more);
  std::size_t point = 1;
  for (more = true; more; ++point) {
    CAPTURE(point);
    CHECK(requests(point, more) == whole);
  }
  CHECK(point > 10);
}
