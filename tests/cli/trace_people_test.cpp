// SPDX-License-Identifier: MIT
// What a person is told of calls and runs that did not end well: why, once, and
// nothing that is meant for the model.
#include "tests/cli/told_run.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

TEST_CASE("what ends with the run is told in a word, or counted") {
  told_run on;
  const auto ended = [](std::uint32_t attempts) {
    auto x = its_end(outcome::cancelled, 6500);
    x.attempts = attempts;
    x.err = error{errc::cancelled, "dispatch",
                  "the run was cancelled; it may have taken effect, check "
                  "before you repeat it"};
    return x;
  };
  on(made_call("bash", R"({"command":"make"})"));
  CHECK(on(ended(1)) == "[TOOL] bash: make ✗ stopped after 6.5s\n");
  CHECK(on(ended(0)).empty());
  CHECK(on(ended(0)).empty());
  events::failure wish;
  wish.err = {errc::cancelled, "run", "stopped by the user", false, {}};
  on(wish);
  events::run_finished end;
  end.status = events::run_status::cancelled;
  end.duration_ms = 3000;
  CHECK(on(end) == "Stopped after 3.0s. 2 calls were not begun.\n");
}

TEST_CASE("what somebody was asked about when the run ended was not begun") {
  told_run on;
  events::approval_required asked;
  asked.proposal = {"prop_1"};
  asked.id = {"call_1"};
  asked.tool = "bash";
  on(asked);
  CHECK(on(events::approval_resolved{asked.proposal,
                                     asked.id,
                                     events::proposal_outcome::cancelled,
                                     "riffle",
                                     "the run needs no decision any more",
                                     {}})
            .empty());
  auto end = its_end(outcome::cancelled, 0);
  end.attempts = 0;
  end.err = error{errc::cancelled, "dispatch", "the run was cancelled"};
  CHECK(on(end).empty());
  events::failure wish;
  wish.err = {errc::cancelled, "run", "cancelled by Ctrl-C", false, {}};
  on(wish);
  events::run_finished over;
  over.status = events::run_status::cancelled;
  over.duration_ms = 1000;
  CHECK(on(over) == "Stopped after 1.0s. 1 call was not begun.\n");
}

TEST_CASE("who is asked again reads it at once") {
  told_run on;
  events::status x;
  x.text = "you are asked again about Editing f.txt: f.txt has changed";
  CHECK(on(x) == "[APPROVAL] " + x.text + "\n");
}

TEST_CASE("a person reads why a call failed, not what the model is told") {
  const auto line = [](const std::string& message, errc code) {
    told_run on;
    on(made_call("edit", R"({"path":"a.md"})"));
    auto x = its_end(outcome::failed, 0);
    x.err = error{code, "edit", message};
    return on(x);
  };
  const auto says = [&](const std::string& message,
                        errc code = errc::invalid_arguments) {
    const auto text = line(message, code);
    constexpr std::string_view begin = "[TOOL] edit: a.md ✗ ";
    REQUIRE(text.starts_with(begin));
    return text.substr(begin.size(), text.find(" — ") - begin.size());
  };
  CHECK(says("old_string is not in a.md; read the file to see what is there") ==
        "the text to replace was not found");
  CHECK(says("old_string is in a.md 2 times (lines 1, 170); give more text "
             "around it, or set replace_all") ==
        "the text to replace is there 2 times");
  CHECK(says("old_string is in a.md at places that overlap; give more text "
             "around it") == "the text to replace is there more than once");
  const auto wrong = [&](const std::string& why) {
    const auto text = says("the arguments of edit are not valid: " + why);
    return text.substr(text.find("are not valid: ") + 15);
  };
  CHECK(wrong(R"(the key "path" is missing (a string); the key "a; b" is not )"
              R"(known; allowed: limit, path; did you mean "path"?)") ==
        R"("path" is missing, "a; b" is not known)");
  CHECK(wrong(R"(at /limit: must be an integer, but is the string "x; \"y")") ==
        R"("limit" must be an integer)");
  CHECK(wrong(R"(at /edits/0: the key "old" is missing (a string))") ==
        R"("old" is missing in "edits/0")");
  CHECK(wrong("not valid JSON: line 1, column 2: a value is missing") ==
        "they are no JSON");
  CHECK(says("there is no host a.b; check the name in the URL",
             errc::tool_execution_error) == "there is no host a.b");
  CHECK(says("no such file: x; there are: a, b", errc::tool_execution_error) ==
        "no such file: x");
  CHECK(says("one; two", errc::tool_execution_error) == "one; two");
  told_run all{verbosity::verbose};
  auto x = its_end(outcome::failed, 0);
  x.err = error{errc::invalid_arguments, "edit",
                "old_string is not in a.md; read the file"};
  x.output = x.err->message;  // as events have it
  all(made_call("edit", R"({"path":"a.md"})"));
  CHECK(all(x) ==
        "[TOOL] edit: a.md ✗ the text to replace was not found — 0.0s\n");
}

TEST_CASE(
    "where no UTF-8 is shown a name is spelled as its question spelled it") {
  trace_writer traces{{verbosity::normal, false, true, true, true, true}};
  event x;
  auto call = made_call("write", R"({"path":"日.md"})");
  x.body = call;
  traces.on(x);
  events::approval_required asked;
  asked.tool = "write";
  asked.id = call.id;
  asked.proposal = proposal_id{"prop_1"};
  asked.arguments = call.arguments;
  x.body = asked;
  traces.on(x);
  events::approval_resolved yes;
  yes.proposal = asked.proposal;
  yes.how = events::proposal_outcome::approved;
  yes.by = "user";
  x.body = yes;
  CHECK(traces.on(x).find("write \\u{65e5}.md: approved elsewhere") !=
        std::string::npos);
  auto end = its_end(outcome::ok, 100);
  end.tool = "write";
  x.body = end;
  CHECK(traces.on(x).find("write: \\u{65e5}.md") != std::string::npos);
}

TEST_CASE("what was tried in vain is told once") {
  const auto ends_as = [](told_run& on, const std::string& why,
                          std::uint32_t attempts) {
    events::retry again;
    again.what = events::retry_what::model;
    again.max_attempts = attempts;
    again.reason = why;
    for (again.attempt = 1; again.attempt < attempts; ++again.attempt)
      on(again);
    return on(events::failure{{errc::model_unreachable, "m", "no server"}});
  };
  told_run same;
  CHECK(ends_as(same, "no server", 3) ==
        "[ERROR] attempt 3 of 3 failed: no server (model_unreachable)\n");
  told_run other;
  CHECK(ends_as(other, "too slow", 3) ==
        "[ERROR] no server (model_unreachable)\n");
  told_run once;
  CHECK(ends_as(once, "no server", 1) ==
        "[ERROR] no server (model_unreachable)\n");
  told_run verbose{verbosity::verbose};
  CHECK(ends_as(verbose, "no server", 3) ==
        "[ERROR] no server (model_unreachable)\n");
}

TEST_CASE("what was allowed for always is not told at each call") {
  events::approval_resolved yes;
  yes.how = events::proposal_outcome::approved;
  yes.by = "always (user)";
  yes.reason = "always for bash (prop_1)";
  told_run on;
  CHECK(on(yes).empty());
  told_run all{verbosity::verbose};
  CHECK_FALSE(all(yes).empty());
}

TEST_CASE("of a command that failed the last lines are shown") {
  told_run on;
  on(made_call("bash", R"({"command":"make"})"));
  auto x = its_end(outcome::failed, 100);
  x.metadata = R"({"exit_code":2,"lines":7})";
  x.output =
      "1\n2\n3\n4\n5\n\nmain.cpp:3: \x1b[31merror\x1b[2J\nexit status 2\n";
  CHECK(on(x) ==
        "[TOOL] bash: make (exit 2, 7 lines) — 0.1s\n"
        "    2\n    3\n    4\n    5\n    main.cpp:3: error^[[2J\n");
}

TEST_CASE("where the last lines of a command were cut a mark says so") {
  auto x = its_end(outcome::failed, 100);
  x.metadata = R"({"exit_code":2,"lines":7})";
  x.output = "ing b\nerror\n";
  x.truncated = true;
  const auto lines_of = [&x](verbosity level) {
    told_run on{level};
    on(made_call("bash", R"({"command":"make"})"));
    const auto text = on(x);
    return text.substr(text.find('\n') + 1);
  };
  CHECK(lines_of(verbosity::normal) == "    …ing b\n    error\n");
  CHECK(lines_of(verbosity::verbose) ==
        "    … 6 lines before\n    ing b\n    error\n");
  x.metadata = R"({"exit_code":2})";
  CHECK(lines_of(verbosity::verbose) == "    …\n    ing b\n    error\n");
  x.metadata = R"({"exit_code":2,"lines":31})";
  x.output.clear();
  for (int i = 1; i <= 30; ++i) x.output += std::to_string(i) + "\n";
  CHECK(lines_of(verbosity::normal) ==
        "    26\n    27\n    28\n    29\n    30\n");
  const auto all = lines_of(verbosity::verbose);
  CHECK(all.starts_with("    … 2 lines before\n    1\n    2\n"));
  CHECK(all.ends_with("    30\n"));
}

TEST_CASE("of what failed all is shown that was not, to who wants all") {
  told_run on{verbosity::verbose};
  on(made_call("bash", R"({"command":"make"})"));
  events::tool_progress told;
  told.id = {"call_1"};
  told.report.message = "2";
  on(told);
  auto x = its_end(outcome::failed, 100);
  x.metadata = R"({"exit_code":2,"lines":40})";
  std::string rest;
  for (int i = 1; i <= 40; ++i) {
    x.output += std::to_string(i) + "\n";
    if (i != 2) rest += "    " + std::to_string(i) + "\n";
  }
  const auto text = on(x);
  CHECK(text.substr(text.find('\n') + 1) == rest);
}

TEST_CASE("the time of a run says how long it waited for its person") {
  const auto ends = [](std::int64_t asked_s, verbosity level) {
    trace_writer traces{{level, false, true, true}};
    const auto at = [&](std::int64_t s, events::body body) {
      event x;
      x.at = {s * 1'000'000};
      x.body = std::move(body);
      return traces.on(x);
    };
    events::approval_required wanted;
    wanted.proposal = {"prop_1"};
    at(10, wanted);
    wanted.proposal = {"prop_2"};
    at(12, wanted);
    events::approval_resolved yes;
    yes.how = events::proposal_outcome::approved;
    yes.proposal = {"prop_1"};
    at(12, yes);
    yes.proposal = {"prop_2"};
    at(10 + asked_s, yes);
    events::failure wish;
    wish.err = {errc::cancelled, "run", "stopped by the user", false, {}};
    at(80, wish);
    events::run_finished end;
    end.status = events::run_status::cancelled;
    end.duration_ms = 80'000;
    return at(80, end);
  };
  CHECK(ends(55, verbosity::normal) ==
        "Stopped after 1m 20s, 55.0s of it waiting for you.\n");
  CHECK(ends(55, verbosity::verbose)
            .ends_with(" — 1m 20s, 55.0s of it waiting for you\n"));
  CHECK(ends(2, verbosity::normal) ==
        "Stopped after 1m 20s, 2.0s of it waiting for you.\n");
}

TEST_CASE("a run that did not complete says so at its end") {
  told_run on;
  events::run_finished x;
  x.status = events::run_status::cancelled;
  x.duration_ms = 61'000;
  x.steps = 1;
  x.tool_calls = 2;
  x.usage.input_tokens = 10;
  x.usage.output_tokens = 1;
  CHECK(on(x) == "[RUN] cancelled — 1m 01s\n");
  told_run all{verbosity::verbose};
  CHECK(all(x) ==
        "[RUN] cancelled: 1 step, 2 tool calls, 10 tokens in, 1 token "
        "out — 1m 01s\n");
  // Why is said once, and is no error.
  events::failure wish;
  wish.err = {errc::cancelled, "run", "cancelled by Ctrl-C", false, {}};
  CHECK(on(wish).empty());
  CHECK(on(x) == "Stopped after 1m 01s.\n");
  wish.err.message = "stopped by the user";
  on(wish);
  CHECK(on(x) == "Stopped after 1m 01s.\n");
  // Of somebody else's wish it is said why.
  wish.err.message = "cancelled by ann";
  on(wish);
  CHECK(on(x) == "[RUN] cancelled by ann — 1m 01s\n");
  // The error has said that it failed.
  told_run failed;
  wish.err = {errc::model_error, "model", "no more", false, {}};
  CHECK(failed(wish) == "[ERROR] no more (model_error)\n");
  x.status = events::run_status::failed;
  CHECK(failed(x).empty());
  wish.err = {errc::cancelled, "run", "stopped by the user", false, {}};
  told_run quiet{verbosity::quiet};
  CHECK(quiet(wish) == "[ERROR] stopped by the user\n");
  told_run verbose{verbosity::verbose};
  x.status = events::run_status::completed;
  CHECK(verbose(x).starts_with("[RUN] completed: 1 step"));
}

TEST_CASE("a call that was cut off is told in a person's words") {
  told_run on;
  on(made_call("bash", R"({"command":"make"})"));
  auto end = its_end(outcome::interrupted, 0);
  end.attempts = 1;
  end.err = error{errc::interrupted, "bash",
                  "the runtime stopped while this call was under way; its "
                  "outcome is unknown: check before you repeat it"};
  CHECK(on(end) ==
        "[TOOL] bash: make ✗ interrupted: Riffle ended while it ran; nobody "
        "knows how far it came\n");
}

TEST_CASE("who stops at a question is told so at the end, and not before") {
  told_run on;
  on(made_call("bash", R"({"command":"make"})"));
  events::approval_required asked;
  asked.proposal = {"p"};
  asked.id = {"call_1"};
  on(asked);
  events::approval_resolved told;
  told.proposal = {"p"};
  told.id = {"call_1"};
  told.how = events::proposal_outcome::cancelled;
  told.by = "riffle";
  told.reason = "the run needs no decision any more";
  CHECK(on(told).empty());
  auto none = its_end(outcome::cancelled, 0);
  none.attempts = 0;
  none.err = error{errc::cancelled, "dispatch", "the run was cancelled"};
  CHECK(on(none).empty());
  CHECK(on(events::failure{{errc::cancelled, "run", "stopped by the user"}})
            .empty());
  events::run_finished end;
  end.status = events::run_status::cancelled;
  end.duration_ms = 3800;
  // The call itself is one of them.
  CHECK(on(end) == "Stopped after 3.8s. 1 call was not begun.\n");
}

TEST_CASE("an error ends with one pair of brackets") {
  told_run on;
  CHECK(on(events::failure{{errc::model_error, "m",
                            "HTTP 401: no (check the API key) (it is that of "
                            "$KEY)"}}) ==
        "[ERROR] HTTP 401: no (check the API key; it is that of $KEY; "
        "model_error)\n");
  told_run other;
  CHECK(other(events::failure{{errc::model_error, "m", "it (a) ends"}}) ==
        "[ERROR] it (a) ends (model_error)\n");
}

TEST_CASE("a person reads what the loss of a call means, in no inner words") {
  const auto told = [](const std::string& message) {
    told_run on;
    on(made_call("bash", R"({"command":"make"})"));
    auto x = its_end(outcome::interrupted, 0);
    x.err = error{errc::interrupted, "dispatch", message};
    return on(x);
  };
  CHECK(
      told("the tool's worker was lost: its worker pool failed: no room; its "
           "outcome is unknown, check before you repeat it") ==
      "[TOOL] bash: make ✗ interrupted: Riffle lost track of it while it ran: "
      "no room; how far it came is unknown: look at what it did before it "
      "runs again\n");
  CHECK(
      told("the tool's worker was lost: its worker and its worker pool "
           "failed; it was tried 2 times") ==
      "[TOOL] bash: make ✗ interrupted: Riffle lost track of it while it ran; "
      "it was tried 2 times\n");
  CHECK(told("no worker was free within the queue's time limit of 10m "
             "(tools.bash.queue_timeout)") ==
        "[TOOL] bash: make ✗ interrupted: too many other calls of the tool "
        "ran; there was no room within the time limit of 10m "
        "(tools.bash.queue_timeout)\n");
}
