// SPDX-License-Identifier: MIT
// A question that is answered by a letter and Enter has the keys of every
// other text.
#include <csignal>
#include <string>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;

namespace {

/// A folder whose file is asked about.
struct place {
  place() {
    folder.write("s.toml", "[[steps]]\ntext = \"The answer.\"\n");
    folder.write("riffle.toml",
                 "[models.default]\ndialect = \"scripted\"\nscript = "
                 "\"s.toml\"\nmodel = \"one\"\n");
  }
  temp_folder folder;
  temp_folder home;
  scoped_env at_home{"HOME", home.path()};
  scoped_env state{"XDG_STATE_HOME", {}};
  scoped_env config{"XDG_CONFIG_HOME", {}};
  scoped_env named{"RIFFLE_CONFIG", ""};
};

constexpr auto question = "[y]es, [n]o > ";

}  // namespace

TEST_CASE("an answer can be changed before its Enter") {
  if (!has_terminals()) return skip(no_terminals);
  const place x;
  const std::string keys =
      GENERATE(as<std::string>{}, "es\x1b[D\x1b[Dy\r", "n\x08y\r",
               "no way\x1b[H\x0by\r", "ye\x1b[A\ts\r", "yesterday\x17y\r");
  CAPTURE(keys);
  terminal_program run{x.folder.path(), {"run", "say it"}, 100};
  REQUIRE(run.read_next(question));
  run.type(keys);
  REQUIRE(run.read_next("The answer."));
  CHECK(run.finish() == 0);
  CHECK_THAT(run.written(), !Contains("^["));
}

TEST_CASE("an answer that is longer than the row stands below the question") {
  if (!has_terminals()) return skip(no_terminals);
  const place x;
  terminal_program run{x.folder.path(), {"run", "say it"}, 40};
  REQUIRE(run.read_next("[n]o > "));
  run.type("this is no answer to that, and long");
  REQUIRE(run.read_next("> this is no answer to that, and long"));
  run.type("\x15y");
  REQUIRE(run.read_next("[n]o > y"));
  run.type("\r");
  REQUIRE(run.read_next("The answer."));
  CHECK(run.finish() == 0);
  terminal_picture picture{40};
  picture.feed(run.written());
  CHECK_THAT(picture.text(), Contains("[n]o > y\n"));
  CHECK_THAT(picture.text(), !Contains("this is no answer"));
}

TEST_CASE("what is typed behind an answer is left to who reads it next") {
  if (!has_terminals()) return skip(no_terminals);
  const place x;
  terminal_program talk{x.folder.path(), {"chat", "--no-color"}, 100};
  REQUIRE(talk.read_next(question));
  talk.type("y\rrename it");
  REQUIRE(talk.read_next("/help shows"));
  REQUIRE(talk.read_next("> rename it"));
  talk.type("\x15\x04");
  CHECK(talk.finish() == 0);
}

TEST_CASE("Ctrl-C at a question ends the program, and trusts nothing") {
  if (!has_terminals()) return skip(no_terminals);
  const place x;
  terminal_program run{x.folder.path(), {"run", "say it"}, 100};
  REQUIRE(run.read_next(question));
  run.type("y\x03");
  run.finish();
  CHECK_THAT(run.written(), Contains("^C"));
  CHECK_THAT(run.written(), !Contains("The answer."));
}

TEST_CASE("what is no answer is told which ones there are") {
  if (!has_terminals()) return skip(no_terminals);
  const place x;
  terminal_program run{x.folder.path(), {"run", "say it"}, 100};
  REQUIRE(run.read_next(question));
  run.type("maybe\r");
  REQUIRE(run.read_next("Please answer y or n."));
  REQUIRE(run.read_next(question));
  run.type("n\r");
  CHECK(run.finish() == 2);
}

TEST_CASE("what was typed before Ctrl-Z is the answer still behind fg") {
  if (!has_terminals()) return skip(no_terminals);
  const place x;
  terminal_program run{x.folder.path(), {"run", "say it"}, 100};
  REQUIRE(run.read_next(question));
  run.type("ye");
  REQUIRE(run.read_next("ye"));
  run.stop_and_go_on();
  REQUIRE(run.read_next("[n]o > ye"));
  run.answer("s\r");
  REQUIRE(run.read_next("The answer."));
  CHECK(run.finish() == 0);
}

TEST_CASE("a signal that ends the program at a question leaves its terminal") {
  if (!has_terminals()) return skip(no_terminals);
  const place x;
  const int number = GENERATE(SIGTERM, SIGHUP, SIGINT);
  CAPTURE(number);
  // The shell outlives it, and says how the terminal is then.
  terminal_program shell{
      x.folder.path(),
      {"-c",
       R"(trap : INT; sh -c 'echo "pid=$$."; exec "$0" "$@"' "$0" "$@"; stty -a)",
       terminal_program::built().string(), "run", "say it"},
      100,
      "xterm",
      "",
      "/bin/sh"};
  REQUIRE(shell.read_next("pid="));
  REQUIRE(shell.read_next("."));
  const auto at = shell.written().find("pid=") + 4;
  const auto pid = std::stoi(shell.written().substr(at));
  REQUIRE(shell.read_next(question));
  ::kill(pid, number);
  REQUIRE(shell.read_next("speed "));
  shell.finish();
  CHECK_THAT(shell.written(), Contains(" icanon") && Contains(" echo "));
  // And on a line of its own.
  CHECK_THAT(shell.written(), !Contains("[n]o > speed"));
}
