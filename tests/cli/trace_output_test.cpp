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
  // Whatever was shown before that, a failure shows its end.
  on(made_call("bash", R"({"command":"make"})"));
  on(progress("no rule"));
  end.how = outcome::failed;
  end.truncated = false;
  end.output = "no rule";
  CHECK(on(end).ends_with("\n    no rule\n"));
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
