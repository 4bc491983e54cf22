// SPDX-License-Identifier: MIT
// Conversations of the real program on a pseudo-terminal.
#include <filesystem>
#include <fstream>
#include <regex>

#include "runtime/cli/terminal/erasure.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

constexpr auto script = R"toml(
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml";

constexpr auto slow_script = R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done" }
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml";

void prepare(const temp_folder& folder, const std::string& steps = script) {
  folder.write("s.toml", steps);
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n"
               "[tools.bash]\napproval = \"allow\"\n");
}

std::string picture_of(const terminal_program& x, std::size_t columns) {
  terminal_picture out{columns};
  out.feed(x.written());
  return out.text();
}

bool has_text(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a conversation: tasks of one session, and the way back") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  for (const unsigned short columns : {60, 80, 110, 200}) {
    CAPTURE(columns);
    terminal_program riffle{folder.path(), {"chat", "--no-color"}, columns};
    REQUIRE(riffle.read_next("/help shows what can be"));
    riffle.type("one\r");
    REQUIRE(riffle.read_next("You said: one"));
    riffle.type("tw\x7fwo\x1b[Dx\x7f\r");
    REQUIRE(riffle.read_next("You said: two"));
    // Typed ahead, the end too.
    riffle.type("/cost\r");
    REQUIRE(riffle.read_next("tokens in"));
    riffle.type("\x04");
    CHECK(riffle.finish() == 0);
    CHECK(has_text(picture_of(riffle, columns),
                   "Go on: riffle -c, or riffle chat --session "));
  }
  terminal_program list{folder.path(), {"sessions", "list"}, 110};
  CHECK(list.finish() == 0);
  CHECK(has_text(list.written(), "2 runs"));
  CHECK(has_text(list.written(), "just now"));
}

TEST_CASE("riffle alone goes on with -c where the last one ended") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  {
    terminal_program riffle{folder.path(), {}, 80};
    REQUIRE(riffle.read_next("/help shows"));
    riffle.type("/title The work\rfirst\r");
    REQUIRE(riffle.read_next("You said: first"));
    riffle.type("/quit\r");
    CHECK(riffle.finish() == 0);
  }
  terminal_program riffle{folder.path(), {"-c"}, 80};
  REQUIRE(riffle.read_next("1 run so far"));
  // What was said last stands there.
  REQUIRE(riffle.read_next("The work"));
  REQUIRE(riffle.read_next("> first"));
  REQUIRE(riffle.read_next("You said: first"));
  // The history is that of the last conversation.
  riffle.type("\x1b[A\x1b[A\r");
  REQUIRE(riffle.read_next("You said: first"));
  riffle.type("/sessions\r");
  REQUIRE(riffle.read_next("2 runs   (this one) The work"));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("what is typed while a run works waits for its end") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, slow_script);
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("one\r");
  REQUIRE(riffle.read_next("Running: touch a"));
  riffle.type("two\rthr");
  REQUIRE(riffle.read_next("(1 queued) > thr"));
  riffle.resize(60);
  REQUIRE(riffle::testing::eventually(
      [&] { return std::filesystem::remove(folder.path() / "a"); }));
  REQUIRE(riffle.read_next("You said: one"));
  REQUIRE(riffle.read_next("> two"));
  REQUIRE(riffle.read_next("Running: touch a"));
  REQUIRE(riffle::testing::eventually(
      [&] { return std::filesystem::remove(folder.path() / "a"); }));
  REQUIRE(riffle.read_next("You said: two"));
  REQUIRE(riffle.read_next("> thr"));
  riffle.type("\x03\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("what goes on and what is typed is seen below an open line") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  std::string words;
  for (int i = 0; i < 40; ++i) words += "word ";
  prepare(folder, "chunk = 4\ndelay = \"60ms\"\n[[steps]]\ntext = \"" + words +
                      "the end\"\n");
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("one\r");
  REQUIRE(riffle.read_next("the model writes"));
  riffle.type("next");
  REQUIRE(riffle.read_next("> next"));
  REQUIRE(riffle.read_next("end"));  // behind them
  REQUIRE(riffle.read_next("> next"));
  riffle.type("\x03\x04");
  CHECK(riffle.finish() == 0);
  const auto text = picture_of(riffle, 80);
  INFO(text);
  CHECK(has_text(text, "> one\n" + words.substr(0, 74)));
  CHECK_FALSE(has_text(text, "the model writes"));
}

TEST_CASE("a conversation offers to finish what was interrupted") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, slow_script);
  {
    terminal_program riffle{folder.path(), {"chat"}, 80};
    REQUIRE(riffle.read_next("/help shows"));
    riffle.type("one\r");
    REQUIRE(riffle.read_next("Running: "));
  }  // killed
  terminal_program riffle{folder.path(), {"chat", "-c", "--no-color"}, 80};
  riffle.type("two\nand a beg");  // before anything stands there
  REQUIRE(riffle.read_next("A run of this folder was not finished: \"one\""));
  CHECK(riffle.written().find("It was not finished.") == std::string::npos);
  REQUIRE(riffle.read_next("ne[v]er > "));
  // Whoever says no is asked again by the task that cannot begin.
  riffle.answer("n\n");
  REQUIRE(riffle.read_next("What you had typed, 2 inputs, waits for your"));
  REQUIRE(riffle.read_next("> two"));
  riffle.type("\r");
  REQUIRE(riffle.read_next("ne[v]er > "));
  riffle.answer("v\n");
  REQUIRE(riffle.read_next("stays as it is"));
  REQUIRE(riffle.read_next("Running: touch a"));
  REQUIRE(riffle::testing::eventually(
      [&] { return std::filesystem::remove(folder.path() / "a"); }));
  REQUIRE(riffle.read_next("You said: two"));
  REQUIRE(riffle.read_next("> and a beg"));
  riffle.type("\x03\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a text of many lines that comes before the prompt is one text") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, "[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n");
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  std::string text;
  for (int i = 0; i < 60; ++i) text += "line " + std::to_string(i) + "\r";
  riffle.type(text);
  REQUIRE(riffle.read_next("[pasted text, "));
  riffle.type(" and that\r");
  REQUIRE(riffle.read_next("You said: line 0"));
  REQUIRE(riffle.read_next("and that"));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a run that is stopped at a question says so once") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder,
          "[[steps]]\n[[steps.calls]]\ntool = \"write\"\narguments = { path = "
          "\"new.md\", content = \"x\" }\n");
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("one\r");
  REQUIRE(riffle.read_next("[s]top, [?] > "));
  riffle.type("\x03");
  REQUIRE(riffle.read_next("Say how to go on."));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
  const auto text = picture_of(riffle, 80);
  INFO(text);
  CHECK(has_text(text, "Stopped after "));
  CHECK_FALSE(has_text(text, "is kept"));  // there is nothing
  CHECK_FALSE(has_text(text, "[RUN]"));
  CHECK_FALSE(has_text(text, "needs no decision"));
  CHECK_FALSE(has_text(text, "[TOOL] write"));
}

TEST_CASE("Ctrl-C stops the run and not the conversation") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, slow_script);
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("one\r");
  REQUIRE(riffle.read_next("Running: touch a"));
  riffle.type("\x03");
  REQUIRE(riffle.read_next("✗ stopped after "));
  REQUIRE(riffle.read_next("Stopped after "));
  REQUIRE(riffle.read_next("What it did and said is kept. Say how to go on."));
  REQUIRE(riffle.read_next("> "));
  CHECK_FALSE(has_text(riffle.written(), "check before you"));
  CHECK_FALSE(has_text(riffle.written(), "[RUN]"));
  riffle.type("!echo still $((40+2))\r");
  REQUIRE(riffle.read_next("still 42\r\n"));
  REQUIRE(riffle.read_next("> "));
  riffle.type("\x03");
  REQUIRE(riffle.read_next("Ctrl-C again, or Ctrl-D, leaves."));
  riffle.type("\x03");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("what waited for a run that is stopped is not sent by itself") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, slow_script);
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("one\r");
  REQUIRE(riffle.read_next("Running: touch a"));
  riffle.type("!echo $((40+1))\rrm -rf /tmp/nothing\r/save\rfo");
  REQUIRE(riffle.read_next("(3 queued) > fo"));
  riffle.type("\x03");
  REQUIRE(riffle.read_next("What you had typed, 4 inputs, waits for your"));
  // Each is what it was, and one comes after the other.
  REQUIRE(riffle.read_next("> !echo $((40+1))"));
  std::filesystem::remove(folder.path() / "a");
  riffle.type("\r");
  REQUIRE(riffle.read_next("41\r\n"));
  REQUIRE(riffle.read_next("> rm -rf /tmp/nothing"));
  riffle.type("\x03");
  REQUIRE(riffle.read_next("> /save"));
  riffle.type("\r");
  REQUIRE(riffle.read_next("/save FILE"));
  REQUIRE(riffle.read_next("> fo"));
  riffle.type("ur\x03");
  REQUIRE(riffle.read_next("> "));
  riffle.type("!ls a\r");
  REQUIRE(riffle.read_next("No such file"));  // no run has begun since
  REQUIRE(riffle.read_next("> "));            // who reads keys again is there
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a second Ctrl-C leaves the terminal as it was") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "trap '' INT TERM; touch a; sleep 60" }
)toml");
  terminal_program riffle{
      folder.path(),
      {"chat", "--no-color", "--set", "tools.kill_grace=5s"},
      80};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("one\r");
  REQUIRE(riffle.read_next("Running: trap"));
  // From then on the command obeys a kill alone.
  REQUIRE(riffle::testing::eventually(
      [&] { return std::filesystem::exists(folder.path() / "a"); }));
  riffle.type("\x03");
  REQUIRE(riffle.read_next("ancelling"));
  riffle.type("\x03");
  CHECK(riffle.finish() == 130);
  CHECK(has_text(riffle.written(),
                 std::string{riffle::cli::erase_rows} +
                     "\x1b[?2004lStopped at once; riffle -c goes on.\r\n"));
}

TEST_CASE("a command's output and a named file reach the model") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  folder.write("notes.md", "the secret of the notes\n");
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("!echo output of mine\r");
  REQUIRE(riffle.read_next("output of mine\r\n"));
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("look at @no\t\r");
  REQUIRE(riffle.read_next("attached: notes.md"));
  REQUIRE(riffle.read_next("You said: look"));
  riffle.type("/save out.txt\r");
  REQUIRE(riffle.read_next("saved: out.txt"));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
  std::ifstream in{folder.path() / "out.txt"};
  const std::string saved{std::istreambuf_iterator<char>{in}, {}};
  INFO(saved);
  CHECK(has_text(saved, "the secret of the notes"));
  CHECK(has_text(saved, "output of mine"));
}

TEST_CASE("a paste of 10,000 lines is one text") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  std::string lines = "\x1b[200~";
  for (int i = 0; i < 10'000; ++i) lines += "x" + std::to_string(i) + "\r";
  lines += "\x1b[201~";
  // A terminal takes no more than its buffer at once.
  for (std::size_t at = 0; at < lines.size(); at += 1000)
    riffle.type(lines.substr(at, 1000));
  REQUIRE(riffle.read_next("> [pasted text, 10,000 lines]"));
  // It is one character: the cursor goes over it, and it goes at once.
  riffle.type("/end\x1b[D\x1b[D\x1b[D\x1b[D\x1b[DA: \r");
  REQUIRE(riffle.read_next("> A: [pasted text, 10,000 lines]/end"));
  REQUIRE(riffle.read_next("You said: A: x0"));
  REQUIRE(riffle.read_next("x9999"));
  REQUIRE(riffle.read_next("> "));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("Ctrl-L clears the screen and keeps what is typed") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("half\x0c");
  REQUIRE(riffle.read_next("\x1b[H\x1b[2J"));
  REQUIRE(riffle.read_next("> half"));
  riffle.type("\x03\x04");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a terminal that can do nothing has conversations too") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  terminal_program riffle{folder.path(), {"chat"}, 80, "dumb"};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("one\\\ntwo\n");
  REQUIRE(riffle.read_next("You said: one\r\ntwo"));
  riffle.type("/quit\n");
  CHECK(riffle.finish() == 0);
  CHECK_FALSE(has_text(riffle.written(), "\x1b"));
}
