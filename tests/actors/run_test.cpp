// SPDX-License-Identifier: MIT
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string one_call(const std::string& tool) {
  return model_calls(0, tool) + model_stops("tool_calls");
}

json only(const std::string& lines, std::string_view type) {
  const auto found = events_of(lines, type);
  INFO(lines);
  REQUIRE(found.size() == 1);
  return found[0].at("data");
}

}  // namespace

TEST_CASE("text becomes tokens and the answer") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("Hello ") + model_says("world.") +
                         model_stops("stop")};
  x.start(x.make_spec());
  x.run_out();
  check_log(x.reader->lines);
  CHECK(events_of(x.reader->lines, "llm_token").size() == 2);
  CHECK(only(x.reader->lines, "final_answer").at("content") == "Hello world.");
}

TEST_CASE("a mutating call acts only when its intent is acknowledged") {
  auto journal = std::make_shared<test_journal>();
  actor_fixture x{journal};
  x.begin();
  x.provider->answers = {one_call("act"), model_ends};
  x.release_acks = false;
  // What is on record at the moment at which it acts.
  std::vector<storage::call_stage> stages;
  std::vector<std::size_t> messages;
  x.act->also = [&](tools::tool_context& context) {
    const auto now = journal->load_session(session_id{"ses_1"});
    REQUIRE(now);
    messages.push_back(now->messages.size());
    for (const auto& c : now->calls)
      if (c.call.id == context.call) stages.push_back(c.stage);
  };
  x.start(x.make_spec());
  x.settle();
  REQUIRE(journal->pending() > 0);  // something is to be acknowledged
  CHECK(x.act->acted.empty());
  // Each acknowledgement lets things move on by one.
  while (x.act->acted.empty() && journal->release_one()) x.settle();
  REQUIRE(x.act->acted.size() == 1);
  CHECK(stages == std::vector{storage::call_stage::intent});
  CHECK(messages == std::vector<std::size_t>{2});  // the model's turn as well
  x.release_acks = true;
  x.run_out();
  CHECK(x.act->acted.size() == 1);
  check_log(x.reader->lines);
  CHECK(only(x.reader->lines, "tool_result").at("outcome") == "ok");
}

TEST_CASE("nothing is published before it is acknowledged") {
  auto journal = std::make_shared<test_journal>();
  actor_fixture x{journal};
  x.begin();
  x.provider->answers = {model_ends};
  x.release_acks = false;
  x.start(x.make_spec());
  x.settle();
  CHECK(x.reader->lines.empty());
  REQUIRE(journal->pending() > 0);
  while (journal->release_one()) {
    x.settle();
    const auto page = journal->read_events(x.run, 0, 1u << 20);
    REQUIRE(page);
    std::string stored;
    for (const auto& block : page->blocks) stored += *block.lines;
    CHECK(stored.starts_with(x.reader->lines));
  }
  CHECK(x.reader->is_closed);
  check_log(x.reader->lines);
}

TEST_CASE("a journal that fails ends the run, and nothing goes out after it") {
  for (std::size_t k = 1; k < 40; ++k) {
    auto journal = std::make_shared<test_journal>();
    journal->fail_at(k);
    actor_fixture x{journal};
    x.begin();
    x.provider->answers = {model_says("Hm. ") + model_calls(0, "look") +
                               model_calls(1, "act") +
                               model_stops("tool_calls"),
                           model_ends};
    x.start(x.make_spec());
    x.run_out(10s);
    INFO("append " << k << " of " << journal->appended());
    REQUIRE(x.reader->is_closed);
    if (!x.reader->failure) {
      CHECK(k > journal->appended());
      check_log(x.reader->lines);
      return;  // it failed behind the end: all points are through
    }
    CHECK(x.reader->failure->code == errc::storage_unavailable);
    check_log(x.reader->lines, true);
    const auto page = journal->read_events(x.run, 0, 1u << 20);
    REQUIRE(page);
    std::string stored;
    for (const auto& block : page->blocks) stored += *block.lines;
    CHECK(stored == x.reader->lines);
  }
  FAIL("the run never ended by itself");
}

TEST_CASE("cancel and completion may come in either order") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {one_call("act"), model_ends};
  x.run_blocking = false;
  x.start(x.make_spec());
  x.settle();
  REQUIRE(x.blocking->jobs.size() == 1);
  SECTION("the cancel comes first") {
    x.cancel("enough");
    x.settle();
    x.blocking->run_one();
    x.run_blocking = true;
    x.run_out();
    const auto result = only(x.reader->lines, "tool_result");
    CHECK(result.at("outcome") == "cancelled");
    CHECK(only(x.reader->lines, "run_finished").at("status") == "cancelled");
  }
  SECTION("the completion comes first") {
    x.blocking->run_one();
    x.cancel("enough");
    x.run_blocking = true;
    x.run_out();
    CHECK(events_of(x.reader->lines, "tool_result").size() == 1);
  }
  SECTION("the run is over") {
    x.run_blocking = true;
    x.run_out();
    x.cancel("too late");
    x.settle();
    CHECK(only(x.reader->lines, "run_finished").at("status") == "completed");
  }
  check_log(x.reader->lines);
  CHECK(x.act->acted.size() == 1);
}

TEST_CASE("a second cancel changes nothing") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("for ever ") + scripted_model::hold};
  x.start(x.make_spec());
  x.settle();
  x.cancel("first");
  x.cancel("second");
  x.run_out();
  check_log(x.reader->lines);
  CHECK(only(x.reader->lines, "error").at("message") == "first");
}

TEST_CASE("a run's time limit ends it as failed with timeout") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("for ever ") + scripted_model::hold};
  auto spec = x.make_spec();
  spec->time_limit = 30s;
  x.start(spec);
  x.settle();
  x.advance(29s);
  x.settle();
  CHECK(events_of(x.reader->lines, "error").empty());
  x.advance(2s);
  x.run_out();
  check_log(x.reader->lines);
  CHECK(only(x.reader->lines, "error").at("code") == "timeout");
  CHECK(only(x.reader->lines, "run_finished").at("status") == "failed");
}

TEST_CASE("limits of a call, in simulated time") {
  actor_fixture x;
  SECTION("timeout") { x.settings.defaults.timeout = 5s; }
  SECTION("idle timeout") {
    x.settings.defaults.timeout = 1h;
    x.settings.defaults.idle_timeout = 5s;
  }
  x.begin();
  x.provider->answers = {one_call("act"), model_ends};
  x.run_blocking = false;  // the tool is never heard of again
  x.start(x.make_spec());
  x.settle();
  x.advance(4s);
  x.settle();
  CHECK(events_of(x.reader->lines, "tool_result").empty());
  x.advance(2s);
  x.run_out();
  check_log(x.reader->lines);
  const auto result = only(x.reader->lines, "tool_result");
  CHECK(result.at("outcome") == "timed_out");
  CHECK(result.at("error").at("message").get<std::string>().find(
            "may still be running") != std::string::npos);
}

TEST_CASE("a full window of progress drops all but the newest") {
  auto journal = std::make_shared<test_journal>();
  actor_fixture x{journal};
  x.begin();
  x.look->reports = 10'000;
  x.provider->answers = {one_call("look"), model_ends};
  x.start(x.make_spec());
  x.run_out();
  check_log(x.reader->lines);
  const auto reports = events_of(x.reader->lines, "tool_progress");
  CHECK(reports.size() < 100);
  std::uint64_t stands_for = 0;
  for (const auto& r : reports)
    stands_for += 1 + r.at("data").value("coalesced", std::uint64_t{0});
  CHECK(stands_for == 10'000);
  CHECK(reports.back().at("data").at("message") == "report 10000");
}

TEST_CASE("a lost worker is replaced; what may run again does") {
  actor_fixture x;
  x.begin();
  x.look->throw_times = x.act->throw_times = x.redo->throw_times = 1;
  x.provider->answers = {model_calls(0, "look") + model_calls(1, "act") +
                             model_calls(2, "redo") + model_stops("tool_calls"),
                         one_call("act"), model_ends};
  x.start(x.make_spec());
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
  std::map<std::string, json> first;
  for (const auto& r : events_of(x.reader->lines, "tool_result"))
    first.emplace(r.at("data").at("tool"), r.at("data"));
  CHECK(first.at("look").at("outcome") == "ok");
  CHECK(first.at("look").at("attempts") == 2);
  CHECK(first.at("redo").at("outcome") == "ok");
  CHECK(first.at("act").at("outcome") == "interrupted");
  CHECK(x.act->acted.size() == 2);  // another call, served by a new worker
  CHECK(events_of(x.reader->lines, "retry").size() == 2);
}

TEST_CASE("a reader without room is behind and catches up") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_ends};
  x.reader->refuses = true;
  x.start(x.make_spec());
  x.run_out(5s);
  CHECK(x.reader->lines.empty());
  CHECK(x.reader->is_closed);
  const auto page = x.journal->read_events(x.run, 0, 1u << 20);
  REQUIRE(page);
  std::string stored;
  for (const auto& block : page->blocks) stored += *block.lines;
  check_log(stored);
  auto late = std::make_shared<recording_subscriber>();
  caf::anon_send(x.registry, attach_subscriber{x.run, late});
  x.settle();
  CHECK(late->is_closed);
}

TEST_CASE("control tools act on the run") {
  actor_fixture x;
  x.begin();
  SECTION("complete gives the answer, after all other calls") {
    x.provider->answers = {model_calls(0, "complete", {{"answer", "42"}}) +
                           model_calls(1, "look") + model_stops("tool_calls")};
    x.start(x.make_spec());
    x.run_out();
    CHECK(only(x.reader->lines, "final_answer").at("content") == "42");
    CHECK(x.look->acted.size() == 1);
    CHECK(x.provider->requests.size() == 1);
  }
  SECTION("manage_plan keeps the session's plan") {
    const json steps{{"action", "create"}, {"steps", {"look", "leap"}}};
    const json done{{"action", "complete"}, {"id", 1}};
    x.provider->answers = {
        model_calls(0, "manage_plan", steps) + model_stops("tool_calls"),
        model_ends,
        model_calls(0, "manage_plan", done) + model_stops("tool_calls"),
        model_ends};
    x.start(x.make_spec());
    x.run_out();
    CHECK(only(x.reader->lines, "plan_updated").at("plan").size() == 2);
    check_log(x.reader->lines);
    x.reader = std::make_shared<recording_subscriber>();
    x.start(x.make_spec("run_2"));
    x.run_out();
    CHECK(only(x.reader->lines, "plan_updated").at("plan").at(0).at("status") ==
          "done");
  }
  SECTION("seek_approval makes a proposal") {
    x.provider->answers = {
        model_calls(0, "seek_approval", {{"summary", "delete it"}}) +
            model_stops("tool_calls"),
        model_ends};
    x.start(x.make_spec());
    x.run_out();
    CHECK(only(x.reader->lines, "proposal").at("summary") == "delete it");
  }
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
}

TEST_CASE("an agent that must complete is reminded, then completed") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_ends};
  auto spec = x.make_spec();
  spec->agent.completion = "tool";
  spec->agent.phase = "work";
  x.start(spec);
  x.run_out();
  check_log(x.reader->lines);
  CHECK(events_of(x.reader->lines, "retry").size() == 2);
  CHECK(only(x.reader->lines, "final_answer").at("content") == "The end.");
  CHECK(x.provider->requests.size() == 3);
}

TEST_CASE("budgets and loops end a run with their own error") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {one_call("look")};
  auto spec = x.make_spec();
  std::string code;
  SECTION("loop") {
    spec->agent.loop_limit = 3;
    code = "loop_detected";
  }
  SECTION("tool calls") {
    spec->agent.budget.tool_calls = 2;
    code = "budget_exceeded";
  }
  SECTION("tokens") {
    spec->agent.budget.tokens = 1;
    code = "budget_exceeded";
  }
  SECTION("steps") {
    spec->agent.max_steps = 2;
    code = "max_steps_exceeded";
  }
  x.start(spec);
  x.run_out();
  check_log(x.reader->lines);
  CHECK(only(x.reader->lines, "error").at("code") == code);
}

TEST_CASE("a busy session, an unknown run, a finished run") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("for ever ") + scripted_model::hold};
  x.start(x.make_spec());
  x.settle();
  REQUIRE(x.opened);
  CHECK_FALSE(x.opened->failure);
  x.start(x.make_spec("run_2"));
  x.settle();
  REQUIRE(x.opened->failure);
  CHECK(x.opened->failure->code == errc::session_busy);
  x.resume(x.make_spec("run_3"));
  x.settle();
  CHECK(x.opened->failure->code == errc::not_found);
  x.run = run_id{"run_1"};
  x.cancel();
  x.run_out();
  x.resume(x.make_spec("run_1"));
  x.settle();
  CHECK(x.opened->failure->code == errc::invalid_request);
}

TEST_CASE("a blank answer of complete leaves the answer to the text") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("It is done.") +
                         model_calls(0, "complete", {{"answer", " "}}) +
                         model_stops("tool_calls")};
  x.start(x.make_spec());
  x.run_out();
  check_log(x.reader->lines);
  CHECK(only(x.reader->lines, "final_answer").at("content") == "It is done.");
}
