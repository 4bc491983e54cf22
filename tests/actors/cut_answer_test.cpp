// SPDX-License-Identifier: MIT
// What a model had said when its run was stopped stays in the conversation.
#include <nlohmann/json.hpp>

#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const core::end_request enough{{errc::cancelled, "run", "cancelled by Ctrl-C"}};
const std::string half = model_says("One. ") + model_says("Two, and \n");

/// Roles and texts of the last request.
std::vector<std::pair<std::string, std::string>> told(actor_fixture& x) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto body = json::parse(x.provider->requests.back());
  for (const auto& m : body.at("messages"))
    out.emplace_back(m.at("role"), m.at("content").is_string()
                                       ? m.at("content").get<std::string>()
                                       : m.at("content").dump());
  return out;
}

void check_cut(actor_fixture& x, const std::string& text) {
  const auto all = told(x);
  REQUIRE(all.size() >= 4);
  const auto n = all.size();
  CHECK(all[n - 3] == std::pair<std::string, std::string>{"assistant", text});
  CHECK(all[n - 2].first == "user");
  CHECK(all[n - 2].second.starts_with(
      "[Note of the runtime] This answer was interrupted here ("));
  CHECK(all[n - 1].first == "user");
}

/// The next task of the session, in this process.
void ask_next(actor_fixture& x) {
  x.provider->answers = {model_says("Yes.") + model_stops("stop")};
  x.reader = std::make_shared<recording_subscriber>();
  x.run = run_id{"run_2"};
  x.start(x.make_spec("run_2"));
  x.run_out();
}

}  // namespace

TEST_CASE("half an answer that was stopped is told with the next task") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {half + scripted_model::hold};
  x.start(x.make_spec());
  x.settle();
  x.cancel("cancelled by Ctrl-C");
  x.run_out();
  check_log(x.reader->lines);
  CHECK(events_of(x.reader->lines, "final_answer").empty());
  ask_next(x);
  check_cut(x, "One. Two, and");
  check_requests(x.provider->requests);
  // Read again it is the same.
  const auto first = told(x);
  actor_fixture later{x.journal};
  later.ids =
      std::make_shared<id_source>(7, [] { return wall_time{9'000'000}; });
  later.begin();
  later.provider->answers = {model_says("So.") + model_stops("stop")};
  later.run = run_id{"run_3"};
  later.start(later.make_spec("run_3"));
  later.run_out();
  const auto again = told(later);
  REQUIRE(again.size() == first.size() + 2);
  CHECK(std::equal(first.begin(), first.end(), again.begin()));
}

TEST_CASE("an answer of blanks, or none, leaves nothing to tell") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {(GENERATE(true, false) ? model_says(" \n") : "") +
                         scripted_model::hold};
  x.start(x.make_spec());
  x.settle();
  x.cancel("cancelled by Ctrl-C");
  x.run_out();
  ask_next(x);
  for (const auto& [role, text] : told(x)) CHECK(role != "assistant");
}

TEST_CASE("calls of the turn that was stopped are told of no more") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {half + model_calls(0, "look") + scripted_model::hold};
  x.start(x.make_spec());
  x.settle();
  x.cancel("cancelled by Ctrl-C");
  x.run_out();
  check_log(x.reader->lines);
  ask_next(x);
  check_cut(x, "One. Two, and");
  CHECK(x.provider->requests.back().find("tool_calls") == std::string::npos);
  check_requests(x.provider->requests);
}

TEST_CASE("what a broken answer had said counts no more") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {half + scripted_model::cut,
                         model_says("Again. ") + scripted_model::hold};
  x.start(x.make_spec());
  x.run_out(20s);
  x.cancel("cancelled by Ctrl-C");
  x.run_out();
  ask_next(x);
  check_cut(x, "Again.");
}

TEST_CASE("half an answer outlives its process, and the end of its run") {
  const auto stored = std::make_shared<test_journal>();
  {
    actor_fixture x{stored};
    x.begin();
    x.provider->answers = {model_says("First. ") + model_calls(0, "look") +
                               model_stops("tool_calls"),
                           half + scripted_model::hold};
    x.start(x.make_spec());
    x.settle();
    x.advance(1s);  // what was said is written
    x.settle();
  }
  next_life x{stored->crash(1)};
  x.begin();
  x.resume(x.make_spec(), enough);
  x.run_out();
  check_log(log_of(*x.journal, "run_1"));
  ask_next(x);
  check_cut(x, "One. Two, and");
  check_requests(x.provider->requests);
}
