// SPDX-License-Identifier: MIT
// What a person says to a run that works.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

namespace {

std::string look_once(int n = 1) {
  return model_calls(0, "look", {{"n", n}}) + model_stops("tool_calls");
}

std::string ends() { return model_says("The end.") + model_stops("stop"); }

void tell(actor_fixture& x, const std::string& text) {
  caf::anon_send(x.registry, tell_run{x.run, text});
}

/// Why it is not heard; empty: it is.
std::string refused(actor_fixture& x, const std::string& text) {
  std::string why = "no answer";
  x.system->spawn([&why, to = x.registry,
                   what = tell_run{x.run, text}](caf::event_based_actor* self) {
    self->request(to, std::chrono::minutes{1}, what).then([&why](run_told& y) {
      why = y.refused ? y.refused->message : "";
    });
  });
  x.settle();
  return why;
}

/// What stands in the user's place of the n-th request, in order.
std::vector<std::string> said(const actor_fixture& x, std::size_t n) {
  std::vector<std::string> out;
  const auto request = json::parse(x.provider->requests.at(n));
  for (const auto& m : request.at("messages"))
    if (m.at("role") == "user") out.push_back(m.at("content"));
  return out;
}

std::vector<json> told(const actor_fixture& x) {
  std::vector<json> out;
  for (const auto& e : events_of(x.reader->lines, "user_message"))
    out.push_back(e.at("data"));
  return out;
}

/// The first step's call works, and waits for `finish`.
void begin_working(actor_fixture& x, std::shared_ptr<run_spec> spec = {}) {
  x.begin();
  x.run_blocking = false;
  x.start(spec ? spec : x.make_spec());
  x.settle();
  REQUIRE(x.blocking->jobs.size() == 1);
}

void finish(actor_fixture& x) {
  x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
}

}  // namespace

TEST_CASE("what is said to a run that works is in its next request") {
  actor_fixture x;
  x.provider->answers = {look_once(), look_once(2), ends()};
  begin_working(x);
  tell(x, "rather in C++");
  tell(x, "and with tests");
  caf::anon_send(x.registry, tell_run{run_id{"run_of_nobody"}, "not here"});
  x.settle();
  CHECK(told(x).empty());  // nothing has heard it yet
  finish(x);
  REQUIRE(x.provider->requests.size() == 3);
  CHECK(said(x, 0).size() == 1);
  REQUIRE(said(x, 1).size() == 2);
  CHECK(said(x, 1)[1] == "rather in C++\n\nand with tests");
  CHECK(said(x, 2) == said(x, 1));  // it stays, once
  // Behind the result that it did not wait for, before what comes of it.
  const auto messages = json::parse(x.provider->requests[1]).at("messages");
  CHECK(messages.back().at("role") == "user");
  CHECK(messages.at(messages.size() - 2).at("role") == "tool");
  CHECK(told(x) ==
        std::vector<json>{{{"text", "rather in C++"}, {"step", 2}},
                          {{"text", "and with tests"}, {"step", 2}}});
}

TEST_CASE("what is said too late is on no record") {
  actor_fixture x;
  const bool hold = GENERATE(true, false);
  x.provider->answers = {model_says("The end.") +
                         (hold ? scripted_model::hold : model_stops("stop"))};
  x.begin();
  x.start(x.make_spec());
  x.settle();
  tell(x, "one more thing");
  x.settle();
  if (hold) x.cancel();
  x.run_out();
  check_log(x.reader->lines);
  CHECK(told(x).empty());
  CHECK(x.reader->lines.find("one more thing") == std::string::npos);
  const auto session = x.journal->load_session(x.session);
  REQUIRE(session);
  for (const auto& m : session->messages)
    CHECK(m.text.find("one more thing") == std::string::npos);
}

TEST_CASE("what is said beside a reminder of the runtime stands behind it") {
  actor_fixture x;
  x.provider->answers = {look_once(), look_once(), ends()};
  auto spec = x.make_spec();
  spec->agent.loop_limit = 2;
  x.begin();
  x.run_blocking = false;
  x.start(spec);
  x.settle();
  x.blocking->run_one();
  x.settle();  // the second call, behind which the model gets its hint
  REQUIRE(x.blocking->jobs.size() == 1);
  tell(x, "stop looking");
  x.settle();
  finish(x);
  REQUIRE(x.provider->requests.size() == 3);
  REQUIRE(said(x, 2).size() == 2);
  CHECK(said(x, 2)[1].starts_with("[Note of the runtime]"));
  CHECK(
      said(x, 2)[1].ends_with("\n\nMeanwhile the user said:\n\nstop looking"));
  CHECK(told(x) == std::vector<json>{{{"text", "stop looking"}, {"step", 3}}});
}

TEST_CASE("what is said beside a task has a quarter of the window in all") {
  actor_fixture x;
  x.provider->answers = {look_once(), look_once(2), ends()};
  auto spec = x.make_spec();
  spec->model.context_window = 4000;
  begin_working(x, spec);
  CHECK(refused(x, std::string(4004, 'a')).find("a quarter of the model's") !=
        std::string::npos);
  CHECK(refused(x, std::string(2000, 'b')).empty());
  CHECK(refused(x, std::string(2004, 'c')).find("beside the task") !=
        std::string::npos);
  // Neither a further step nor another life of the run makes it less.
  x.blocking->run_one();
  x.settle();
  REQUIRE(told(x).size() == 1);
  CHECK_FALSE(refused(x, std::string(2004, 'd')).empty());
  CHECK(refused(x, std::string(2000, 'e')).empty());
  finish(x);
  CHECK(told(x).size() == 2);
}

TEST_CASE("who cannot be told anything says so") {
  actor_fixture x;
  x.provider->answers = {look_once(), ends()};
  begin_working(x);
  x.run = run_id{"run_of_nobody"};
  CHECK(refused(x, "x") == "the run does not work in this process");
  x.run = run_id{"run_1"};
  x.cancel();
  x.scheduler().run_once();
  finish(x);
  CHECK_FALSE(refused(x, "too late").empty());
}

// Whatever dies, and whenever: the log and the model agree on what was said,
// and it was said once or never.
TEST_CASE("a crash neither loses nor repeats what the log says was said") {
  std::size_t heard = 0;
  std::size_t lost = 0;
  for (std::size_t point = 1; point < 120; ++point) {
    actor_fixture x;
    x.begin();
    x.provider->answers = {look_once(), look_once(2), ends()};
    auto spec = x.make_spec();
    std::size_t handled = 0;
    spec->faults = [&](const std::string& handler) {
      if (++handled == 8) tell(x, "rather in C++");
      if (handled == point) throw std::runtime_error{"broken in " + handler};
    };
    CAPTURE(point);
    x.start(spec);
    x.run_out();
    check_log(x.reader->lines);
    check_requests(x.provider->requests);
    const auto last = said(x, x.provider->requests.size() - 1);
    const auto n = static_cast<std::size_t>(
        std::ranges::count(last, std::string{"rather in C++"}));
    CHECK(n == told(x).size());
    CHECK(n <= 1);
    CHECK(last.size() == 1 + n);
    ++(n == 1 ? heard : lost);
    if (handled < point) {
      CHECK(heard > 10);
      CHECK(lost > 0);
      return;
    }
  }
  FAIL("the run has more handlers than were tried");
}
