// SPDX-License-Identifier: MIT
// What a line says of a decision, and of a call that waits for one.
#include "actors/tools/proposal_texts.hpp"
#include "runtime/cli/view/trace_writer.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

struct lines_of {
  explicit lines_of(verbosity level = verbosity::normal, wall_time since = {})
      : traces{{.level = level, .asks = true, .since = since}} {}

  std::string operator()(events::body body) {
    event x;
    x.seq = ++seq;
    x.run = {"run_1"};
    x.body = std::move(body);
    return traces.on(x);
  }

  trace_writer traces;
  std::uint64_t seq = 0;
};

}  // namespace

TEST_CASE("a verdict names what runs, in the room that there is") {
  const std::string command(100, 'x');
  events::approval_required wanted;
  wanted.proposal = {"prop_1"};
  wanted.id = {"call_1"};
  wanted.tool = "bash";
  wanted.arguments = R"({"command":")" + command + R"("})";
  events::approval_resolved resolved;
  resolved.how = events::proposal_outcome::approved;
  resolved.proposal = wanted.proposal;
  resolved.id = wanted.id;
  resolved.by = "user";
  lines_of on;
  on.traces.set_columns(200);
  on(wanted);
  CHECK(on(resolved) ==
        "[APPROVAL] bash " + command + ": approved elsewhere\n");
  on.traces.set_columns(60);
  on(wanted);
  const auto narrow = on(resolved);
  CHECK(narrow.size() <= 62);  // "…" has three bytes
  CHECK(narrow.ends_with("…: approved elsewhere\n"));
  on(wanted);
  resolved.arguments = R"({"command":"ls"})";
  CHECK(on(resolved) == "[APPROVAL] bash ls: approved elsewhere, as changed\n");
}

TEST_CASE("of what was approved here the line of its call says enough") {
  events::approval_required wanted;
  wanted.proposal = {"prop_1"};
  wanted.id = {"call_1"};
  wanted.tool = "bash";
  wanted.arguments = R"({"command":"ls"})";
  events::approval_resolved resolved;
  resolved.how = events::proposal_outcome::approved;
  resolved.proposal = wanted.proposal;
  resolved.id = wanted.id;
  resolved.by = "user";
  lines_of on;
  on(wanted);
  on.traces.decided_here(wanted.proposal);
  CHECK(on(resolved).empty());
  // Another one, which somebody else approved.
  wanted.proposal = resolved.proposal = {"prop_2"};
  on(wanted);
  CHECK(on(resolved) == "[APPROVAL] bash ls: approved elsewhere\n");
  wanted.proposal = resolved.proposal = {"prop_3"};
  on(wanted);
  on.traces.decided_here(wanted.proposal);
  resolved.how = events::proposal_outcome::denied;
  CHECK(on(resolved) == "[TOOL] bash: ls ✗ denied: you said no\n");
}

TEST_CASE("a no from elsewhere is not put into this person's mouth") {
  events::approval_required wanted;
  wanted.proposal = {"prop_1"};
  wanted.id = {"call_1"};
  wanted.tool = "bash";
  wanted.arguments = R"({"command":"ls"})";
  events::approval_resolved resolved;
  resolved.how = events::proposal_outcome::denied;
  resolved.proposal = wanted.proposal;
  resolved.id = wanted.id;
  const auto says = [&](const char* by, const char* reason) {
    lines_of on;
    resolved.by = by;
    resolved.reason = reason;
    on(wanted);
    return on(resolved);
  };
  CHECK(says("user", "") == "[TOOL] bash: ls ✗ denied elsewhere\n");
  CHECK(says("user", "use a copy") ==
        "[TOOL] bash: ls ✗ denied elsewhere: use a copy\n");
  CHECK(says("http:ann", "not today") ==
        "[TOOL] bash: ls ✗ denied: ann said no over HTTP: not today\n");
}

TEST_CASE("what was decided before a run was resumed is told as one's own") {
  events::approval_required wanted;
  wanted.proposal = {"prop_1"};
  wanted.id = {"call_1"};
  wanted.tool = "bash";
  wanted.arguments = R"({"command":"ls"})";
  events::approval_resolved resolved;
  resolved.how = GENERATE(events::proposal_outcome::approved,
                          events::proposal_outcome::denied);
  resolved.proposal = wanted.proposal;
  resolved.id = wanted.id;
  resolved.by = "user";
  const bool approved = resolved.how == events::proposal_outcome::approved;
  lines_of on{verbosity::normal, {1}};  // all that is told here is older
  on(wanted);
  CHECK(on(resolved) ==
        (approved ? "" : "[TOOL] bash: ls ✗ denied: you said no\n"));
  lines_of all{verbosity::verbose, {1}};
  all(wanted);
  CHECK(all(resolved).ends_with(
      approved ? "[APPROVAL] bash ls: approved by user\n"
               : "[TOOL] bash: ls ✗ denied: you said no\n"));
  // By somebody else: that is said in any run.
  resolved.by = "ann";
  on(wanted);
  CHECK(on(resolved) == (approved ? "[APPROVAL] bash ls: approved by ann\n"
                                  : "[TOOL] bash: ls ✗ denied: ann said no\n"));
}

TEST_CASE("below its question an answer repeats nothing of it") {
  lines_of on{verbosity::verbose};
  events::approval_required wanted;
  wanted.proposal = {"prop_1"};
  wanted.id = {"call_1"};
  wanted.tool = "bash";
  wanted.arguments = R"({"command":"touch a"})";
  events::approval_resolved resolved;
  resolved.how = events::proposal_outcome::approved;
  resolved.proposal = wanted.proposal;
  resolved.id = wanted.id;
  resolved.by = "user";
  events::tool_call call;
  call.id = wanted.id;
  call.tool = "bash";
  call.arguments = wanted.arguments;
  const auto whole = "[CALL] bash {\"command\":\"touch a\"}\n";
  on(wanted);
  on.traces.stands_asked(wanted.proposal, {});
  CHECK(on(resolved) == "[APPROVAL] bash: approved elsewhere\n");
  CHECK(on(call).empty());
  // What was not asked about is told.
  CHECK(on(call) == whole);
  // Nobody has seen these arguments in a question.
  on(wanted);
  on.traces.stands_asked(wanted.proposal, {});
  resolved.arguments = R"({"command":"touch b"})";
  CHECK(on(resolved) ==
        "[APPROVAL] bash touch b: approved elsewhere, as changed\n");
  CHECK(on(call) == whole);
  // The question stood in another terminal.
  resolved.arguments.clear();
  on(wanted);
  CHECK(on(resolved) == "[APPROVAL] bash touch a: approved elsewhere\n");
  CHECK(on(call) == whole);
}

TEST_CASE("what its question has shown stands below it no second time") {
  lines_of on{verbosity::verbose};
  events::approval_required wanted;
  wanted.proposal = {"prop_1"};
  wanted.id = {"call_1"};
  wanted.tool = "write";
  wanted.arguments = R"({"path":"a","content":"x"})";
  events::approval_resolved resolved;
  resolved.how = events::proposal_outcome::approved;
  resolved.proposal = wanted.proposal;
  resolved.id = wanted.id;
  resolved.by = "user";
  events::tool_call call;
  call.id = wanted.id;
  call.tool = "write";
  call.arguments = wanted.arguments;
  events::tool_result result;
  result.id = call.id;
  result.tool = call.tool;
  result.how = outcome::ok;
  result.attempts = 1;
  result.metadata = R"({"added":1,"removed":0,"diff":"+x\n"})";
  const std::string whole = "[CALL] write {\"path\":\"a\",\"content\":\"x\"}\n";
  const std::string end = "[TOOL] write: a (+1 -0) — 0.0s\n";
  SECTION("a change that was approved") {
    on(wanted);
    on.traces.stands_asked(wanted.proposal, {});
    on.traces.decided_here(wanted.proposal);
    CHECK(on(resolved).empty());
    CHECK(on(call).empty());
    CHECK(on(result) == end);
  }
  SECTION("nor what the person has written there") {
    resolved.arguments = R"({"path":"a","content":"y"})";
    call.arguments = resolved.arguments;
    on(wanted);
    on.traces.stands_asked(wanted.proposal, {});
    on.traces.decided_here(wanted.proposal);
    on(resolved);
    CHECK(on(call).empty());
    CHECK(on(result) == end);
  }
  SECTION("nor what was denied there") {
    resolved.how = events::proposal_outcome::denied;
    call.status = events::call_status::not_started;
    result.how = outcome::denied;
    result.attempts = 0;
    on(wanted);
    on.traces.stands_asked(wanted.proposal, {});
    on.traces.decided_here(wanted.proposal);
    CHECK(on(resolved) == "[TOOL] write: a ✗ denied: you said no\n");
    CHECK(on(call).empty());
    CHECK(on(result).empty());
  }
  SECTION("but what it had no room for") {
    on(wanted);
    on.traces.stands_asked(wanted.proposal, "+y\n+z\n");
    CHECK(on(resolved) ==
          "[APPROVAL] write: approved elsewhere\n"
          "    … what the question had no room for:\n    +y\n    +z\n");
    CHECK(on(call).empty());
    CHECK(on(result) == end);
    lines_of few;
    few(wanted);
    few.traces.stands_asked(wanted.proposal, "+y\n");
    CHECK(few(resolved) == "[APPROVAL] write: approved elsewhere\n");
  }
  SECTION("what nobody was asked about is told") {
    CHECK(on(call) == whole);
    CHECK(on(result) == end + "    +x\n");
  }
}

TEST_CASE("a call that waits for approval behind its run is no failure") {
  lines_of on;
  events::tool_call call;
  call.id = {"call_1"};
  call.tool = "write";
  call.arguments = R"({"path":"a1.txt"})";
  on(call);
  events::tool_result result;
  result.id = {"call_1"};
  result.tool = "write";
  result.how = outcome::denied;
  result.err = error{errc::approval_denied, "test",
                     "needs approval, proposal prop_1: it was not executed "
                     "and waits for a person's decision"};
  CHECK(on(result) == "[TOOL] write: a1.txt waits for approval\n");
}

TEST_CASE("-v of what /approve all approves tells what was not seen alone") {
  lines_of on{verbosity::verbose};
  events::approval_required wanted;
  wanted.proposal = {"prop_1"};
  wanted.id = {"call_1"};
  wanted.tool = "write";
  events::approval_resolved yes;
  yes.how = events::proposal_outcome::approved;
  yes.proposal = wanted.proposal;
  yes.id = wanted.id;
  yes.by = "/approve all";
  on(wanted);
  CHECK(on(yes).empty());
  on(wanted);
  on.traces.stands_asked(wanted.proposal, "+y\n");
  CHECK(on(yes) == "    … what the question had no room for:\n    +y\n");
}

TEST_CASE("however a call is denied, one line of one shape says why") {
  const auto* const by_whom = GENERATE("question", "result");
  const bool asked = by_whom == std::string_view{"question"};
  const auto says = [&](const std::string& by, const std::string& why,
                        events::proposal_outcome how =
                            events::proposal_outcome::denied) {
    std::string both;
    for (const auto level : {verbosity::normal, verbosity::verbose}) {
      lines_of on{level};
      events::approval_required wanted;
      wanted.proposal = {"prop_1"};
      wanted.id = {"call_1"};
      wanted.tool = "bash";
      wanted.arguments = R"({"command":"rm x"})";
      storage::decision_record decided;
      decided.how = how;
      decided.by = by;
      decided.reason = why;
      std::string all;
      if (asked) {
        on(wanted);
        on.traces.decided_here(wanted.proposal);
        all += on(events::approval_resolved{
            wanted.proposal, wanted.id, how, by, why, {}});
      }
      events::tool_call call;
      call.id = wanted.id;
      call.tool = wanted.tool;
      call.arguments = wanted.arguments;
      call.status = events::call_status::not_started;
      all += on(call);
      events::tool_result end;
      end.id = call.id;
      end.tool = call.tool;
      end.how = outcome::denied;
      end.err = error{how == events::proposal_outcome::expired
                          ? errc::approval_expired
                          : errc::approval_denied,
                      "test", denial_text(decided)};
      end.output = end.err->message;
      all += on(end);
      const std::string command = "[CALL] bash {\"command\":\"rm x\"}\n";
      CAPTURE(by, why, all);
      const bool verbose = level == verbosity::verbose;
      CHECK(all.starts_with(verbose ? command : ""));
      if (verbose) all.erase(0, command.size());
      if (verbose) CHECK(all == both);
      both = all;
    }
    const std::string begin = "[TOOL] bash: rm x ✗ denied: ";
    REQUIRE(both.starts_with(begin));
    return both.substr(begin.size());
  };
  CHECK(says("user", "") == "you said no\n");
  CHECK(says("user", "use a copy") == "you said no: use a copy\n");
  CHECK(says("ann", "not today") == "ann said no: not today\n");
  CHECK(says("policy", nobody_there) == "nobody is there to decide\n");
  CHECK(says("policy", not_allowed) == "this run approves no calls\n");
  CHECK(says("/approve none", not_allowed) == "this run approves no calls\n");
  CHECK(says("policy", kept_back_by_rule("bash", "rm *")) ==
        "rule `rm *` of tools.bash\n");
  CHECK(says("policy", kept_back_by_rule("bash")) ==
        "the configuration does not allow it\n");
  CHECK(says("/approve all", kept_back_in_doubt("bash", "rm *")) ==
        "rule `rm *` of tools.bash may forbid it\n");
  CHECK(says("riffle", expired, events::proposal_outcome::expired) ==
        "nobody decided in time\n");
}

TEST_CASE("a question that is outdated is told where none takes its place") {
  for (const bool asks : {true, false}) {
    trace_writer traces{{verbosity::normal, false, true, asks}};
    event x;
    events::approval_required wanted;
    wanted.proposal = {"prop_1"};
    wanted.id = {"call_1"};
    wanted.tool = "write";
    wanted.arguments = R"({"path":"a"})";
    x.body = wanted;
    traces.on(x);
    x.body = events::approval_resolved{
        wanted.proposal, wanted.id,    events::proposal_outcome::cancelled,
        "riffle",        stale_reason, {}};
    CHECK(traces.on(x).empty());
    const std::string outdated =
        "[TOOL] write: a ✗ denied: it changed since it was shown; it is asked "
        "for again\n";
    if (GENERATE(true, false)) {
      wanted.proposal = {"prop_2"};
      wanted.title = "Writing a";
      wanted.reason = "asked again: a has changed since it was shown";
      x.body = wanted;
      CHECK(traces.on(x).empty());
      CHECK(traces.rest() ==
            (asks ? ""
                  : "[APPROVAL] wanted for write: Writing a (asked again: a "
                    "has changed since it was shown)\n"));
      continue;
    }
    // Then it runs.
    events::tool_call call;
    call.id = wanted.id;
    call.tool = wanted.tool;
    call.arguments = wanted.arguments;
    x.body = call;
    CHECK(traces.on(x) == (asks ? "" : outdated));
    events::tool_result end;
    end.id = call.id;
    end.how = outcome::ok;
    end.attempts = 1;
    x.body = end;
    CHECK(traces.on(x) == "[TOOL] write: a — 0.0s\n");
  }
}
