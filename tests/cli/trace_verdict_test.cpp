// SPDX-License-Identifier: MIT
// What a line says of a decision, and of a call that waits for one.
#include "runtime/cli/view/trace_writer.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

struct lines_of {
  explicit lines_of(verbosity level = verbosity::normal)
      : traces{{level, false, true, true}} {}

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
  CHECK(on(resolved) == "[APPROVAL] bash " + command + ": approved by user\n");
  on.traces.set_columns(60);
  on(wanted);
  const auto narrow = on(resolved);
  CHECK(narrow.size() <= 62);  // "…" has three bytes
  CHECK(narrow.ends_with("…: approved by user\n"));
  on(wanted);
  resolved.arguments = R"({"command":"ls"})";
  CHECK(on(resolved) == "[APPROVAL] bash ls: approved by user, as changed\n");
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
  on.traces.approved_here(wanted.proposal);
  CHECK(on(resolved).empty());
  // Another one, which somebody else approved.
  wanted.proposal = resolved.proposal = {"prop_2"};
  on(wanted);
  CHECK(on(resolved) == "[APPROVAL] bash ls: approved by user\n");
  // Here, and yet somebody else had said no before.
  wanted.proposal = resolved.proposal = {"prop_3"};
  on(wanted);
  on.traces.approved_here(wanted.proposal);
  resolved.how = events::proposal_outcome::denied;
  CHECK(on(resolved) == "[APPROVAL] bash ls: denied by user\n");
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
  on.traces.stands_asked(wanted.proposal);
  CHECK(on(resolved) == "[APPROVAL] bash: approved by user\n");
  CHECK(on(call).empty());
  // What was not asked about is told.
  CHECK(on(call) == whole);
  // Nobody has seen these arguments in a question.
  on(wanted);
  on.traces.stands_asked(wanted.proposal);
  resolved.arguments = R"({"command":"touch b"})";
  CHECK(on(resolved) ==
        "[APPROVAL] bash touch b: approved by user, as changed\n");
  CHECK(on(call) == whole);
  // The question stood in another terminal.
  resolved.arguments.clear();
  on(wanted);
  CHECK(on(resolved) == "[APPROVAL] bash touch a: approved by user\n");
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
    on.traces.stands_asked(wanted.proposal);
    on(resolved);
    CHECK(on(call).empty());
    CHECK(on(result) == end);
  }
  SECTION("nor what the person has written there") {
    resolved.arguments = R"({"path":"a","content":"y"})";
    call.arguments = resolved.arguments;
    on(wanted);
    on.traces.stands_asked(wanted.proposal);
    on.traces.approved_here(wanted.proposal);
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
    on.traces.stands_asked(wanted.proposal);
    CHECK(on(resolved) == "[APPROVAL] write: denied by user\n");
    CHECK(on(call).empty());
    CHECK(on(result) == "[TOOL] write: a ✗ denied\n");
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
