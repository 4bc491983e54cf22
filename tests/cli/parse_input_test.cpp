// SPDX-License-Identifier: MIT
// Which command lines read standard input, and which of it.
#include "runtime/cli/cli.hpp"
#include "runtime/cli/parse.hpp"
#include "tests/cli/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;

TEST_CASE("standard input can be left to others") {
  CHECK(parsed<run_command>({"run", "t"}).reads_stdin);
  CHECK_FALSE(parsed<run_command>({"run", "t", "--no-stdin"}).reads_stdin);
}

TEST_CASE("no two of the arguments read standard input") {
  CHECK(parsed<run_command>({"run", "t", "--context-file", "-"}).context_file ==
        "-");
  CHECK(has(refused({"run", "-", "--context-file", "-"}),
            "standard input is read once"));
  CHECK(has(refused({"run", "a b", "-", "--context-file", "-"}),
            "standard input is read once"));
  CHECK(has(refused({"run", "--tasks-file", "-", "--context-file", "-"}),
            "standard input is read once"));
}

TEST_CASE("a call's output needs no id, and a run is forgotten with a reason") {
  CHECK(parsed<sessions_command>({"sessions", "output"}).id.empty());
  const auto x = parsed<sessions_command>({"sessions", "forget", "s1"});
  CHECK(x.action == sessions_command::what::cancel);
  CHECK(x.reason == "it is not to be finished");
  CHECK(parsed<sessions_command>({"sessions", "cancel", "s1"}).reason ==
        "cancelled by the user");
  CHECK(has(refused({"sessions", "forget"}), "ID is required"));
}
