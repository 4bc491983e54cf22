// SPDX-License-Identifier: MIT
// Options that take a value, and get none.
#include "runtime/cli/cli.hpp"
#include "runtime/cli/parse.hpp"
#include "tests/cli/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;

TEST_CASE("an option with nothing behind \"=\" swallows no word") {
  // --session= a b: once "a" was the session and "b" the task.
  const std::vector<std::vector<std::string>> commands = {
      {"run"},
      {"sessions", "resume"},
      {"sessions", "cancel"},
      {"sessions", "list"},
      {"proposals", "list"},
      {"proposals", "deny"},
      {"proposals", "edit"},
      {"tools", "call"},
      {"config", "check"},
      {"config", "trust"}};
  for (const auto& command : commands) {
    for (const auto& name : option_names(command)) {
      auto words = command;
      words.insert(words.end(), {name + "=", "a", "b"});
      CAPTURE(name);
      CHECK(has(refused(words), name + ": nothing stands behind \"=\""));
    }
  }
  // Not an option: a value, or a word behind "--".
  CHECK(parsed<run_command>({"run", "--context", "--x=", "t"}).context ==
        "--x=");
  CHECK(parsed<run_command>({"run", "--set", "a.b=", "t"}).common.sets ==
        std::vector<std::string>{"a.b="});
  CHECK(parsed<run_command>({"run", "--", "--session="}).task == "--session=");
  CHECK(parsed<run_command>({"run", "--session=a", "b"}).session == "a");
}

TEST_CASE("what names something is not empty") {
  for (const std::string name : {"--config", "--session", "--model", "--agent",
                                 "--context-file", "--timeout", "--output"}) {
    CAPTURE(name);
    CHECK(has(refused({"run", name, "", "t"}), name));
  }
  CHECK(has(refused({"proposals", "list", "--session", ""}), "--session"));
  CHECK(has(refused({"proposals", "edit", "p", "--arguments", ""}),
            "--arguments"));
  CHECK(has(refused({"proposals", "always", "--revoke", ""}), "--revoke"));
  CHECK(has(refused({"config", "trust", ""}), "must not be empty"));
}
