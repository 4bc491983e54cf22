// SPDX-License-Identifier: MIT
// Options that take a value, and get none.
#include <set>

#include "runtime/cli/cli.hpp"
#include "runtime/cli/command_tree.hpp"
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

namespace {

/// A command with a value for each of its arguments, and nothing for the one
/// at `empty`.
std::vector<std::string> with_arguments(std::vector<std::string> words,
                                        const command_node& of,
                                        std::size_t empty) {
  for (std::size_t i = 0; i < of.arguments.size(); ++i) {
    const auto choices = choices_of(of.arguments[i].value);
    words.push_back(i == empty ? "" : choices.empty() ? "x" : choices.front());
  }
  return words;
}

void check_values(const command_node& of, std::vector<std::string> words) {
  const std::set<std::string> told{"--context", "--reason", "REASON",
                                   "--set",     "TASK",     "COMMAND"};
  const auto none = of.arguments.size();
  for (std::size_t i = 0; i < none; ++i) {
    if (told.contains(of.arguments[i].names.front())) continue;
    CAPTURE(words, of.arguments[i].names.front());
    const auto why = refused(with_arguments(words, of, i));
    CHECK(has(why, of.arguments[i].names.front()));
  }
  for (const auto& option : of.options) {
    if (option.value.empty() || told.contains(option.names.front())) continue;
    CAPTURE(words, option.names.front());
    auto line = with_arguments(words, of, none);
    line.insert(line.end(), {option.names.front(), ""});
    CHECK(has(refused(line), option.names.front()));
  }
  for (const auto& sub : of.commands) {
    auto line = words;
    line.push_back(sub.name);
    check_values(sub, line);
  }
}

}  // namespace

TEST_CASE("no name and no value of any command is empty") {
  check_values(describe_commands(), {});
  CHECK(has(refused({"proposals", "approve", ""}), "ID: must not be empty"));
  CHECK(has(refused({"sessions", "delete", ""}), "ID: must not be empty"));
}

TEST_CASE("sessions are looked for by words") {
  CHECK(parsed<sessions_command>({"sessions", "list", "--search", "fix it"})
            .search == "fix it");
  CHECK(has(refused({"sessions", "list", "--search", " \t "}),
            "--search: must not be empty"));
}
