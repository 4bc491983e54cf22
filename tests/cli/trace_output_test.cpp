// SPDX-License-Identifier: MIT
// What a call writes is told once: as progress, or below its end.
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

TEST_CASE("an excerpt of an output ends behind a word") {
  told_run on{verbosity::verbose};
  auto x = its_end(outcome::ok, 100);
  x.truncated = true;
  const auto shown = [&](const std::string& output) {
    on(made_call("bash", R"({"command":"make"})"));
    x.output = output;
    const auto text = on(x);
    return text.substr(text.find('\n') + 1);
  };
  CHECK(shown("one\ntwo words and ha") ==
        "    one\n    two words and\n    …\n");
  CHECK(shown("one\nha") == "    one\n    …\n");
  const std::string word(50, 'x');
  CHECK(shown("a " + word) == "    a " + word + "\n    …\n");
}

TEST_CASE("an excerpt that ends early says how many lines follow") {
  told_run on{verbosity::verbose};
  auto x = its_end(outcome::ok, 100);
  x.truncated = true;
  x.metadata = R"({"lines":40})";
  const auto shown = [&](const std::string& output) {
    on(made_call("read", R"({"path":"a"})"));
    x.output = output;
    const auto text = on(x);
    return text.substr(text.find('\n') + 1);
  };
  CHECK(shown("one\ntwo\n") == "    one\n    two\n    … 38 more lines\n");
  CHECK(shown("one\ntwo wor") == "    one\n    two\n    … 39 more lines\n");
  x.metadata = R"({"lines":2})";
  CHECK(shown("one\ntwo wor") == "    one\n    two\n    … 1 more line\n");
  x.truncated = false;
  std::string many;
  for (int i = 0; i < 25; ++i) many += "x\n";
  CHECK(shown(many).ends_with("    x\n    … 1 more line\n"));
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
