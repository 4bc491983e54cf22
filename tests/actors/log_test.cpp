// SPDX-License-Identifier: MIT
// What an operator reads in the log of a process; each line has its test.
#include "actors/run/run_log.hpp"
#include "actors/tools/tool_pool.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string one_call(const std::string& tool) {
  return model_calls(0, tool) + model_stops("tool_calls");
}

/// Plays the answers in a run of its own.
void play(actor_fixture& x, std::vector<std::string> answers,
          const std::function<void(run_spec&)>& change = {},
          const std::string& run = "run_1") {
  x.provider->answers = std::move(answers);
  x.provider->requests.clear();
  x.reader = std::make_shared<recording_subscriber>();
  auto spec = x.make_spec(run);
  if (change) change(*spec);
  x.start(spec);
  x.run_out();
  REQUIRE(x.reader->is_closed);
}

/// One line has `part`, and it begins with `begin`.
void check_line(const log_lines& log, const std::string& begin,
                const std::string& part) {
  INFO(log.text());
  CAPTURE(begin, part);
  const auto found = log.with(part);
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with(begin));
}

}  // namespace

TEST_CASE("a run's begin and end are logged, and those of its calls") {
  actor_fixture x;
  x.begin();
  x.look->says = "secret output";
  const log_lines log{"info"};
  play(x, {one_call("look"), model_ends});
  check_line(log, "info run: run_1 begins: session ses_1, agent default",
             "run_1 begins");
  check_line(log, "info run: run_1 step 1 of ", "step 1 of");
  check_line(log, "info run: run_1 call call_", " begins: look (read_only)");
  check_line(log, "info run: run_1 call call_", " ended: look ok in 0 ms, 1 ");
  check_line(log, "info run: run_1 ended: completed in ", " 2 steps, 1 call");
  // What is said stays between the model and its user.
  CHECK(log.with("secret").empty());
  CHECK(log.with("The end").empty());
  CHECK(log.with("the task").empty());
}

TEST_CASE("a process says nothing of a run that goes well, unless asked") {
  actor_fixture x;
  x.begin();
  const log_lines log{"warn"};
  play(x, {one_call("look"), model_ends});
  CHECK(log.text().empty());
}

TEST_CASE("the failure of a tool is logged with what lies behind it") {
  const auto line = log_line_of(
      events::tool_result{call_id{"call_1"},
                          "fetch",
                          outcome::failed,
                          {},
                          false,
                          12,
                          2,
                          error{errc::tool_execution_error, "fetch",
                                "no answer", false, "connection refused"},
                          {}});
  CHECK(line.level == log_level::info);
  CHECK(line.text ==
        "call call_1 ended: fetch failed in 12 ms, 2 attempts: "
        "tool_execution_error: no answer (fetch), because: connection refused");
}

TEST_CASE("what a run failed of is logged with its causes") {
  actor_fixture x;
  x.begin();
  const log_lines log{"info"};
  // Three attempts; the transport says why each failed.
  play(x, {model_says("x") + scripted_model::cut});
  check_line(log, "info run: run_1 fails: stream_interrupted", " fails: ");
  check_line(log, "info run: run_1 ended: failed", " ended: failed");
  INFO(log.text());
  CHECK(log.with("begins again, attempt").size() == 2);
  const auto text = log_line_of(events::failure{{errc::model_error, "model",
                                                 "odd", false, "status 502"},
                                                {}})
                        .text;
  CHECK(text == "fails: model_error: odd (model), because: status 502");
}

TEST_CASE("an answer that did not stream is logged") {
  actor_fixture x;
  x.begin();
  const std::string whole =
      R"({"choices":[{"index":0,"message":{"role":"assistant",)"
      R"("content":"The end."},"finish_reason":"stop"}]})";
  // Whatever the server calls it.
  x.provider->content_type = GENERATE(as<std::string>{}, "application/json",
                                      "text/plain", "text/event-stream", "");
  CAPTURE(x.provider->content_type);
  {
    const log_lines log{"info"};
    play(x, {whole});
    CHECK(x.reader->lines.find("The end.") != std::string::npos);
    check_line(log, "info run: run_1 ", "did not stream");
  }
  const log_lines asked{"info"};
  play(
      x, {whole}, [](run_spec& spec) { spec.request.streaming = false; },
      "run_2");
  x.provider->content_type = "text/event-stream";
  play(x, {model_ends}, {}, "run_3");
  CHECK(asked.with("did not stream").empty());
}

TEST_CASE("reasoning and phases are logged at debug, and only there") {
  actor_fixture x;
  x.begin();
  const auto thinks =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":"
      "\"I should look.\"}}]}\n\n";
  {
    const log_lines log{"debug"};
    play(x, {thinks + one_call("look"), model_ends});
    check_line(log, "debug run: run_1 reasoning: I should look.", "should");
    CHECK(log.with("run_1 idle -> streaming").size() == 1);
    CHECK(log.with("run_1 streaming -> settling").size() == 1);
    CHECK(log.with("run_1 streaming -> ended").size() == 1);
    CHECK(log.with(" input tokens").size() >= 1);
  }
  const log_lines log{"info"};
  play(x, {thinks + model_ends}, {}, "run_2");
  CHECK(log.with("should").empty());
  CHECK(log.with("->").empty());
}

TEST_CASE("room that is made in the context is logged, and a status") {
  actor_fixture x;
  x.begin();
  x.look->says = std::string(20'000, 'x');
  const log_lines log{"info"};
  std::vector<std::string> answers;
  for (int i = 0; i < 6; ++i)
    answers.push_back(model_calls(0, "look", {{"n", i}}) +
                      model_stops("tool_calls"));
  answers.push_back(model_ends);
  play(x, answers, [](run_spec& spec) {
    spec.model.context_window = 20'000;
    spec.agent.max_steps = 20;
  });
  INFO(x.reader->lines.size());
  const auto lines = log.with("run_1 made room: ");
  REQUIRE(lines.size() >= 1);
  std::size_t told = 0;
  for (const auto& e : events_of(x.reader->lines, "status"))
    told += e.at("data").at("text").get<std::string>().starts_with("made room");
  // Of several at once people are told the newest.
  CHECK(told >= 1);
}

TEST_CASE("answers that come too late are counted and logged") {
  actor_fixture x;
  x.settings.defaults.timeout = 1s;
  x.begin();
  x.begin_blocking = true;
  x.run_blocking = false;  // the call never ends in time
  x.look->reports = 3;
  const log_lines log{"info"};
  x.provider->answers = {one_call("look"), scripted_model::hold};
  x.start(x.make_spec());
  for (int i = 0; i < 400 && events_of(x.reader->lines, "tool_result").empty();
       ++i) {
    x.settle();
    x.advance(50ms);
  }
  REQUIRE(events_of(x.reader->lines, "tool_result").size() == 1);
  x.run_blocking = true;
  x.run_out(1s);
  check_line(log, "info run: run_1 call call_", "came too late and is dropped");
  CHECK(log.with("(1 so far)").size() == 1);
  x.cancel();
  x.run_out();
  x.settle();
  check_line(log, "info run: run_1 3 progress reports came too late",
             "progress reports");
}

TEST_CASE("a worker that died, its tool's trial and its way back are logged") {
  actor_fixture x;
  x.settings.defaults.attempts = 1;
  x.supervision.intensity = 1;
  x.supervision.cool_down = 30s;
  x.begin();
  const log_lines log{"info"};
  x.look->throw_times = 2;
  play(x, {one_call("look"), one_call("look"), model_ends});
  CHECK(log.with("info tool_pool: `look`: a worker died").size() == 1);
  CHECK(log.with(": attempt 1 was lost: ").size() == 2);
  CHECK(log.with("error tool_pool: ").size() == 1);  // out of service
  x.advance(30s);
  play(x, {one_call("look"), model_ends}, {}, "run_2");
  CHECK(log.with("info tool_pool: `look` is on trial").size() == 1);
  CHECK(log.with("info tool_pool: `look` is in service again").size() == 1);
}

TEST_CASE("a decision is logged, and who made it") {
  actor_fixture x;
  x.settings.defaults.approval = "ask";
  x.approval = approve::ask;
  x.begin();
  const log_lines log{"info"};
  x.provider->answers = {one_call("act"), model_ends};
  x.start(x.make_spec());
  for (int i = 0; i < 50 && x.undecided().empty(); ++i) {
    x.settle();
    x.advance(100ms);
  }
  x.decide(x.undecided().at(0).what.id, events::proposal_outcome::approved);
  x.run_out();
  check_line(log, "info run: run_1 call call_", "waits for a decision");
  check_line(log, "info run: run_1 proposal ", "is approved by ann");
}

TEST_CASE("a run that starts again says so") {
  actor_fixture x;
  x.begin();
  const log_lines log{"info"};
  bool once = false;
  play(x, {one_call("look"), model_ends}, [&](run_spec& spec) {
    spec.faults = [&once](const std::string& handler) {
      if (handler == "dispatcher.work_done" && !std::exchange(once, true))
        throw std::runtime_error{"a fault"};
    };
  });
  check_line(log, "warn run_registry: run_1 failed", "run_1 failed");
  check_line(log, "info run: run_1 goes on at step 1", "goes on");
}
