// SPDX-License-Identifier: MIT
// Plans on the deterministic scheduler: what is stored before what, and a
// process that ends at any moment.
#include <random>

#include "tests/actors/plan_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

TEST_CASE("a plan of calls and runs comes to its answer") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_ends};
  x.start(plan_spec(x, {tool("act"), say("Say {{steps.1.output}}"),
                        tool("look", {{"text", "{{steps.2.output}}"}})}));
  x.run_out();
  check_log(x.reader->lines);
  CHECK(x.act->acted.size() == 1);
  CHECK(x.look->arguments ==
        std::vector<std::string>{R"({"text":"The end."})"});
  CHECK(last_data(x.reader->lines, "plan_finished").at("final_answer") ==
        R"(look {"text":"The end."})");
  REQUIRE(x.provider->requests.size() == 1);
  CHECK(x.provider->requests[0].find(R"(Say act {\"n\":1})") !=
        std::string::npos);
  const auto record = x.journal->load_run(run_id{"plan_1"});
  REQUIRE(record);
  CHECK(record->state == storage::run_state::completed);
}

TEST_CASE("a step's run begins when its id is on record, not before") {
  auto journal = std::make_shared<test_journal>();
  actor_fixture x{journal};
  x.begin();
  x.provider->answers = {model_ends};
  x.release_acks = false;
  x.start(plan_spec(x, {say()}));
  x.settle();
  CHECK(x.provider->requests.empty());
  CHECK_FALSE(journal->load_session(steps_session));
  REQUIRE(journal->release_one());
  x.settle();
  const auto begun =
      last_data(stored_log(*journal, run_id{"plan_1"}), "plan_step_started");
  const auto steps = journal->load_session(steps_session);
  REQUIRE(steps);
  CHECK(steps->runs.at(0).id.value == begun.at("run_id"));
  x.release_acks = true;
  x.run_out();
  check_log(x.reader->lines);
}

TEST_CASE("a mutating call that a crash cut is interrupted, retry runs it") {
  for (const std::string policy : {"stop", "continue", "retry"}) {
    CAPTURE(policy);
    auto journal = std::make_shared<test_journal>();
    json step = tool("act");
    step["on_error"] = policy;
    {
      actor_fixture x{journal};
      x.run_blocking = false;
      x.begin();
      x.start(plan_spec(x, {step, tool("look")}));
      x.settle();  // it is at its worker
    }
    journal = journal->crash(1);
    actor_fixture x{journal};
    x.ids = other_ids();
    x.begin();
    x.resume(plan_spec(x, {step, tool("look")}));
    x.run_out();
    const auto log = stored_log(*journal, run_id{"plan_1"});
    check_log(log);
    const auto result = events_of(log, "tool_result").at(0).at("data");
    CHECK(result.at("outcome") == "interrupted");
    const auto first = events_of(log, "plan_step_finished").at(0).at("data");
    CHECK(x.act->acted.size() == (policy == "retry" ? 1u : 0u));
    CHECK(x.look->acted.size() == (policy == "stop" ? 0u : 1u));
    if (policy == "retry")
      CHECK(first.at("status") == "completed");
    else
      CHECK(first.at("error").at("code") == "interrupted");
    if (policy == "stop")
      CHECK(last_data(log, "plan_finished").at("error").at("code") ==
            "tool_execution_error");
  }
}

TEST_CASE("a reading call that a crash cut runs again") {
  auto journal = std::make_shared<test_journal>();
  {
    actor_fixture x{journal};
    x.run_blocking = false;
    x.begin();
    x.start(plan_spec(x, {tool("look")}));
    x.settle();
  }
  journal = journal->crash(1);
  actor_fixture x{journal};
  x.ids = other_ids();
  x.begin();
  x.resume(plan_spec(x, {tool("look")}));
  x.run_out();
  check_log(x.reader->lines);
  CHECK(x.look->acted.size() == 1);
  CHECK(last_data(x.reader->lines, "plan_finished").at("status") ==
        "completed");
}

TEST_CASE("a cancelled plan cancels the run of its step") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("So ") + scripted_model::hold};
  x.start(plan_spec(x, {say(), tool("act")}));
  x.settle();
  REQUIRE(x.provider->requests.size() == 1);
  x.cancel("enough");
  x.run_out();
  check_log(x.reader->lines);
  CHECK(x.act->acted.empty());
  CHECK(last_data(x.reader->lines, "plan_step_finished").at("status") ==
        "cancelled");
  const auto end = last_data(x.reader->lines, "plan_finished");
  CHECK(end.at("status") == "cancelled");
  CHECK(end.at("error").at("code") == "stream_interrupted");
  const auto steps = x.journal->load_session(steps_session);
  REQUIRE(steps);
  CHECK(steps->runs.at(0).state == storage::run_state::cancelled);
}

TEST_CASE("a cancel while a call runs settles the call first") {
  actor_fixture x;
  x.run_blocking = false;
  x.begin();
  x.start(plan_spec(x, {tool("act")}));
  x.settle();
  x.cancel("enough");
  x.settle();
  x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
  CHECK(last_data(x.reader->lines, "plan_finished").at("status") ==
        "cancelled");
}

TEST_CASE("the time limit of a step reaches its run, that of a plan too") {
  for (const bool whole : {false, true}) {
    actor_fixture x;
    x.begin();
    x.provider->answers = {model_says("So ") + scripted_model::hold};
    auto step = say();
    if (!whole) step["timeout"] = "5s";
    x.start(plan_spec(x, {step}, whole ? 5s : duration{}));
    x.run_out();
    check_log(x.reader->lines);
    const auto end = last_data(x.reader->lines, "plan_finished");
    CHECK(end.at("status") == "failed");
    CHECK(end.at("error").at("code") == "timeout");
  }
}

TEST_CASE("a retry waits, and each attempt is a call of its own") {
  actor_fixture x;
  x.begin();
  x.act->throw_times = 2;
  auto step = tool("act");
  step["on_error"] = "retry";
  x.start(plan_spec(x, {step}));
  x.run_out();
  check_log(x.reader->lines);
  CHECK(events_of(x.reader->lines, "tool_call").size() == 3);
  CHECK(last_data(x.reader->lines, "plan_finished").at("status") ==
        "completed");
}

TEST_CASE("a call of a plan waits for its approval") {
  actor_fixture x;
  x.approval = approve::ask;
  x.settings.defaults.approval = "ask";
  x.begin();
  x.start(plan_spec(x, {tool("act")}));
  x.settle();
  REQUIRE(x.undecided().size() == 1);
  CHECK(x.act->acted.empty());
  x.decide(x.undecided()[0].what.id, events::proposal_outcome::approved, "",
           always_scope::none, true);
  x.run_out();
  check_log(x.reader->lines);
  CHECK(x.act->acted.size() == 1);
}

TEST_CASE("a plan whose actor fails goes on from its journal") {
  for (const char* handler :
       {"plan_executor.settlement_committed", "plan_executor.step_prepared",
        "plan_executor.step_run_closed", "plan_executor.step_looked_at",
        "plan_executor.drain_committed", "plan_executor.answer_fetched"}) {
    CAPTURE(handler);
    actor_fixture x;
    x.begin();
    x.provider->answers = {model_ends};
    auto spec = plan_spec(x, {tool("look"), say(), tool("look")});
    bool thrown = false;
    spec->faults = [&](const std::string& where) {
      if (where != handler || std::exchange(thrown, true)) return;
      throw std::runtime_error{"it broke"};
    };
    x.start(spec);
    x.run_out();
    CHECK(thrown);
    check_log(x.reader->lines);
    CHECK(last_data(x.reader->lines, "plan_finished").at("status") ==
          "completed");
    CHECK(x.provider->requests.size() == 1);  // its run is not begun twice
  }
}

TEST_CASE("a process that ends at any moment loses and repeats no step") {
  const json steps{tool("act", {{"n", 1}}), say("one"),
                   tool("redo", {{"n", 2}}), say("two"),
                   tool("act", {{"n", 3}})};
  const auto first = fresh_seed();
  const unsigned rounds =
      std::getenv("RIFFLE_TEST_FULL") != nullptr ? 5000 : 300;
  for (unsigned i = 0; i < rounds; ++i) {
    const auto seed = first + i;
    INFO("seed " << seed);
    std::mt19937 random{seed};
    auto journal =
        std::make_shared<test_journal>(test_journal::options{.seed = seed});
    std::map<call_id, std::size_t> acted;
    bool finished = false;
    for (int life = 0; life < 8 && !finished; ++life) {
      actor_fixture x{journal};
      x.release_acks = x.run_blocking = false;
      x.ids = std::make_shared<id_source>(
          seed * 31 + static_cast<unsigned>(life),
          [life] { return wall_time{1'000'000 * (life + 1)}; });
      x.begin();
      x.provider->answers = {model_ends};
      auto with_policy = steps;
      for (auto& one : with_policy) one["on_error"] = "continue";
      auto spec = plan_spec(x, with_policy);
      const auto known = journal->load_run(run_id{"plan_1"});
      if (known && known->state != storage::run_state::active) break;
      if (known)
        x.resume(spec);
      else
        x.start(spec);
      const auto moves = life == 7 ? 100'000u : 1 + random() % 200;
      for (unsigned m = 0; m < moves && !x.reader->is_closed; ++m) {
        bool moved = false;
        switch (random() % 3) {
          case 0: moved = x.scheduler().try_run_once(); break;
          case 1: moved = x.blocking->run_one(); break;
          default: moved = journal->release_one();
        }
        if (!moved && !x.scheduler().try_run_once() && !x.blocking->run_one() &&
            !journal->release_one())
          x.advance(50ms);
      }
      for (const auto& id : x.act->acted) ++acted[id];
      journal->release_all();
      finished = x.reader->is_closed;
      if (!finished) journal = journal->crash(random());
    }
    const auto log = stored_log(*journal, run_id{"plan_1"});
    check_log(log);
    CHECK(last_data(log, "plan_finished").at("status") == "completed");
    CHECK(events_of(log, "plan_step_finished").size() == 5);
    for (const auto& [id, n] : acted) CHECK(n == 1);
    // Each announced run is there once, and all have ended.
    const auto session = journal->load_session(steps_session);
    REQUIRE(session);
    CHECK(session->runs.size() == 2);
    for (const auto& run : session->runs)
      CHECK(run.state != storage::run_state::active);
  }
}
