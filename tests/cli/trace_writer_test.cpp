// SPDX-License-Identifier: MIT
#include "runtime/cli/view/trace_writer.hpp"

#include "runtime/cli/view/task_view.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

constexpr std::int64_t second = 1'000'000;

/// Feeds events of one run; `seconds` is the time of the event.
struct feed {
  explicit feed(verbosity level = verbosity::normal, bool color = false,
                bool asks = false, bool progress = true)
      : traces{{level, color, progress, asks}} {}

  std::string operator()(events::body body, double seconds = 0) {
    event x;
    x.seq = ++seq;
    x.run = {"run_1"};
    x.body = std::move(body);
    x.at = {static_cast<std::int64_t>(seconds * second)};
    return traces.on(x);
  }

  trace_writer traces;
  std::uint64_t seq = 0;
};

events::tool_call call(const std::string& tool, const std::string& arguments,
                       const std::string& id = "call_1") {
  events::tool_call x;
  x.id = {id};
  x.tool = tool;
  x.title = "Doing it";
  x.arguments = arguments;
  return x;
}

events::tool_result result(outcome how, std::uint64_t ms,
                           const std::string& metadata = {},
                           const std::string& message = {}) {
  events::tool_result x;
  x.id = {"call_1"};
  x.tool = "any";
  x.how = how;
  x.duration_ms = ms;
  x.attempts = 1;
  x.metadata = metadata;
  if (!message.empty()) {
    x.err = error{errc::tool_execution_error, "tool", message, false, {}};
  }
  return x;
}

events::tool_progress progress(const std::string& message) {
  events::tool_progress x;
  x.id = {"call_1"};
  x.report.message = message;
  return x;
}

}  // namespace

TEST_CASE("a read is one line when it is done") {
  feed on;
  CHECK(on(call("read", R"({"path":"README.md"})")).empty());
  CHECK(on(result(outcome::ok, 103, R"({"lines":42,"bytes":1331})")) ==
        "[TOOL] read: README.md (42 lines, 1.3 KB) — 0.1s\n");
}

TEST_CASE("a call on a node names it") {
  feed on;
  auto there = call("read", R"({"path":"README.md"})");
  there.node = "gpu-1";
  on(there);
  CHECK(on(result(outcome::ok, 103, R"({"lines":42,"bytes":1331})")) ==
        "[TOOL] read@gpu-1: README.md (42 lines, 1.3 KB) — 0.1s\n");
}

TEST_CASE("the node that did the work is named, not the one that died") {
  feed on;
  auto there = call("read", R"({"path":"README.md"})");
  there.node = "gpu-1";
  on(there);
  events::retry again;
  again.what = events::retry_what::tool;
  again.id = {"call_1"};
  again.attempt = 1;
  again.max_attempts = 2;
  again.reason = "the node gpu-1 is lost";
  CHECK(on(again) ==
        "[RETRY] tool read: README.md: attempt 1 of 2 failed: the node gpu-1 "
        "is lost; again in 0.0s\n");
  CHECK(on(progress("half"), 1) == "[TOOL] read: README.md (half)\n");
  CHECK(on(result(outcome::ok, 103, R"({"lines":42,"node":"gpu-2"})")) ==
        "[TOOL] read@gpu-2: README.md (42 lines) — 0.1s\n");
}

TEST_CASE("a tool's own word of a node is no place") {
  feed on;
  on(call("ask", R"({"path":"x"})"));
  CHECK(on(result(outcome::ok, 103, R"({"node":"gpu-2"})")) ==
        "[TOOL] ask: x — 0.1s\n");
}

TEST_CASE("matches are counted") {
  feed on;
  on(call("glob", R"({"pattern":"**/*.rs"})"));
  CHECK(on(result(outcome::ok, 200, R"({"matches":45})")) ==
        "[TOOL] glob: **/*.rs → 45 matches — 0.2s\n");
  on(call("glob", R"({"pattern":"x"})"));
  CHECK(on(result(outcome::ok, 0, R"({"matches":1})")) ==
        "[TOOL] glob: x → 1 match — 0.0s\n");
  on(call("grep", R"({"path":"src","pattern":"a b"})"));
  CHECK(on(result(outcome::ok, 0, R"({"files":2,"matches":3})")) ==
        "[TOOL] grep: a b → 3 matches — 0.0s\n");
}

TEST_CASE("changed lines are counted") {
  feed on;
  on(call("edit", R"({"path":"a.cpp","old_string":"x","new_string":"y"})"));
  CHECK(
      on(result(outcome::ok, 0, R"({"added":3,"removed":1,"path":"a.cpp"})")) ==
      "[TOOL] edit: a.cpp (+3 -1) — 0.0s\n");
}

TEST_CASE("a failure says why") {
  feed on;
  on(call("bash", R"({"command":"make test"})"));
  CHECK(on(result(outcome::failed, 3210, R"({"exit_code":2,"lines":14})",
                  "exit status 2")) ==
        "[TOOL] bash: make test (exit 2, 14 lines) — 3.2s\n");
  on(call("x", "{}"));
  CHECK(on(result(outcome::failed, 100, {}, "no such file")) ==
        "[TOOL] x: Doing it ✗ no such file — 0.1s\n");
  on(call("bash", R"({"command":"sleep 9"})"));
  CHECK(on(result(outcome::timed_out, 2000, {}, "over 2s")) ==
        "[TOOL] bash: sleep 9 ✗ timed out: over 2s — 2.0s\n");
  on(call("bash", R"({"command":"sleep 9"})"));
  CHECK(on(result(outcome::interrupted, 10)) ==
        "[TOOL] bash: sleep 9 ✗ interrupted\n");
}

TEST_CASE("a call that never began has no duration") {
  feed on;
  auto x = call("bash", R"({"command":"rm -r x"})");
  x.status = events::call_status::not_started;
  on(x);
  auto r = result(outcome::denied, 0, {}, "nobody could be asked");
  r.attempts = 0;
  CHECK(on(r) == "[TOOL] bash: rm -r x ✗ denied: nobody could be asked\n");
}

TEST_CASE("without a telling argument the title is shown") {
  feed on;
  on(call("odd", R"({"n":1})"));
  CHECK(on(result(outcome::ok, 50)) == "[TOOL] odd: Doing it — 0.1s\n");
  auto broken = call("odd", "");
  broken.title.clear();
  broken.arguments_text = "{\"n\":";
  on(broken);
  CHECK(on(result(outcome::skipped, 0)) ==
        "[TOOL] odd: {\"n\": ✗ skipped — 0.0s\n");
}

TEST_CASE("of a long command the first line is shown") {
  feed on;
  on(call("bash",
          R"({"command":"\n for i in 1 \u001b[31m2\ndo\n  true\ndone\n"})"));
  CHECK(on(result(outcome::ok, 0)) ==
        "[TOOL] bash: for i in 1 ^[[31m2 … — 0.0s\n");
  on(call("bash", R"({"command":" make\n"})"));
  CHECK(on(result(outcome::ok, 0)) == "[TOOL] bash: make — 0.0s\n");
  on(call("bash", "{\"command\":\"" + std::string(100, 'x') + "\"}"));
  CHECK(on(result(outcome::ok, 0)) ==
        "[TOOL] bash: " + std::string(71, 'x') + "… — 0.0s\n");
}

TEST_CASE("progress is shown at most twice a second, the newest line") {
  feed on;
  on(call("bash", R"({"command":"make"})"), 10);
  CHECK(on(progress("one\n"), 10.4).empty());
  CHECK(on(progress("two\nthree\n"), 10.5) == "[TOOL] bash: make (three)\n");
  CHECK(on(progress("four"), 10.9).empty());
  CHECK(on(progress("  \n"), 11.2).empty());
  CHECK(on(progress("five\r 50%\r 60%"), 11.3) == "[TOOL] bash: make (60%)\n");
  events::tool_progress x = progress("linking");
  x.report.progress = 3;
  x.report.total = 10;
  CHECK(on(x, 12) == "[TOOL] bash: make (3/10: linking)\n");
  x.report.message.clear();
  x.report.total.reset();
  x.report.progress = 0.25;
  CHECK(on(x, 13) == "[TOOL] bash: make (0.25)\n");
}

TEST_CASE("verbose shows every progress, steps, arguments and output") {
  feed on{verbosity::verbose};
  CHECK(on(events::step_start{2, 30}) == "[STEP] 2 of 30\n");
  CHECK(on(call("bash", R"({"command":"ls"})")) ==
        "[CALL] bash {\"command\":\"ls\"}\n");
  CHECK(on(progress("a"), 0) == "[TOOL] bash: ls (a)\n");
  CHECK(on(progress("b"), 0) == "[TOOL] bash: ls (b)\n");
  auto r = result(outcome::ok, 1);
  r.output = "one\ntwo\x1b[2J\n[TOOL] not a trace";
  CHECK(on(r) ==
        "[TOOL] bash: ls — 0.0s\n"
        "    one\n"
        "    two^[[2J\n"
        "    [TOOL] not a trace\n");
  CHECK(on(events::llm_reasoning{"hm", 2}).empty());
  CHECK(on(events::llm_token{"hm", 2}).empty());
}

TEST_CASE("without -v steps are silent") {
  feed on;
  CHECK(on(events::step_start{1, 30}).empty());
  CHECK(on(events::run_finished{}).empty());
  CHECK(on(events::usage{}).empty());
  CHECK(on(events::status{"thinking"}).empty());
}

TEST_CASE("ids are for those who want to see everything") {
  feed all{verbosity::verbose};
  events::run_started x;
  x.session = {"ses_9"};
  CHECK(all(x) == "[RUN] run_1, session ses_9\n");
  feed on;
  CHECK(on(x).empty());
}

TEST_CASE("restarts, retries and approvals are told") {
  feed on;
  CHECK(on(events::step_restarted{3, 2, "the stream was cut", 5, 9}) ==
        "[STEP] 3 starts again (attempt 2): the stream was cut\n");
  events::retry again;
  again.attempt = 1;
  again.max_attempts = 3;
  again.delay_ms = 1200;
  again.reason = "429";
  CHECK(on(again) ==
        "[RETRY] model: attempt 1 of 3 failed: 429; again in "
        "1.2s\n");
  again.attempt = 2;
  CHECK(on(again) ==
        "[RETRY] model: attempt 2 of 3 failed the same way; again in 1.2s\n");
  again.reason = "503";
  CHECK(on(again) ==
        "[RETRY] model: attempt 2 of 3 failed: 503; again in 1.2s\n");
  again.reason = "HTTP 429: slow down";
  CHECK(on(again) ==
        "[RETRY] model: attempt 2 of 3 was refused: HTTP 429: slow down; again "
        "in 1.2s\n");
  again.attempt = 1;
  again.reason = "429";
  on(call("bash", R"({"command":"ls"})"));
  again.what = events::retry_what::tool;
  again.id = call_id{"call_1"};
  CHECK(on(again) ==
        "[RETRY] tool bash: ls: attempt 1 of 3 failed: 429; "
        "again in 1.2s\n");
  events::approval_required wanted;
  wanted.tool = "bash";
  wanted.title = "Running ls";
  wanted.reason = "approval is \"ask\"";
  CHECK(on(wanted).empty());
  CHECK(on.traces.rest() ==
        "[APPROVAL] wanted for bash: Running ls (approval is \"ask\")\n");
  CHECK(on.traces.rest().empty());
  events::approval_resolved resolved;
  resolved.by = "policy";
  resolved.reason = "no terminal";
  CHECK(on(resolved) == "[TOOL] bash: Running ls ✗ denied: no terminal\n");
}

TEST_CASE("what came of a question names the call, also without its line") {
  feed on{verbosity::normal, false, true};
  events::approval_required wanted;
  wanted.proposal = proposal_id{"prop_1"};
  wanted.tool = "write";
  wanted.title = "Writing notes.md";
  wanted.arguments = R"({"content":"x","path":"notes\u001b.md"})";
  CHECK(on(wanted).empty());
  events::approval_resolved resolved;
  resolved.how = events::proposal_outcome::approved;
  resolved.proposal = wanted.proposal;
  resolved.by = "user";
  CHECK(on(resolved) == "[APPROVAL] write notes^[.md: approved elsewhere\n");
  // Of a question that was not seen nothing more is known.
  CHECK(on(resolved) == "[APPROVAL] approved elsewhere\n");
}

TEST_CASE("why a call was denied is said once") {
  feed on;
  on(call("bash", R"({"command":"ls"})"));
  events::approval_resolved no;
  no.id = call_id{"call_1"};
  no.by = "policy";
  no.reason = "nobody was there";
  // Of a question that was not seen its end says it.
  CHECK(on(no).empty());
  CHECK(on(result(outcome::denied, 0, {}, "nobody was there")) ==
        "[TOOL] bash: ls ✗ denied: nobody was there — 0.0s\n");
  // Of a rule nothing was said before.
  on(call("bash", R"({"command":"ls"})"));
  CHECK(on(result(outcome::denied, 0, {}, "a rule")) ==
        "[TOOL] bash: ls ✗ denied: a rule — 0.0s\n");
  on(call("bash", R"({"command":"ls"})"));
  CHECK(on(result(outcome::denied, 0, {}, "denied by user")) ==
        "[TOOL] bash: ls ✗ denied by user — 0.0s\n");
}

TEST_CASE("who approves everything hears nothing of each") {
  events::approval_required wanted;
  wanted.proposal = proposal_id{"prop_1"};
  wanted.tool = "bash";
  wanted.title = "Running ls";
  events::approval_resolved yes;
  yes.proposal = wanted.proposal;
  yes.how = events::proposal_outcome::approved;
  yes.by = "--approve all";
  feed on;
  CHECK(on(wanted).empty());
  CHECK(on(yes).empty());
  CHECK(on.traces.rest().empty());
  feed all{verbosity::verbose};
  CHECK((all(wanted) + all(yes)).empty());
  // Something else comes first: it waits for somebody.
  CHECK(on(wanted).empty());
  CHECK(on(events::failure{}).starts_with("[APPROVAL] wanted for bash"));
}

TEST_CASE("what is going on is told to who wants all of it") {
  feed on;
  CHECK(on(events::status{"room is made"}).empty());
  // Who answers is not only for who wants all.
  CHECK(on(events::status{"model a/b does not answer (busy\x1b): c is asked "
                          "instead"})
            .starts_with("[MODEL] a/b does not answer (busy"));
  feed all{verbosity::verbose};
  CHECK(all(events::status{"room is made"}) == "[STATUS] room is made\n");
}

TEST_CASE("what a status line tells has no line of its own") {
  feed on{verbosity::verbose, false, false, false};
  for (const auto* text : {"the model writes", "writing a.py … 1.2k tokens",
                           "waiting for approval of 1 call"})
    CHECK(on(events::status{text}).empty());
  CHECK(on(events::status{"phase: look"}) == "[STATUS] phase: look\n");
  on(call("bash", R"({"command":"ls"})"));
  CHECK(on(events::status{"Running: ls"}).empty());
}

TEST_CASE("how far a call is stands in a log, unless a status line says it") {
  const auto says = [](verbosity level, bool status) {
    task_view one{{.level = level, .status = status}};
    event x;
    x.body = call("bash", R"({"command":"ls"})");
    one.on(x, 0);
    x.body = progress("4 of 8");
    x.at = {second};
    return !one.on(x, 0).traces.empty();
  };
  CHECK(says(verbosity::normal, false));
  CHECK_FALSE(says(verbosity::normal, true));
  CHECK(says(verbosity::verbose, false));
  CHECK_FALSE(says(verbosity::verbose, true));
}

TEST_CASE("quiet shows errors and nothing else") {
  feed on{verbosity::quiet};
  CHECK(on(events::run_started{}).empty());
  CHECK(on(call("bash", "{}")).empty());
  CHECK(on(result(outcome::failed, 1, {}, "bad")).empty());
  events::failure x;
  x.err = {
      errc::model_unreachable, "model", "nobody listens on port 1", true, {}};
  CHECK(on(x) == "[ERROR] nobody listens on port 1 (model_unreachable)\n");
}

TEST_CASE("colours mark the tag, the tool's name and what failed") {
  feed on{verbosity::normal, true};
  on(call("read", R"({"path":"a"})"));
  CHECK(on(result(outcome::ok, 0)) ==
        "\x1b[2m[TOOL]\x1b[0m \x1b[1mread\x1b[0m: a — 0.0s\n");
  on(call("read", R"({"path":"a"})"));
  CHECK(on(result(outcome::failed, 0, {}, "no")) ==
        "\x1b[31m[TOOL]\x1b[0m \x1b[1mread\x1b[0m: a\x1b[31m ✗ no\x1b[0m — "
        "0.0s\n");
}

TEST_CASE("a result without its call is still shown") {
  feed on;
  CHECK(on(result(outcome::ok, 0)) == "[TOOL] call_1 — 0.0s\n");
  CHECK(on(progress("x"), 5).empty());
}
