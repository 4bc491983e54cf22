// SPDX-License-Identifier: MIT
#include "runtime/cli/view/run_report.hpp"

#include <algorithm>

#include "messages/event_line.hpp"
#include "runtime/cli/view/results.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "tests/cli/test_console.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

/// The lines of a run that reads a file and fails to make something.
std::string sample_lines() {
  event_writer writer{run_id{"run_1"}};
  writer.set_time({1'000'000});
  std::string out;
  std::uint64_t seq = 0;
  const auto add = [&](const events::body& x) { writer.add(out, ++seq, x); };
  add(events::run_started{{"ses_1"}, "default", "m", "do it", 30, {}});
  add(events::step_start{1, 30});
  writer.add_text(out, ++seq, false, "Looking.\n", 1);
  events::tool_call call;
  call.id = {"call_1"};
  call.tool = "read";
  call.title = "Reading a";
  call.arguments = R"({"path":"a"})";
  call.step = 1;
  add(call);
  events::tool_result result;
  result.id = {"call_1"};
  result.tool = "read";
  result.output = "x";
  result.duration_ms = 5;
  result.attempts = 1;
  result.metadata = R"({"lines":1,"bytes":1})";
  add(result);
  call.id = {"call_2"};
  call.tool = "bash";
  call.title = "Running: make";
  call.arguments = R"({"command":"make"})";
  add(call);
  result.id = {"call_2"};
  result.tool = "bash";
  result.how = outcome::failed;
  result.metadata.clear();
  result.err =
      error{errc::tool_execution_error, "bash", "exit status 2", false, {}};
  add(result);
  writer.add_text(out, ++seq, false, "Done \x1b[1m.", 1);
  return out;
}

events::run_finished end_of(events::run_status status) {
  events::run_finished x;
  x.status = status;
  x.duration_ms = 99;
  x.steps = 1;
  x.tool_calls = 2;
  x.usage.input_tokens = 7;
  x.usage.output_tokens = 3;
  return x;
}

std::string completed_lines() {
  auto out = sample_lines();
  event_writer writer{run_id{"run_1"}};
  writer.add(out, 9, events::final_answer{"Done \x1b[1m.", 1, {}, 2});
  writer.add(out, 10, end_of(events::run_status::completed));
  return out;
}

std::string failed_lines() {
  auto out = sample_lines();
  event_writer writer{run_id{"run_1"}};
  const error why{errc::model_unreachable, "model", "nobody there", true, {}};
  writer.add(out, 9, events::failure{why, 1});
  auto end = end_of(events::run_status::failed);
  end.err = why;
  writer.add(out, 10, end);
  return out;
}

struct shown {
  std::string out;
  std::string err;
};

shown show(const std::string& lines, const common_options& options) {
  testing::test_console c;
  run_output output{options, {}, c.io.out, c.io.err};
  output.on_lines(lines, {});
  output.finish();
  return {c.out.text(), c.err.text()};
}

common_options options_of(output_kind kind,
                          verbosity level = verbosity::normal) {
  common_options out;
  out.output = kind;
  out.level = level;
  return out;
}

const std::string traces =
    "[TOOL] read: a (1 line, 1 B) — 0.0s\n"
    "[TOOL] bash: make ✗ exit status 2 — 0.0s\n";

}  // namespace

TEST_CASE("text: the answer on standard output, traces on standard error") {
  const auto x = show(completed_lines(), options_of(output_kind::text));
  CHECK(x.out == "Done \x1b[1m.\n");  // no terminal: as it is
  CHECK(x.err == traces);
}

TEST_CASE("text: an answer that ends its line gets no second end") {
  std::string lines;
  event_writer writer{run_id{"run_1"}};
  writer.add(lines, 1, events::final_answer{"a\n", 1, {}, 0});
  writer.add(lines, 2, end_of(events::run_status::completed));
  CHECK(show(lines, options_of(output_kind::text)).out == "a\n");
}

TEST_CASE("text: a failed run has no answer, but an error") {
  const auto x = show(failed_lines(), options_of(output_kind::text));
  CHECK(x.out.empty());
  CHECK(x.err == traces + "[ERROR] nobody there (model_unreachable)\n");
  const auto quiet =
      show(failed_lines(), options_of(output_kind::text, verbosity::quiet));
  CHECK(quiet.err == "[ERROR] nobody there (model_unreachable)\n");
}

TEST_CASE("json: one object with all that came of the run") {
  const auto x = show(completed_lines(), options_of(output_kind::json));
  CHECK(x.err == traces);
  CHECK(std::ranges::count(x.out, '\n') == 1);
  CHECK(x.out.starts_with(R"({"results":[{"task":"do it","run_id":"run_1")"));
  CHECK(nlohmann::json::parse(x.out) == nlohmann::json::parse(R"({
    "results": [{
      "task": "do it", "run_id": "run_1", "session_id": "ses_1",
      "status": "completed", "answer": "Done \u001b[1m.",
      "model": "m", "agent": "default",
      "usage": {"input_tokens": 7, "output_tokens": 3},
      "steps": 1, "tool_calls": 2,
      "tools": [
        {"name": "read", "calls": 1, "failures": 0, "duration_ms": 5},
        {"name": "bash", "calls": 1, "failures": 1, "duration_ms": 5}],
      "calls": [
        {"id": "call_1", "tool": "read", "title": "Reading a", "outcome": "ok",
         "duration_ms": 5, "attempts": 1,
         "metadata": {"lines": 1, "bytes": 1}},
        {"id": "call_2", "tool": "bash", "title": "Running: make",
         "outcome": "failed", "duration_ms": 5, "attempts": 1,
         "error": {"code": "tool_execution_error",
                   "message": "exit status 2"},
         "metadata": {}}],
      "duration_ms": 99}],
    "totals": {"usage": {"input_tokens": 7, "output_tokens": 3}}})"));
}

TEST_CASE("a line of JSON for each call that ended, where that is wanted") {
  testing::test_console c;
  run_output output{options_of(output_kind::text, verbosity::quiet),
                    {.tool_trace = true},
                    c.io.out,
                    c.io.err};
  output.on_lines(completed_lines(), {});
  const auto err = c.err.text();
  const auto first = nlohmann::json::parse(err.substr(0, err.find('\n')));
  CHECK(first == nlohmann::json::parse(R"({
    "run_id": "run_1", "id": "call_1", "tool": "read", "title": "Reading a",
    "outcome": "ok", "duration_ms": 5, "attempts": 1,
    "metadata": {"lines": 1, "bytes": 1}})"));
  CHECK(std::ranges::count(err, '\n') == 2);
}

TEST_CASE("json: a failed run says why") {
  const auto x = nlohmann::json::parse(
      show(failed_lines(), options_of(output_kind::json)).out)["results"][0];
  CHECK(x["status"] == "failed");
  CHECK(x["answer"] == "");
  CHECK(x["error"]["code"] == "model_unreachable");
  CHECK(x["error"]["op"] == "model");
  CHECK(x["error"]["retryable"] == true);
  CHECK(x["error"]["message"] == "nobody there");
}

TEST_CASE("jsonl: the lines byte for byte, and errors only beside them") {
  const auto good = show(completed_lines(), options_of(output_kind::jsonl));
  CHECK(good.out == completed_lines());
  CHECK(good.err.empty());
  const auto bad = show(failed_lines(), options_of(output_kind::jsonl));
  CHECK(bad.out == failed_lines());
  CHECK(bad.err == "[ERROR] nobody there (model_unreachable)\n");
  const auto verbose = show(completed_lines(),
                            options_of(output_kind::jsonl, verbosity::verbose));
  CHECK(verbose.err.find("[STEP] 1 of 30\n") != std::string::npos);
}

TEST_CASE("the report knows how a run ended") {
  testing::test_console c;
  run_output output{options_of(output_kind::text), {}, c.io.out, c.io.err};
  output.on_lines(sample_lines(), {});
  CHECK_FALSE(output.report().finished());
  CHECK_FALSE(output.report().failure());
  run_output failed{options_of(output_kind::text), {}, c.io.out, c.io.err};
  failed.on_lines(failed_lines(), {});
  REQUIRE(failed.report().finished());
  REQUIRE(failed.report().failure());
  CHECK(failed.report().failure()->code == errc::model_unreachable);
}

TEST_CASE("there are no colours without a terminal") {
  testing::test_console c;
  CHECK_FALSE(use_color({}, c.io.err));
}

TEST_CASE("once nobody reads, nothing is said on standard error") {
  testing::test_console c;
  fd_writer nowhere{-1};
  run_output output{options_of(output_kind::jsonl), {}, nowhere, c.io.err};
  output.on_lines(failed_lines(), {});
  output.finish();
  CHECK_FALSE(nowhere.good());
  CHECK(c.err.text().empty());
  CHECK(output.report().finished());
}

TEST_CASE("what a volley came to is one line") {
  volley_sum x;
  x.done = 1;
  x.took_ms = 1200;
  CHECK(sum_text(x) == "1 task: 1 done — 1.2s");
  x.failed = 2;
  x.stopped = 3;
  x.not_run = 4;
  x.usage.input_tokens = 1200;
  x.usage.output_tokens = 1;
  x.usage.cost_usd = 0.045;
  CHECK(sum_text(x) ==
        "10 tasks: 1 done, 2 failed, 3 stopped, 4 not run, 1200 tokens in, 1 "
        "token out, $0.0450 — 1.2s");
}
