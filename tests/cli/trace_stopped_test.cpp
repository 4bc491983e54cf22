// SPDX-License-Identifier: MIT
// What a person is told of a run that somebody stopped elsewhere, or said
// something to, or that was resumed, and of calls that were not written to
// their end.
#include "actors/end_reason.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "tests/cli/told_run.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

TEST_CASE("a run that was stopped from another terminal says so, and no more") {
  for (const auto level : {verbosity::normal, verbosity::verbose}) {
    told_run on{level};
    events::approval_required asked;
    asked.proposal = {"prop_1"};
    asked.id = {"call_1"};
    asked.tool = "write";
    asked.arguments = R"({"path":"a.txt"})";
    on(asked);
    CHECK(on(events::approval_resolved{asked.proposal,
                                       asked.id,
                                       events::proposal_outcome::cancelled,
                                       "riffle",
                                       "the run needs no decision any more",
                                       {}})
              .empty());
    auto call = made_call("write", asked.arguments);
    call.status = events::call_status::not_started;
    CHECK(on(call).empty());
    auto end = its_end(outcome::cancelled, 0);
    end.attempts = 0;
    end.err = error{errc::cancelled, "dispatch", "the run was cancelled"};
    const bool all = level == verbosity::verbose;
    CHECK(on(end) == (all ? "[TOOL] write: a.txt ✗ not begun\n" : ""));
    events::failure wish;
    wish.err = {
        errc::cancelled, asked_elsewhere, "cancelled by the user", false, {}};
    on(wish);
    events::run_finished over;
    over.status = events::run_status::cancelled;
    over.duration_ms = 1000;
    const auto said = on(over);
    if (!all)
      CHECK(said ==
            "Stopped from another terminal after 1.0s. 1 call was not "
            "begun.\n");
  }
}

TEST_CASE("what a stop kept from its beginning is told as not begun") {
  for (const auto level : {verbosity::normal, verbosity::verbose}) {
    told_run on{level};
    const bool all = level == verbosity::verbose;
    on(made_call("bash", R"({"command":"make"})"));
    auto end = its_end(outcome::cancelled, 500);
    end.err = error{errc::cancelled, "dispatch",
                    "the run was cancelled; it was not begun"};
    CHECK(on(end) == (all ? "[TOOL] bash: make ✗ not begun\n" : ""));
    on(made_call("bash", R"({"command":"make"})"));
    end.err->message =
        "the run was cancelled; it may have taken effect, check before you "
        "repeat it";
    CHECK(on(end) == "[TOOL] bash: make ✗ stopped after 0.5s\n");
    on(made_call("bash", R"({"command":"make"})"));
    end.err->message = "this call was cancelled by ann; it was not begun";
    CHECK(
        on(end).starts_with("[TOOL] bash: make ✗ cancelled: this call was "
                            "cancelled by ann; it was not begun"));
  }
}

TEST_CASE("a call that was not written to its end is told by its file") {
  told_run on;
  auto call = made_call("write", "");
  call.arguments_text = R"({"path": "big.py", "content": "line_0 = )";
  call.status = events::call_status::not_started;
  on(call);
  auto end = its_end(outcome::skipped, 0);
  end.attempts = 0;
  end.err = error{errc::truncated, "call",
                  "the call was cut off before it was complete; ask for it "
                  "again if it is still needed"};
  CHECK(on(end) == "[TOOL] write: big.py ✗ not finished\n");
}

TEST_CASE("where a run was stopped is told by who asked, not by his words") {
  const auto said = [](const char* op, const std::string& why) {
    told_run on;
    on(events::failure{{errc::cancelled, op, why, false, {}}});
    events::run_finished over;
    over.status = events::run_status::cancelled;
    over.duration_ms = 1000;
    return on(over);
  };
  CHECK(said("run", "cancelled by the user") ==
        "[RUN] cancelled by the user — 1.0s\n");
  CHECK(said(asked_elsewhere, "the wrong branch") ==
        "Stopped from another terminal after 1.0s: the wrong branch.\n");
}

TEST_CASE("however a person stops a run, it is told in the same words") {
  for (const auto* why : {"stopped by the user", "cancelled by Ctrl-C"}) {
    for (const auto level : {verbosity::normal, verbosity::verbose}) {
      told_run on{level};
      on(events::failure{{errc::cancelled, "run", why, false, {}}});
      events::run_finished over;
      over.status = events::run_status::cancelled;
      over.duration_ms = 1000;
      CHECK(on(over) == (level == verbosity::normal
                             ? "Stopped after 1.0s.\n"
                             : "[RUN] stopped: 0 steps, 0 tool calls, 0 tokens "
                               "in, 0 tokens out — 1.0s\n"));
    }
  }
}

TEST_CASE("whom a signal ends is told so in the shape of a Ctrl-C") {
  for (const auto level : {verbosity::normal, verbosity::verbose}) {
    told_run on{level};
    on(events::failure{
        {errc::cancelled, "run", stop_reason("SIGTERM"), false, {}}});
    events::run_finished over;
    over.status = events::run_status::cancelled;
    over.duration_ms = 1000;
    CHECK(on(over) == (level == verbosity::normal
                           ? "Stopped by SIGTERM after 1.0s.\n"
                           : "[RUN] stopped by SIGTERM: 0 steps, 0 tool "
                             "calls, 0 tokens in, 0 tokens out — 1.0s\n"));
  }
}

TEST_CASE("of a call that never began -v tells its arguments at its end") {
  told_run on{verbosity::verbose};
  auto call = made_call("write", "");
  call.arguments_text = R"({"path": 7})";
  call.status = events::call_status::not_started;
  CHECK(on(call).empty());
  auto end = its_end(outcome::failed, 0);
  end.attempts = 0;
  end.err = error{errc::invalid_arguments, "call", "path is no text"};
  const auto said = on(end);
  CHECK(said.starts_with("[CALL] write {"));
  CHECK(said.find("7}\n[TOOL] write") != said.npos);
  call.id = end.id = {"call_2"};
  call.arguments = R"({"path":"a.txt"})";
  end.how = outcome::denied;
  end.err = error{errc::approval_denied, "call", "a rule denies it"};
  on(call);
  CHECK(on(end).starts_with("[CALL] write {\"path\":\"a.txt\"}\n[TOOL] "));
}

TEST_CASE("who stops something is told so in one wording, by whatever key") {
  CHECK(stop_reason("Ctrl-C") == stopped_by_user);
  CHECK(stop_words(stop_reason("Ctrl-C")) == "Stopped");
  CHECK(stop_words(stop_reason("SIGTERM")) == "Stopped by SIGTERM");
  CHECK(stop_words(stop_reason("SIGHUP")) == "Stopped by SIGHUP");
  CHECK(stop_words("cancelled by SIGTERM") == "Stopped by SIGTERM");
  CHECK(stop_words("stopped by ann").empty());
}

TEST_CASE("of what was asked before a resume only what is open still is told") {
  trace_writer traces{{.asks = false, .since = wall_time{10}}};
  std::int64_t now = 0;
  const auto on = [&](events::body body) {
    event x;
    x.at = wall_time{++now};
    x.body = std::move(body);
    return traces.on(x);
  };
  events::approval_required wanted;
  wanted.tool = "write";
  wanted.title = "Writing a";
  wanted.reason = "it writes";
  wanted.proposal = {"prop_1"};
  CHECK(on(wanted).empty());
  CHECK(on(events::status{"waiting for approval of 1 call"}).empty());
  events::approval_resolved decided;
  decided.proposal = wanted.proposal;
  decided.how = events::proposal_outcome::approved;
  decided.by = "user";
  CHECK(on(decided).empty());
  events::retry again;
  again.what = events::retry_what::step;
  again.attempt = 1;
  again.max_attempts = 3;
  again.reason = "exit 2";
  again.delay_ms = 100;
  CHECK(on(again) == "[RETRY] step: attempt 1 of 3 failed: exit 2\n");
  wanted.proposal = {"prop_2"};
  CHECK(on(wanted).empty());
  CHECK(on(events::status{"waiting for approval of 1 call"}).empty());
  const std::string line =
      "[APPROVAL] wanted for write: Writing a (it writes)\n";
  // Maybe its decision is about to come.
  CHECK(traces.rest().empty());
  now = 20;
  const bool answered = GENERATE(true, false);
  decided.proposal = wanted.proposal;
  decided.by = "--approve all";
  if (answered) CHECK(on(decided).empty());
  CHECK(on(events::step_start{2, 9}) == (answered ? "" : line));
  CHECK(on(events::step_start{3, 9}).empty());
}

TEST_CASE("what a person said meanwhile stands in its lines") {
  told_run on;
  CHECK(on(events::user_message{"use a copy"}) == "[YOU] use a copy\n");
  CHECK(on(events::user_message{"first\n\nthen \x1b[2J"}) ==
        "[YOU] first\n\n      then ^[[2J\n");
  std::string many;
  for (int i = 0; i < 12; ++i) many += "x\n";
  const auto told = on(events::user_message{many});
  CHECK(told.starts_with("[YOU] x\n      x\n"));
  CHECK(told.ends_with("      x\n      … 2 more lines\n"));
}
