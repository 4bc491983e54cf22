// SPDX-License-Identifier: MIT
// Whoever asks for the end before something begins gets the end, and nothing
// begins: whatever order the actors' messages are handled in.
#include <algorithm>
#include <random>

#include "tests/actors/plan_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const core::end_request enough{{errc::cancelled, "test", "enough"}};

/// Seeds that are tried; each is an order of messages, jobs and commits.
constexpr unsigned orders = 150;

/// Something that can happen happens, whichever; false: nothing can.
bool move_any(actor_fixture& x, std::mt19937& random) {
  auto& waiting = x.scheduler().jobs;
  std::shuffle(waiting.begin(), waiting.end(), random);
  for (int tries = 0; tries < 8; ++tries) {
    switch (random() % 4) {
      case 0:
        if (x.blocking->run_one()) return true;
        break;
      case 1:
        if (x.held != nullptr && x.held->release_one()) return true;
        break;
      default:
        if (x.scheduler().try_run_once()) return true;
    }
  }
  return x.scheduler().try_run_once() || x.blocking->run_one() ||
         (x.held != nullptr && x.held->release_one());
}

/// Until its reader has seen the end.
void move_to_the_end(actor_fixture& x, std::mt19937& random) {
  for (int moves = 0; moves < 100'000 && !x.reader->is_closed; ++moves)
    if (!move_any(x, random)) x.advance(50ms);
  REQUIRE(x.reader->is_closed);
}

bool nothing_acted(const actor_fixture& x) {
  return x.look->acted.empty() && x.act->acted.empty() && x.redo->acted.empty();
}

}  // namespace

TEST_CASE("a plan that is cancelled before it begins begins no step") {
  // Asked for with the start, or of who has yet to start it.
  const bool with_start = GENERATE(true, false);
  const json steps = GENERATE(json::array({tool("look")}),
                              json::array({tool("act"), tool("look")}),
                              json::array({say(), tool("act")}));
  CAPTURE(with_start, steps.dump());
  for (unsigned seed = 1; seed <= orders; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    actor_fixture x{std::make_shared<test_journal>()};
    x.begin();
    x.provider->answers = {model_ends};
    x.settle();
    if (with_start) {
      x.start(plan_spec(x, steps), enough);
    } else {
      x.start(plan_spec(x, steps));
      x.scheduler().run(1);  // the question is on its way
      x.cancel("enough");
    }
    move_to_the_end(x, random);
    REQUIRE(nothing_acted(x));
    REQUIRE(x.provider->requests.empty());
    const auto log = stored_log(*x.journal, run_id{"plan_1"});
    check_log(log);
    CHECK(events_of(log, "plan_step_started").empty());
    const auto end = last_data(log, "plan_finished");
    CHECK(end.at("status") == "cancelled");
    CHECK(end.at("error").at("code") == "stream_interrupted");
  }
}

TEST_CASE("a plan that is adopted to be ended begins nothing") {
  const json steps{tool("act"), say("one"), tool("look"), tool("redo")};
  unsigned cut = 0;
  for (unsigned seed = 1; seed <= orders; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    auto journal =
        std::make_shared<test_journal>(test_journal::options{.seed = seed});
    {
      actor_fixture x{journal};
      x.begin();
      x.provider->answers = {model_ends};
      x.start(plan_spec(x, steps));
      const auto moves = 1 + random() % 250;
      for (unsigned m = 0; m < moves && !x.reader->is_closed; ++m)
        if (!move_any(x, random)) x.advance(50ms);
      if (x.reader->is_closed) continue;
      journal = journal->crash(random());
    }
    const auto record = journal->load_run(run_id{"plan_1"});
    if (!record || record->state != storage::run_state::active) continue;
    ++cut;
    actor_fixture x{journal};
    x.ids = other_ids();
    x.begin();
    x.provider->answers = {model_ends};
    x.resume(plan_spec(x, steps), enough);
    move_to_the_end(x, random);
    REQUIRE(nothing_acted(x));
    const auto log = stored_log(*x.journal, run_id{"plan_1"});
    check_log(log);
    CHECK(last_data(log, "plan_finished").at("status") == "cancelled");
    if (const auto of_steps = journal->load_session(steps_session))
      for (const auto& run : of_steps->runs)
        CHECK(run.state != storage::run_state::active);
  }
  CHECK(cut > orders / 3);
}

TEST_CASE("a run that is cancelled before it begins asks no model") {
  for (unsigned seed = 1; seed <= orders; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    actor_fixture x{std::make_shared<test_journal>()};
    x.begin();
    x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls")};
    x.start(x.make_spec(), enough);
    move_to_the_end(x, random);
    REQUIRE(x.provider->requests.empty());
    REQUIRE(nothing_acted(x));
    const auto log = stored_log(*x.journal, x.run);
    check_log(log);
    const auto end = last_data(log, "run_finished");
    CHECK(end.at("status") == "cancelled");
    CHECK(end.at("duration_ms") == 0);
  }
}

TEST_CASE("a step that was announced makes no call as its plan is ended") {
  unsigned without_call = 0;
  for (unsigned seed = 1; seed <= orders; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    auto journal = std::make_shared<test_journal>();
    {
      actor_fixture x{journal};
      x.release_acks = x.run_blocking = false;
      x.begin();
      x.start(plan_spec(x, {tool("look")}));
      x.settle();
      REQUIRE(journal->release_one());  // that it begins is on record
    }
    journal = journal->crash(seed);
    if (journal->load_session(session_id{"plan_1"})->calls.empty())
      ++without_call;
    actor_fixture x{journal};
    x.ids = other_ids();
    x.begin();
    x.resume(plan_spec(x, {tool("look")}), enough);
    move_to_the_end(x, random);
    REQUIRE(nothing_acted(x));
    check_log(stored_log(*x.journal, run_id{"plan_1"}));
  }
  CHECK(without_call > orders / 10);
}

TEST_CASE("what waits in a dead run does not begin as that is ended") {
  for (unsigned seed = 1; seed <= orders; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    auto journal = std::make_shared<test_journal>();
    {
      actor_fixture x{journal};
      x.run_blocking = false;
      x.begin();
      x.provider->answers = {model_calls(0, "act") + model_calls(1, "look") +
                             model_stops("tool_calls")};
      x.start(x.make_spec());
      x.settle();  // the first is at its worker, the second waits for it
    }
    journal = journal->crash(seed);
    actor_fixture x{journal};
    x.ids = other_ids();
    x.begin();
    x.provider->answers = {model_ends};
    x.resume(x.make_spec(), enough);
    move_to_the_end(x, random);
    REQUIRE(nothing_acted(x));
    const auto log = stored_log(*x.journal, x.run);
    check_log(log);
    CHECK(last_data(log, "run_finished").at("status") == "cancelled");
  }
}
