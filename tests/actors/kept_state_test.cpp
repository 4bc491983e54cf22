// SPDX-License-Identifier: MIT
// What a run leaves beside its log: values, attempts; and how another process
// ends it.
#include <nlohmann/json.hpp>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string calls(const std::vector<std::string>& tools) {
  std::string out;
  int index = 0;
  for (const auto& tool : tools)
    out += model_calls(index, tool, {{"n", index}}), ++index;
  return out + model_stops("tool_calls");
}

/// Counts in the session's state.
void count(tools::tool_context& x) {
  const auto n = x.state->get("n").value_or(0).get<int>();
  REQUIRE(x.state->set("n", n + 1));
}

storage::session_snapshot session_of(actor_fixture& x) {
  auto all = x.journal->load_session(x.session);
  REQUIRE(all);
  return *all;
}

using values = std::map<std::string, std::string>;

struct given_call : work::assignment {
  work_listener dispatcher;
};

/// A pool that runs nothing: it keeps what it is given, for the test to say
/// what comes of it.
tool_pool_actor::behavior_type silent_pool(tool_pool_actor::pointer /*self*/,
                                           std::vector<given_call>* given) {
  return {
      [](const work::offer&) {},
      [](const work::freed&) {},
      [given](work::assignment& x, const work_listeners& who) {
        given->push_back({std::move(x), who.dispatcher});
      },
      [](const work::stop&) {},
      [](const place_rested&) {},
      [](const abandon_run&) {},
      [](const close_pool&) {},
      [](const tick&) {},
  };
}

work::done done_with(const given_call& x, const std::string& value) {
  call_result result;
  result.output = "attempt " + std::to_string(x.attempt);
  return {x.call.id, x.attempt, std::move(result), {}, {{"n", value}}};
}

}  // namespace

TEST_CASE("what calls set is seen by later ones, and by later runs") {
  actor_fixture x;
  x.begin();
  x.act->also = count;
  x.provider->answers = {calls({"act", "act"}), calls({"act"}), model_ends};
  x.start(x.make_spec());
  x.run_out();
  CHECK(session_of(x).state == values{{"n", "3"}});
  x.provider->requests.clear();
  x.reader = std::make_shared<recording_subscriber>();
  x.start(x.make_spec("run_2"));
  x.run_out();
  CHECK(session_of(x).state == values{{"n", "6"}});
}

TEST_CASE("a call that does not end well leaves the state as it was") {
  actor_fixture x;
  x.begin();
  x.look->also = count;
  x.act->also = count;
  x.look->throw_times = 1;  // its first attempt is lost, the second counts
  x.act->throw_times = 1;   // interrupted: it may have acted
  x.settings.defaults.attempts = 3;
  auto spec = x.make_spec();
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls"),
                         model_calls(0, "act") + model_stops("tool_calls"),
                         model_ends};
  x.start(spec);
  x.run_out();
  CHECK(session_of(x).state == values{{"n", "1"}});
}

TEST_CASE("values of an attempt that no longer counts are dropped") {
  std::vector<given_call> given;
  actor_fixture x;
  x.change_pools = [&](auto& pools) {
    pools.at("look") = x.system->spawn(silent_pool, &given);
  };
  x.settings.defaults.attempts = 3;
  x.begin();
  x.provider->answers = {calls({"look"}), model_ends};
  x.start(x.make_spec());
  x.settle();
  REQUIRE(given.size() == 1);
  // The first worker is given up, but it ends well, later than that.
  const auto first = given[0];
  caf::anon_send(first.dispatcher,
                 work::lost{first.call.id, first.attempt, "no sign of it"});
  for (int i = 0; i < 100 && given.size() < 2; ++i) {
    x.advance(100ms);
    x.settle();
  }
  REQUIRE(given.size() == 2);
  const auto second = given[1];
  CHECK(second.attempt == 2);
  caf::anon_send(first.dispatcher, done_with(first, "1"));
  x.settle();
  CHECK(session_of(x).state.empty());
  CHECK(events_of(x.reader->lines, "tool_result").empty());
  SECTION("the second attempt sets nothing") {
    auto done = done_with(second, "");
    done.state.clear();
    caf::anon_send(second.dispatcher, std::move(done));
    x.run_out();
    CHECK(session_of(x).state.empty());
  }
  SECTION("the second attempt sets its own") {
    caf::anon_send(second.dispatcher, done_with(second, "2"));
    x.run_out();
    CHECK(session_of(x).state == values{{"n", "2"}});
  }
  SECTION("the first one speaks after all is over") {
    caf::anon_send(second.dispatcher, done_with(second, "2"));
    caf::anon_send(first.dispatcher, done_with(first, "1"));
    x.run_out();
    CHECK(session_of(x).state == values{{"n", "2"}});
  }
  check_log(x.reader->lines);
  const auto results = events_of(x.reader->lines, "tool_result");
  REQUIRE(results.size() == 1);
  CHECK(results[0].at("data").at("output") == "attempt 2");
}

TEST_CASE("values of a call that ran out of time are dropped") {
  actor_fixture x;
  x.settings.defaults.timeout = 5s;
  x.begin();
  x.act->also = count;
  x.run_blocking = false;
  x.provider->answers = {calls({"act"}), scripted_model::hold};
  x.start(x.make_spec());
  x.settle();
  REQUIRE(x.blocking->jobs.size() == 1);
  x.advance(6s);
  x.run_out(20s);
  // It settled, and the run goes on: somebody hears what comes too late.
  REQUIRE(events_of(x.reader->lines, "tool_result").size() == 1);
  REQUIRE_FALSE(x.reader->is_closed);
  REQUIRE(x.blocking->run_one());
  x.run_out(1s);
  REQUIRE(x.act->acted.size() == 1);
  CHECK(session_of(x).state.empty());
  x.cancel();
  x.run_out();
  check_log(x.reader->lines);
  CHECK(session_of(x).state.empty());
}

TEST_CASE("values and result of a call are one commit") {
  for (std::size_t k = 1;; ++k) {
    CAPTURE(k);
    auto journal = std::make_shared<test_journal>();
    actor_fixture x{journal};
    x.begin();
    x.look->also = count;
    x.provider->answers = {calls({"look", "look"}), model_ends};
    journal->fail_at(k);
    x.start(x.make_spec());
    x.run_out(10s);
    const bool through = !x.reader->failure;
    // What a crash here would find: never a value without its result.
    const auto stored = session_of(x);
    std::size_t settled = 0;
    for (const auto& call : stored.calls)
      settled += call.stage == storage::call_stage::settled ? 1 : 0;
    const auto n = stored.state.find("n");
    // Two that run side by side may both see the same value.
    CHECK((n == stored.state.end()) == (settled == 0));
    if (through) return;
  }
}

TEST_CASE("each attempt of a call is on record, with what became of it") {
  actor_fixture x;
  x.begin();
  x.look->throw_times = 1;
  x.settings.defaults.attempts = 3;
  x.provider->answers = {calls({"look", "act"}), model_ends};
  x.start(x.make_spec());
  x.run_out();
  const auto all = session_of(x).calls;
  REQUIRE(all.size() == 2);
  const auto& tries = all[0].attempts;
  REQUIRE(tries.size() == 2);
  CHECK(tries[0].number == 1);
  CHECK(tries[0].lost.find("the tool broke") != std::string::npos);
  CHECK(tries[0].ended);
  CHECK(tries[1].number == 2);
  CHECK(tries[1].lost.empty());
  CHECK(tries[1].ended);
  REQUIRE(all[1].attempts.size() == 1);
  CHECK(all[1].attempts[0].lost.empty());
}

TEST_CASE("an attempt that a crash cut off says so") {
  auto journal = std::make_shared<test_journal>();
  std::shared_ptr<test_journal> next;
  {
    actor_fixture x{journal};
    x.begin();
    x.run_blocking = false;
    x.provider->answers = {calls({"act"}), model_ends};
    x.start(x.make_spec());
    x.settle();
    next = journal->crash(1);
  }
  actor_fixture x{next};
  x.begin();
  x.provider->answers = {model_ends};
  x.resume(x.make_spec());
  x.run_out();
  const auto all = session_of(x).calls;
  REQUIRE(all.size() == 1);
  CHECK(all[0].how == outcome::interrupted);
  REQUIRE(all[0].attempts.size() == 1);
  CHECK(all[0].attempts[0].lost.find("the runtime") != std::string::npos);
}

TEST_CASE("a run ends within 250 ms when another process asks for it") {
  auto journal = std::make_shared<test_journal>();
  actor_fixture x{journal};
  x.begin();
  x.provider->answers = {model_says("Hm. ") + scripted_model::hold};
  x.start(x.make_spec());
  x.settle();
  journal->ask_from_elsewhere({x.run, "the boss said so"});
  for (int i = 0; i < 5 && !x.reader->is_closed; ++i) {
    x.advance(50ms);
    x.settle();
  }
  CHECK(x.reader->is_closed);
  check_log(x.reader->lines);
  CHECK(x.reader->lines.find("the boss said so") != std::string::npos);
  CHECK(journal->load_run(x.run)->state == storage::run_state::cancelled);
  // Nothing is asked of a process without a run: no timer is left.
  x.advance(1s);
  x.settle();
  x.advance(1s);
  CHECK_FALSE(x.settle());
}
