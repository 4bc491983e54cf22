// SPDX-License-Identifier: MIT
// Conversations of the real program that have become long, or were cut.
#include <filesystem>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

namespace {

void write_script(const temp_folder& folder, const std::string& steps) {
  folder.write("s.toml", steps);
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n"
               "[tools.bash]\napproval = \"allow\"\n");
}

/// As a terminal sends it, in pieces that it takes.
void paste(const terminal_program& at, const std::string& text) {
  const auto all = "\x1b[200~" + text + "\x1b[201~";
  for (std::size_t i = 0; i < all.size(); i += 1000)
    at.type(all.substr(i, 1000));
}

/// 4,000 lines, 50 thousand tokens.
std::string long_paste() {
  std::string out;
  for (int i = 0; i < 4'000; ++i)
    out += "a line of the log that somebody wants to hear of\r";
  return out;
}

constexpr auto deaf_script = "[[steps]]\ntext = \"I heard it.\"\n";

}  // namespace

TEST_CASE("what does not fit into the model is not sent, and comes back") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  write_script(folder, deaf_script);
  terminal_program riffle{
      folder.path(),
      {"chat", "--no-color", "--set", "models.default.context_window=20000"},
      80};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("hello\r");
  REQUIRE(riffle.read_next("I heard it."));
  REQUIRE(riffle.read_next("> "));
  paste(riffle, long_paste());
  riffle.type("what is it?\r");
  REQUIRE(riffle.read_next("that is too long: about "));
  REQUIRE(riffle.read_next("the model default takes 20k"));
  REQUIRE(riffle.read_next("It was not sent."));
  REQUIRE(riffle.read_next("> [pasted text, 4,000 lines]what is it?"));
  riffle.type("\x03/context\r");
  REQUIRE(riffle.read_next("1 run, 2 messages"));  // nothing of it is there
  riffle.type("hello again\r");
  REQUIRE(riffle.read_next("I heard it."));
  riffle.type("/compact\r");
  REQUIRE(riffle.read_next("is told this summary"));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a session that is too long for its model goes on") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  write_script(folder, deaf_script);
  {
    terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
    REQUIRE(riffle.read_next("\x1b[?2004h"));
    paste(riffle, long_paste());
    riffle.type("\r");
    REQUIRE(riffle.read_next("I heard it."));
    riffle.type("/quit\r");
    CHECK(riffle.finish() == 0);
  }
  terminal_program riffle{folder.path(),
                          {"chat", "-c", "--no-color", "--set",
                           "models.default.context_window=20000"},
                          100};
  REQUIRE(riffle.read_next("1 run so far"));
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("/context\r");
  REQUIRE(riffle.read_next("the model takes 20k of them at most"));
  REQUIRE(riffle.read_next("left out, the oldest first"));
  SECTION("by a summary") { riffle.type("/compact\r"); }
  SECTION("by further words") { riffle.type("hello again\r"); }
  REQUIRE(riffle.read_next("1 long text of earlier tasks shortened"));
  REQUIRE(riffle.read_next("I heard it."));
  riffle.type("/quit\r");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("what only looks is answered while a run works") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  write_script(folder, R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done" }
[[steps]]
text = "You said: {{task}}"
)toml");
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("one\r");
  REQUIRE(riffle.read_next("Running: touch a"));
  riffle.type("/context\r");
  REQUIRE(riffle.read_next("> /context"));
  REQUIRE(riffle.read_next("The window holds about "));
  REQUIRE(riffle.read_next("Running: touch a"));
  // Of a long line the end is seen, where it is written on.
  riffle.type(std::string(100, 'x') + " the end");
  REQUIRE(riffle.read_next("x the end"));
  riffle.type("\x15/cost\r");
  REQUIRE(riffle.read_next(" tokens in, "));
  std::filesystem::remove(folder.path() / "a");
  REQUIRE(riffle.read_next("You said: one"));
  REQUIRE(riffle.read_next("> "));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE(
    "a run that is finished first is what the conversation goes on with") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  write_script(folder, R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "[ -e a ] || { touch a; sleep 60; }" }
[[steps]]
text = "You said: {{task}}"
)toml");
  {
    terminal_program riffle{folder.path(), {"chat"}, 80};
    REQUIRE(riffle.read_next("/help shows"));
    riffle.type("one\r");
    REQUIRE(riffle.read_next("Running: "));
    REQUIRE(riffle::testing::eventually(
        [&] { return std::filesystem::exists(folder.path() / "a"); }));
  }  // killed
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("ne[v]er > "));
  riffle.answer("y\n");
  REQUIRE(riffle.read_next("You said: one"));
  REQUIRE(riffle.read_next("> "));
  riffle.type("/context\r");
  REQUIRE(riffle.read_next("1 run, "));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}
