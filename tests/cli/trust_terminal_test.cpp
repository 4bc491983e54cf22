// SPDX-License-Identifier: MIT
// A person at a terminal is asked about the folder's configuration.
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using testing::scoped_env;
using testing::temp_folder;
using testing::terminal_program;

namespace {

/// A cloned folder, and the home of the person who works there.
struct place {
  place() {
    folder.write("s.toml", "[[steps]]\ntext = \"The answer.\"\n");
    configure("model = \"one\"");
  }
  void configure(const std::string& line) const {
    folder.write("riffle.toml",
                 "[models.default]\ndialect = \"scripted\"\nscript = "
                 "\"s.toml\"\n" +
                     line + "\n");
  }
  temp_folder folder;
  temp_folder home;
  scoped_env at_home{"HOME", home.path()};
  scoped_env state{"XDG_STATE_HOME", {}};
  scoped_env config{"XDG_CONFIG_HOME", {}};
  scoped_env named{"RIFFLE_CONFIG", ""};
};

constexpr auto question =
    "Trust it as it is? (a letter and Enter) [y]es, [n]o > ";

}  // namespace

TEST_CASE("a folder's file is asked about once, and again when it changed") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place x;
  terminal_program first{x.folder.path(), {"run", "say it"}, 100};
  REQUIRE(first.read_until(question));
  CHECK(first.written().find("models.default.script = \"s.toml\"") !=
        std::string::npos);
  first.type("y\n");
  REQUIRE(first.read_next("The answer."));
  CHECK(first.finish() == 0);

  terminal_program second{x.folder.path(), {"run", "say it"}, 100};
  CHECK(second.finish() == 0);
  CHECK(second.written().find("Trust it") == std::string::npos);

  x.configure("model = \"two\"");
  terminal_program third{x.folder.path(), {"run", "say it"}, 100};
  REQUIRE(third.read_until(
      "Trust it as it is now? (a letter and Enter) [y]es, [n]o > "));
  CHECK(third.written().find("-model = \"one\"") != std::string::npos);
  CHECK(third.written().find("+model = \"two\"") != std::string::npos);
  third.type("n\n");
  CHECK(third.finish() == 2);
  CHECK(third.written().find("nothing was started") != std::string::npos);
  // What was trusted still is.
  x.configure("model = \"one\"");
  terminal_program fourth{x.folder.path(), {"run", "say it"}, 100};
  CHECK(fourth.finish() == 0);
}

TEST_CASE("nobody is asked to trust a file that cannot count") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place x;
  const auto& [line, why] = GENERATE(table<std::string, std::string>(
      {{"nonsense = 1", "models.default.nonsense"},
       {"temperature = \"hot\"", "models.default.temperature"},
       {"no TOML", "riffle.toml:4"}}));
  CAPTURE(line);
  x.configure(line);
  terminal_program run{x.folder.path(), {"run", "say it"}, 100};
  CHECK(run.finish() == 2);
  const auto all = run.written();
  CAPTURE(all);
  CHECK(all.find(why) != std::string::npos);
  CHECK(all.find("1 mistake in the configuration, nothing was started") !=
        std::string::npos);
  CHECK(all.find("Trust it") == std::string::npos);
  CHECK(all.find("The answer.") == std::string::npos);
}

TEST_CASE("who says no, or goes away, starts nothing") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place x;
  for (const std::string keys : {"n\n", "maybe\nno\n", "\x04"}) {
    terminal_program run{x.folder.path(), {"run", "say it"}, 100};
    REQUIRE(run.read_until(question));
    run.type(keys);
    CHECK(run.finish() == 2);
    CHECK(run.written().find("The answer.") == std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(x.home.path() / ".local/share/riffle"));
}

TEST_CASE("a line that came together with fg trusts nothing") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place x;
  terminal_program run{x.folder.path(), {"run", "say it"}, 100};
  REQUIRE(run.read_next(question));
  run.type("y");
  run.stop_and_go_on("\n");
  REQUIRE(run.read_next(question));
  run.stop_and_go_on("y\n");
  REQUIRE(run.read_next(question));
  run.answer("\x15n\n");  // what was typed before stands there still
  CHECK(run.finish() == 2);
  CHECK(run.written().find("The answer.") == std::string::npos);
}

TEST_CASE("what is typed at it, or before, is no answer, and is kept") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place x;
  // The shell takes the first line, so that the other one came before.
  terminal_program chat{
      x.folder.path(),
      {"-c", "read it; exec \"$0\" \"$@\"", terminal_program::built().string(),
       "chat", "--no-color"},
      100,
      "xterm",
      "",
      "/bin/sh"};
  chat.type("begin\nrename it\n");
  REQUIRE(chat.read_next(question));
  chat.type("typed at it\n");
  REQUIRE(chat.read_next(question));
  chat.type("y\n");
  REQUIRE(chat.read_next("What you had typed, 2 inputs, waits for your Enter"));
  REQUIRE(chat.read_next("> rename it"));
  chat.type("\x03");
  REQUIRE(chat.read_next("> typed at it"));
  chat.type("\x03\x04");
  CHECK(chat.finish() == 0);
}

TEST_CASE("config trust asks, and forgets again") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place x;
  terminal_program trust{x.folder.path(), {"config", "trust"}, 100};
  REQUIRE(trust.read_until(question));
  trust.type("yes\n");
  CHECK(trust.finish() == 0);
  CHECK(trust.written().find("is trusted from now on") != std::string::npos);
  terminal_program revoke{
      x.folder.path(), {"config", "trust", "--revoke"}, 100};
  CHECK(revoke.finish() == 0);
  terminal_program run{x.folder.path(), {"run", "say it"}, 100};
  REQUIRE(run.read_until(question));
}

TEST_CASE("who is asked can look at all of a long value first") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place x;
  x.configure("model = \"" + std::string(3000, 'a') + "middle" +
              std::string(3000, 'a') + "\"");
  terminal_program run{x.folder.path(), {"run", "say it"}, 100};
  REQUIRE(run.read_next(
      "Trust it as it is? (a letter and Enter) [y]es, [n]o, [v]iew all > "));
  CHECK(run.written().find("middle") == std::string::npos);
  run.type("v\n");
  REQUIRE(run.read_next("middle"));
  REQUIRE(run.read_next("[v]iew all > "));
  run.type("n\n");
  CHECK(run.finish() == 2);
}
