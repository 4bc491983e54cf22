// SPDX-License-Identifier: MIT
// Transcripts: events with times in, what a terminal shows out.
#include "runtime/cli/view/live_view.hpp"

#include <memory>

#include "runtime/cli/terminal/text_width.hpp"
#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace std::chrono_literals;
using namespace riffle::testing;

namespace {

/// A run with text, two tools at once and an answer; `look` sees the picture
/// at interesting moments.
template <class F>
void play(live_stage& s, F look) {
  s.on(events::run_started{{"ses_1"}, "default", "m", "do it", 30, {}});
  s.on(events::step_start{1, 30});
  s.tick(100ms);
  look("asked");
  s.at(900ms);
  s.on(events::llm_token{"I look at 日本語.txt first. ", 1});
  s.tick(1000ms);
  look("text");
  s.on(
      call("call_1", "read", "Reading 日本語.txt", R"({"path":"日本語.txt"})"));
  s.on(call("call_2", "bash", "Running: make",
            R"({"command":"make -j2 all the things that take a while to make )"
            R"(and whose command is longer than any line of a terminal"})"));
  s.tick(1200ms);
  look("two tools");
  s.on(result("call_1", "read", 103, R"({"lines":42,"bytes":1331})"));
  s.at(5s);
  s.on(progress("call_2", "linking\n", 3, 10));
  s.tick();
  look("progress");
  s.at(14s);
  s.on(result("call_2", "bash", 12900, R"({"lines":3,"bytes":19})"));
  events::usage usage;
  usage.tokens.input_tokens = 1200;
  usage.tokens.output_tokens = 34;
  s.on(usage);
  s.on(events::step_start{2, 30});
  s.tick(14200ms);
  look("asked again");
  s.on(events::llm_token{"All is made.\n", 2});
  s.tick(14400ms);
  s.on(events::llm_token{"It is 👍", 2});
  s.on(events::final_answer{"All is made.\nIt is 👍", 2, {}, 2});
  s.on(events::run_finished{});
  s.write(s.view.finish("All is made.\nIt is 👍"));
  look("done");
}

constexpr auto writes = "writing big.py … 1.2k tokens";

std::string transcript(std::size_t width) {
  live_stage s{on_terminal(), width};
  std::string out;
  play(s, [&](const char* when) {
    out.append("== ").append(when).append("\n").append(s.picture.text());
  });
  return out;
}

}  // namespace

TEST_CASE("a run on a terminal of 80 columns") {
  CHECK(transcript(80) == R"(== asked
⠙ waiting for the model — 0.1s
== text
I look at 日本語.txt first.
⠋ the model writes — 1.0s, ~7 tokens
== two tools
I look at 日本語.txt first.
⠹ 2 tools — 0.2s, ~7 tokens
  Reading 日本語.txt
  Running: make
== progress
I look at 日本語.txt first.
[TOOL] read: 日本語.txt (42 lines, 1.3 KB) — 0.1s
⠋ Running: make (3/10: linking) — 4.0s, ~7 tokens
== asked again
I look at 日本語.txt first.
[TOOL] read: 日本語.txt (42 lines, 1.3 KB) — 0.1s
[TOOL] bash: make -j2 all the things that take a while … (3 lines, 19 B) — 12.9s
⠹ waiting for the model, step 2 — 14.2s, 34 tokens
== done
I look at 日本語.txt first.
[TOOL] read: 日本語.txt (42 lines, 1.3 KB) — 0.1s
[TOOL] bash: make -j2 all the things that take a while … (3 lines, 19 B) — 12.9s

All is made.
It is 👍
)");
}

TEST_CASE("a run on a terminal of 200 columns shows more of a command") {
  const auto all = transcript(200);
  CHECK(all.find("[TOOL] bash: make -j2 all the things that take a while to "
                 "make and whose command is longer than any line of a terminal "
                 "(3 lines, 19 B) — 12.9s\n") != std::string::npos);
}

TEST_CASE("the status line never wraps, and nothing of it stays") {
  for (std::size_t width = 1; width < 120; ++width) {
    CAPTURE(width);
    live_stage s{on_terminal(), width};
    play(s, [](const char*) {});
    CHECK(s.picture.text().find("waiting") == std::string::npos);
    CHECK(s.picture.text().find("⠹") == std::string::npos);
    live_stage alone{on_terminal(), width};
    alone.on(events::step_start{3, 30});
    alone.on(call("c", "bash", std::string(300, 'x') + "日本語", "{}"));
    for (int i = 1; i < 30; ++i) alone.tick(i * 100ms);
    const auto text = alone.picture.text();
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    CHECK(columns_of(text.substr(0, text.size() - 1)) < width + 1);
  }
}

TEST_CASE("a terminal that becomes narrower shows no rest of the status") {
  live_stage s{on_terminal(), 80};
  s.on(events::step_start{1, 30});
  s.on(call("c", "bash", "Running: " + std::string(60, 'x'), "{}"));
  s.tick(100ms);
  s.picture.resize(30);
  CHECK(s.picture.text().find("…") == std::string::npos);  // wrapped by it
  s.columns = 30;
  s.tick(200ms);
  CHECK(s.picture.text() == "⠹ Running: xxxxxxxxxx… — 0.2s\n");
  s.picture.resize(100);
  s.columns = 100;
  s.tick(300ms);
  CHECK(s.picture.text().find('\n') == s.picture.text().size() - 1);
}

TEST_CASE("the status line is drawn at most ten times a second") {
  live_stage s{on_terminal()};
  s.on(events::step_start{1, 30});
  std::size_t drawn = 0;
  for (int ms = 0; ms < 1000; ms += 3) {
    const auto before = s.err.size();
    s.tick(ms * 1ms);
    drawn += s.err.size() != before;
  }
  CHECK(drawn <= 10);
  CHECK(drawn >= 9);
}

TEST_CASE("without terminals nothing is drawn and the answer comes once") {
  live_stage s{view_options{}, 80};
  s.columns = 0;
  play(s, [](const char*) {});
  CHECK(s.out == "All is made.\nIt is 👍\n");
  CHECK(s.err.find('\x1b') == std::string::npos);
  CHECK(s.err.find('\r') == std::string::npos);
  CHECK(s.err.find("[TOOL] bash: make -j2 all") != std::string::npos);
  CHECK(s.err.find("3/10: linking") != std::string::npos);
}

TEST_CASE("only the answer's text is on standard output of a terminal") {
  live_stage s{on_terminal()};
  play(s, [](const char*) {});
  CHECK(s.out == "I look at 日本語.txt first. \n\nAll is made.\nIt is 👍\n");
}

TEST_CASE("withdrawn text is said to be void, and the answer stands whole") {
  live_stage s{on_terminal()};
  s.on(events::step_start{1, 30});
  s.on(events::llm_token{"Half an ans", 1});
  s.on(events::step_restarted{1, 2, "the stream was cut", 2, 2});
  s.on(events::llm_token{"The answer.", 1});
  s.write(s.view.finish("The answer."));
  CHECK(s.picture.text() == R"(Half an ans
[STEP] 1 starts again (attempt 2): the stream was cut
[RETRY] the text above counts no more

The answer.
)");
  live_stage silent{on_terminal()};
  silent.on(events::step_start{1, 30});
  silent.on(events::step_restarted{1, 2, "cut", 2, 2});
  CHECK(silent.err.find("withdrawn") == std::string::npos);
}

TEST_CASE("an answer that the text did not give is printed") {
  live_stage s{on_terminal()};
  s.on(events::step_start{1, 30});
  s.on(events::llm_token{"I call complete.", 1});
  s.write(s.view.finish("Done\x1b[2J."));
  CHECK(s.out == "I call complete.\nDone^[[2J.\n");
}

TEST_CASE("a carriage return between two pieces of text is seen as one end") {
  live_stage s{on_terminal()};
  s.on(events::step_start{1, 30});
  s.on(events::llm_token{"one\r", 1});
  s.on(events::llm_token{"\ntwo\rthree", 1});
  s.write(s.view.finish("one\r\ntwo\rthree"));
  CHECK(s.out == "one\ntwo\\x0dthree\n");
}

TEST_CASE("reasoning is shown when asked for, a line at a time") {
  auto options = on_terminal();
  options.reasoning = true;
  live_stage s{options};
  s.on(events::step_start{1, 30});
  s.on(events::llm_reasoning{"First I\nloo", 1});
  CHECK(s.err == "[THINK] First I\n");
  s.on(events::llm_reasoning{"k\x1b[2J", 1});
  s.on(events::llm_token{"Hello", 1});
  CHECK(s.err == "[THINK] First I\n[THINK] look^[[2J\n");
  live_stage without{on_terminal()};
  without.on(events::llm_reasoning{"x\n", 1});
  CHECK(without.err.empty());
  CHECK_FALSE(live_view{view_options{}}.wants_text());
  CHECK(s.view.wants_text());
}

TEST_CASE("the status line tells what is waited for") {
  live_stage s{on_terminal()};
  s.on(events::step_start{1, 30});
  const auto line = [&] {
    s.now += 100ms;
    s.tick();
    auto text = s.picture.text();
    text = text.substr(0, text.size() - 1);
    text = text.substr(text.rfind('\n') + 1);
    return text.substr(text.find(' ') + 1, text.find(" — ") - 4);
  };
  CHECK(line() == "waiting for the model");
  events::approval_required wanted;
  wanted.id = {"c1"};
  wanted.title = "Writing a.txt";
  s.on(wanted);
  CHECK(line() == "waiting for approval: Writing a.txt");
  events::approval_resolved resolved;
  resolved.id = {"c1"};
  s.on(resolved);
  events::retry again;
  again.delay_ms = 1500;
  again.reason = "429";
  s.on(again);
  CHECK(line() == "the model failed, again in 2s: 429");
  s.on(events::llm_reasoning{"hm", 1});
  CHECK(line() == "the model thinks");
  s.view.cancelling();
  CHECK(line() == "cancelling; Ctrl-C once more stops at once");
}

TEST_CASE("a wait for the rate limit is told as such, and counts down") {
  live_stage s{on_terminal(), 100};
  const auto says = [&s](duration later, const std::string& what) {
    s.now += later;
    s.tick();
    return s.picture.text().find(" " + what + " — ") != std::string::npos;
  };
  s.tick();
  events::step_start begins;
  begins.step = 2;
  s.on(begins);
  CHECK(says(100ms, "waiting for the model, step 2"));
  s.on(events::status{"held back by the model's rate limit, next in 6s"});
  CHECK(says(100ms, "held back by the model's rate limit, next in 6s"));
  CHECK(says(4s, "held back by the model's rate limit, next in 2s"));
  CHECK(says(1s, "held back by the model's rate limit, next in 1s"));
  CHECK(says(3s, "held back by the model's rate limit, next soon"));
  s.on(events::status{"held back by the model's rate limit"});
  CHECK(says(100ms, "held back by the model's rate limit"));
  s.on(events::status{"waiting for the model"});
  CHECK(says(100ms, "waiting for the model, step 2"));
  events::retry again;
  again.delay_ms = 9100;
  again.reason = "HTTP 429: slow down";
  s.on(again);
  CHECK(says(
      100ms,
      "refused by the model's rate limit, again in 9s: HTTP 429: slow down"));
  CHECK(says(
      5s,
      "refused by the model's rate limit, again in 4s: HTTP 429: slow down"));
}

TEST_CASE("progress shows beside titles that are too long") {
  live_stage s{on_terminal(), 60};
  const auto shows = [&](const std::string& text) {
    s.now += 100ms;
    s.tick();
    return s.picture.text().find(text) != std::string::npos;
  };
  s.on(call("c1", "bash", "Running: " + std::string(60, 'x'), "{}"));
  s.on(progress("c1", "linking all of it", 3, 10));
  CHECK(shows("xx… (3/10: linking all of it) — 0.1s"));
  s.on(call("c2", "bash", "Running: " + std::string(60, 'y'), "{}"));
  CHECK(shows("2 tools — 0.2s\n"));
  CHECK(shows("\n  Running: " + std::string(21, 'x') +
              "… (3/10: linking all of it)\n"));
  CHECK(shows("\n  Running: " + std::string(47, 'y') + "…\n"));
  // Where there is no room the one that works longest is told.
  s.rows = 4;
  CHECK(shows("Running: " + std::string(29, 'x') + "… and 1 more — 0.5s"));
}

TEST_CASE("statistics tell cost, tools and retries") {
  auto options = on_terminal();
  options.stats = true;
  live_stage s{options};
  s.on(result("c1", "read", 100, ""));
  auto failed = result("c2", "bash", 2000, "");
  failed.how = outcome::failed;
  s.on(failed);
  s.on(events::retry{});
  s.on(events::step_restarted{});
  events::run_finished end;
  end.duration_ms = 3000;
  end.steps = 2;
  end.tool_calls = 2;
  end.usage.input_tokens = 10;
  end.usage.output_tokens = 5;
  end.usage.cached_tokens = 8;
  end.usage.cost_usd = 0.0123;
  s.on(end);
  s.err.clear();
  s.write(s.view.finish(std::nullopt));
  CHECK(s.err ==
        "[STATS] completed: 2 steps, 2 tool calls — 3.0s\n"
        "[STATS] tokens: 10 in (8 cached), 5 out; cost: $0.0123\n"
        "[STATS] tools 2.1s: bash 1 call 2.0s (1 not ok), read 1 call 0.1s\n"
        "[STATS] 1 retry, 1 of model, 1 step restart\n");
}

TEST_CASE("a call that is being written is told, also behind an open line") {
  live_stage s{on_terminal(), 80};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"I write it down:", 1});
  s.tick(1s);
  CHECK(s.picture.text().find("the model writes") != std::string::npos);
  s.on(events::status{writes});
  s.tick(2s);
  CHECK(s.picture.text().find("I write it down:\n") != std::string::npos);
  // One number, which is that of the call.
  CHECK_THAT(s.picture.text(),
             Catch::Matchers::Contains(std::string{writes} + " — 2.0s\n"));
  // What the events themselves say is said better here.
  s.on(events::status{"the model writes"});
  s.tick(3s);
  CHECK(s.picture.text().find(writes) != std::string::npos);
  s.on(call("call_1", "write", "Writing a", R"({"path":"a"})"));
  s.tick(4s);
  CHECK(s.picture.text().find(writes) == std::string::npos);
  CHECK(s.picture.text().find("Writing a") != std::string::npos);
}

TEST_CASE("beside a question the tools that work are told, on one line") {
  live_stage s{on_terminal()};
  s.on(events::step_start{1, 30});
  s.tick(100ms);
  CHECK(s.view.beside_question(s.now, 0, 80).empty());
  s.on(call("call_1", "ask", "Looking up alpha", "{}"));
  s.on(call("call_2", "ask", "Looking up beta", "{}"));
  s.on(progress("call_1", "page", 2, 6));
  s.at(3300ms);
  CHECK(s.view.beside_question(s.now, 0, 80)
            .ends_with(" 2 tools: Looking up alpha (2/6: page) · Looking up "
                       "beta — 3.2s"));
  for (const std::size_t columns : {20, 40, 60, 200})
    CHECK(columns_of(s.view.beside_question(s.now, 0, columns)) <= columns);
  s.on(result("call_1", "ask", 3000, "{}"));
  s.on(result("call_2", "ask", 3000, "{}"));
  CHECK(s.view.beside_question(s.now, 0, 80).empty());
}

TEST_CASE("a model that stops in the middle of its text is told of") {
  live_stage s{on_terminal()};
  s.on(events::step_start{1, 30});
  s.on(events::llm_token{"One. ", 1});
  s.tick(9s);
  CHECK(s.picture.text().find("the model writes — 9.0s") != std::string::npos);
  s.tick(12s);
  CHECK(s.picture.text().find("the model writes, nothing for 12.0s — 12.0s") !=
        std::string::npos);
  s.on(events::llm_token{"Two. ", 1});
  s.tick(13s);
  CHECK(s.picture.text().find("nothing for") == std::string::npos);
}
