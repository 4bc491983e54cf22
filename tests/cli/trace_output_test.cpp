// SPDX-License-Identifier: MIT
// What a call writes is told once: as progress, or below its end.
#include <nlohmann/json.hpp>

#include "runtime/cli/view/people_text.hpp"
#include "tests/cli/told_run.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

events::tool_progress progress(const std::string& message) {
  events::tool_progress x;
  x.id = {"call_1"};
  x.report.message = message;
  return x;
}

}  // namespace

TEST_CASE("of a long command a line of progress has the beginning alone") {
  const std::string command(100, 'x');
  told_run on{verbosity::verbose};
  on(made_call("bash", R"({"command":")" + command + R"("})"));
  CHECK(on(progress("half")) ==
        "[TOOL] bash: " + std::string(25, 'x') + "… (half)\n");
}

TEST_CASE("output that was shown as progress is not shown again") {
  told_run on{verbosity::verbose};
  on(made_call("bash", R"({"command":"make"})"));
  on(progress("[1/3] a.cpp"));
  on(progress("[3/3] linking all of it"));
  auto end = its_end(outcome::ok, 1);
  end.output = "[1/3] a.cpp\n\n[2/3] b.cpp\n[3/3] link";
  end.truncated = true;
  CHECK(on(end) ==
        "[TOOL] bash: make — 0.0s\n"
        "    \n"
        "    [2/3] b.cpp\n"
        "    …\n");
  // Of what failed, too.
  on(made_call("bash", R"({"command":"make"})"));
  on(progress("no rule"));
  end.how = outcome::failed;
  end.truncated = false;
  end.output = "no rule";
  CHECK(on(end) == "[TOOL] bash: make ✗ failed — 0.0s\n");
}

TEST_CASE("what the line of a call has said is no status beside it") {
  told_run on{verbosity::verbose};
  on(made_call("bash", R"({"command":"ls"})"));
  CHECK(on(events::status{"Doing it"}).empty());
  CHECK(on(events::status{"Doing it and 1 more call"}).empty());
  CHECK(on(events::status{"room is made"}) == "[STATUS] room is made\n");
}

TEST_CASE("a line of progress stands for one line of the output") {
  told_run on{verbosity::verbose};
  on(made_call("bash", R"({"command":"make"})"));
  on(progress("ok"));
  auto end = its_end(outcome::ok, 1);
  end.output = "ok\nok\nok\n";
  CHECK(on(end) == "[TOOL] bash: make — 0.0s\n    ok\n    ok\n");
}

namespace {

/// What stands below the line of a call that went well.
std::string below(events::tool_result x, const std::string& output,
                  std::size_t columns = 0) {
  told_run on{verbosity::verbose};
  on.traces.set_columns(columns);
  on(made_call("bash", R"({"command":"make"})"));
  x.output = output;
  const auto text = on(std::move(x));
  return text.substr(text.find('\n') + 1);
}

std::string numbered(int first, int last, const std::string& indent = "") {
  std::string out;
  for (int i = first; i <= last; ++i)
    out += indent + "line " + std::to_string(i) + "\n";
  return out;
}

}  // namespace

TEST_CASE("an excerpt of an output has whole lines") {
  auto x = its_end(outcome::ok, 100);
  x.truncated = true;
  CHECK(below(x, "one\ntwo words and ha") == "    one\n    …\n");
  CHECK(below(x, "one\nha") == "    one\n    …\n");
  const std::string word(50, 'x');
  CHECK(below(x, "a " + word) == "    a " + word + "…\n");
}

TEST_CASE("an excerpt that ends early says how many lines follow") {
  auto x = its_end(outcome::ok, 100);
  x.truncated = true;
  x.metadata = R"({"lines":40})";
  CHECK(below(x, "one\ntwo\n") == "    one\n    two\n    … 38 more lines\n");
  CHECK(below(x, "one\ntwo wor") == "    one\n    … 39 more lines\n");
  CHECK(below(x, "one wor") == "    one wor…\n    … 39 more lines\n");
  x.metadata = R"({"lines":2})";
  CHECK(below(x, "one\ntwo wor") == "    one\n    … 1 more line\n");
}

TEST_CASE("of an output its last ten lines are shown") {
  auto x = its_end(outcome::ok, 100);
  CHECK(below(x, numbered(1, 10)) == numbered(1, 10, "    "));
  CHECK(below(x, numbered(1, 11)) ==
        "    … 1 line before\n" + numbered(2, 11, "    "));
  // The end of a longer one.
  x.metadata = R"({"lines":5000})";
  CHECK(below(x, numbered(4900, 5000)) ==
        "    … 4990 lines before\n" + numbered(4991, 5000, "    "));
}

TEST_CASE("a line of an output is cut at the width, with a mark") {
  const auto x = its_end(outcome::ok, 100);
  const std::string line(500, 'x');
  CHECK(below(x, line + "\nend\n", 80) ==
        "    " + std::string(74, 'x') + "…\n    end\n");
  CHECK(below(x, line) == "    " + std::string(194, 'x') + "…\n");
}

TEST_CASE("of a command that did something its last line is shown") {
  trace_options options;
  options.last_lines = true;
  trace_writer traces{options};
  traces.set_columns(40);
  const auto on = [&](events::body body) {
    event x;
    x.body = std::move(body);
    return traces.on(x);
  };
  auto call = made_call("bash", R"({"command":"make"})");
  auto end = its_end(outcome::ok, 100);
  end.output = "[1/2] a\nAll 312 tests passed\n\n";
  on(call);
  CHECK(on(end) == "[TOOL] bash: make — 0.1s\n    All 312 tests passed\n");
  on(call);
  end.output = std::string(100, 'x');
  CHECK(on(end) ==
        "[TOOL] bash: make — 0.1s\n    " + std::string(34, 'x') + "…\n");
  // Of a beginning nobody knows it.
  on(call);
  end.truncated = true;
  CHECK(on(end) == "[TOOL] bash: make — 0.1s\n");
  end.truncated = false;
  // What only reads is read by the model.
  call.eff = effect::read_only;
  on(call);
  CHECK(on(end) == "[TOOL] bash: make — 0.1s\n");
  call.eff = effect::mutating;
  for (const auto* line : {"git log | head -5", "cd a && cat b", "cat ../b"}) {
    call.arguments = nlohmann::json{{"command", line}}.dump();
    end.metadata = R"({"lines":3,"bytes":40,"exit_code":0})";
    on(call);
    CHECK(on(end) ==
          "[TOOL] bash: " + std::string{line} + " (3 lines, 40 B) — 0.1s\n");
  }
  end.metadata.clear();
  call.tool = "own";
  on(call);
  CHECK(on(end).find('x') == std::string::npos);
}

TEST_CASE("a search that found nothing has not failed for a person") {
  told_run on;
  const auto says = [&](const std::string& line, const std::string& metadata) {
    auto call = made_call("bash", nlohmann::json{{"command", line}}.dump());
    on(call);
    auto x = its_end(outcome::failed, 100);
    x.err = error{errc::tool_execution_error, "bash", "exit status 1"};
    x.output = "exit status 1";
    x.metadata = metadata;
    const auto text = on(x);
    const auto begin = "[TOOL] bash: " + line;
    REQUIRE(text.starts_with(begin));
    return text.substr(begin.size(), text.find(" — ") - begin.size());
  };
  const std::string none = R"({"lines":0,"bytes":0,"exit_code":1})";
  CHECK(says("grep -rn x src", none) == " → no matches");
  CHECK(says("cat a | rg x", none) == " → no matches");
  for (const auto* line :
       {"cat a && grep x b", "grep x a | head", "test -e a", "grep x $(b)"})
    CHECK(says(line, none).starts_with(" (exit 1"));
  CHECK(says("grep x a", R"({"lines":1,"bytes":9,"exit_code":2})")
            .starts_with(" (exit 2"));
}

TEST_CASE("what the line of a command says stands below it no second time") {
  told_run on{verbosity::verbose};
  on(made_call("bash", R"({"command":"make"})"));
  auto x = its_end(outcome::failed, 100);
  x.metadata = R"({"exit_code":2,"lines":1})";
  x.output = "no rule\nexit status 2\n";
  CHECK(on(x) == "[TOOL] bash: make (exit 2, 1 line) — 0.1s\n    no rule\n");
  on(made_call("own", R"({"path":"a"})"));
  x.metadata.clear();
  x.err = error{errc::tool_execution_error, "own", "no such ticket"};
  x.output = "looking\nno such ticket\n";
  CHECK(on(x) == "[TOOL] own: a ✗ no such ticket — 0.1s\n    looking\n");
}

TEST_CASE("as many lines are shown as the line of a command says") {
  told_run on;
  on(made_call("bash", R"({"command":"make"})"));
  auto x = its_end(outcome::failed, 100);
  x.metadata = R"({"exit_code":2,"lines":3})";
  x.output = "no rule\n\nstop\nexit status 2\n";
  CHECK(on(x) ==
        "[TOOL] bash: make (exit 2, 3 lines) — 0.1s\n"
        "    no rule\n    \n    stop\n");
}

TEST_CASE("no output is not counted, and a file is named once") {
  told_run on;
  on(made_call("bash", R"({"command":"git add ."})"));
  auto x = its_end(outcome::ok, 100);
  x.metadata = R"({"lines":0,"bytes":0})";
  CHECK(on(x) == "[TOOL] bash: git add . — 0.1s\n");
  on(made_call("write", R"({"path":"a.sh","content":"x"})"));
  x = its_end(outcome::failed, 100);
  x.err = error{errc::invalid_arguments, "write",
                "a.sh holds exactly this already"};
  CHECK(on(x) == "[TOOL] write: a.sh ✗ holds exactly this already — 0.1s\n");
}

TEST_CASE("of a bar of progress its last state is shown") {
  told_run on{verbosity::verbose};
  on(made_call("bash", R"({"command":"curl x"})"));
  auto end = its_end(outcome::ok, 1);
  end.output = "  1%\r 50%\r100%\r\ndone\n";
  CHECK(on(end) ==
        "[TOOL] bash: curl x — 0.0s\n"
        "    100%\n"
        "    done\n");
  CHECK(last_rows(end.output, false, 80, 5) ==
        std::vector<std::string>{"100%", "done"});
}
