// SPDX-License-Identifier: MIT
// /diff, /undo and /approve, as a person types them at a pseudo-terminal.
#include <filesystem>
#include <fstream>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

namespace {

/// Each task makes `made`, and changes `old` where it says "one".
struct place {
  place() {
    folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "made", content = "{{task}}\n" }
[[steps.calls]]
tool = "edit"
arguments = { path = "old", old_string = "one", new_string = "two" }
[[steps.calls]]
tool = "bash"
arguments = { command = "echo ran >> by_command" }
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml");
    folder.write("old", "one\nmore\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in{folder.path() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  temp_folder folder;
};

constexpr auto at_prompt = "\x1b[?2004h";

/// Types a line at the prompt, and reads up to what it comes to.
void ask(terminal_program& at, const std::string& line,
         const std::string& answer) {
  CAPTURE(line);
  REQUIRE(at.read_next(at_prompt));
  at.type(line + "\r");
  INFO(at.written());
  REQUIRE(at.read_next(answer));
}

int leave(terminal_program& at) {
  REQUIRE(at.read_next(at_prompt));
  at.type("/quit\r");
  return at.finish();
}

}  // namespace

TEST_CASE("what a session changed in files is shown, and taken back") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{
      here.folder.path(), {"chat", "--no-color", "--approve", "all"}, 110};
  ask(at, "/diff", "Nothing yet.");
  ask(at, "/undo 3", "/undo takes nothing behind it, so \"3\" is not");
  ask(at, "/quit now", "/quit takes nothing behind it");
  ask(at, "/undo", "There is no change to take back.");
  ask(at, "first", "You said: first");
  ask(at, "/diff", "made  +1 -0, new\r\n@@ -0,0 +1 @@\r\n+first\r\n");
  REQUIRE(at.read_next("old  +1 -1\r\n@@ -1,2 +1,2 @@\r\n-one\r\n+two\r\n"));
  REQUIRE(at.read_next(
      "these may have changed more: bash: echo ran >> by_command\r\n"));
  ask(at, "/diff old", "old  +1 -1");
  ask(at, "/diff no.cpp",
      "No call of write or edit has changed no.cpp; the session changed made, "
      "old.");
  SECTION("it is asked once, and a no changes nothing") {
    ask(at, "/undo",
        "changed in 2 files: made, old? (a letter and Enter) [y]es, [n]o > ");
    at.type("n\r");
    REQUIRE(at.read_next("Nothing was taken back."));
    CHECK(here.text_of("made") == "first\n");
    CHECK(here.text_of("old") == "two\nmore\n");
  }
  SECTION("a line that is no answer waits in the prompt behind it") {
    ask(at, "/undo", "[y]es, [n]o > ");
    at.type("/cost\r");
    REQUIRE(at.read_next("[y]es, [n]o > "));
    at.type("n\r");
    REQUIRE(at.read_next("Nothing was taken back."));
    REQUIRE(at.read_next("/cost"));
    at.type("\r");
    REQUIRE(at.read_next("tokens"));
  }
  SECTION("and told to the model with the next task alone") {
    ask(at, "/undo", "-first\r\n");
    REQUIRE(at.read_next("+one\r\n"));
    REQUIRE(at.read_next("changed in 2 files: made, old?"));
    REQUIRE(at.read_next("[n]o > "));
    at.type("y\r");
    REQUIRE(at.read_next("Taken back: made, old."));
    CHECK(here.text_of("made").empty());
    CHECK(here.text_of("old") == "one\nmore\n");
    CHECK(here.text_of("by_command") == "ran\n");
    ask(at, "/undo", "There is no change to take back.");
    ask(at, "/diff", "No call of write or edit has changed a file.");
    REQUIRE(at.read_next("Without what was taken back: 1 turn."));
    ask(at, "second", "You said: second");
    ask(at, "/save it.txt", "saved: it.txt");
    ask(at, "/diff", "+second");
  }
  SECTION("turn by turn, as long as nothing else came between") {
    here.folder.write("old", "one\nmore\n");
    ask(at, "second", "You said: second");
    ask(at, "/undo", "Take back what \"second\"");
    at.type("y\r");
    REQUIRE(at.read_next("Taken back: made, old."));
    CHECK(here.text_of("made") == "first\n");
    here.folder.write("old", "mine\n");
    ask(at, "/undo", "old was changed since");
    REQUIRE(at.read_next("Nothing was taken back: it is all of a turn"));
    CHECK(here.text_of("made") == "first\n");
    // As behind a kill: what is as it was already is no hindrance.
    here.folder.write("old", "one\nmore\n");
    ask(at, "/undo", "old is as before already.");
    REQUIRE(at.read_next("Take back what \"first\" changed in 1 file: made?"));
    at.type("y\r");
    REQUIRE(at.read_next("Taken back: made. old was as before already. The"));
    CHECK(here.text_of("made").empty());
  }
  CHECK(leave(at) == 0);
}

TEST_CASE("a turn that changed nothing costs no /undo of its own") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{
      here.folder.path(), {"chat", "--no-color", "--approve", "all"}, 110};
  ask(at, "first", "You said: first");
  here.folder.write("old", "one\nmore\n");
  ask(at, "second", "You said: second");
  SECTION("what it wrote was there before") {
    // "one" is not there any more, and `made` is what the task makes of it.
    ask(at, "second", "You said: second");
    ask(at, "/undo", "\"second\" changed nothing: what it wrote was there");
    REQUIRE(at.read_next("Take back what \"second\" changed in 2 files: made"));
    at.type("y\r");
    REQUIRE(at.read_next("Taken back: made, old."));
    CHECK(here.text_of("made") == "first\n");
    ask(at, "/undo", "Take back what \"first\" changed in 1 file: made?");
    at.type("n\r");
    REQUIRE(at.read_next("Nothing was taken back."));
    const auto& all = at.written();
    const auto told = all.find("changed nothing");
    CHECK(all.find("changed nothing", told + 1) == all.npos);
  }
  SECTION("its files are as they were") {
    const auto as_before = [&] {
      here.folder.write("made", "first\n");
      here.folder.write("old", "one\nmore\n");
    };
    const auto asks = [&] {
      ask(at, "/undo",
          "What \"second\" changed is as it was before: made, old.");
      // `old` is what it was before the first turn, too.
      REQUIRE(
          at.read_next("Take back what \"first\" changed in 1 file: made?"));
    };
    as_before();
    asks();
    at.type("n\r");
    REQUIRE(at.read_next("Nothing was taken back."));
    // A no is none for all of them.
    here.folder.write("made", "second\n");
    here.folder.write("old", "two\nmore\n");
    ask(at, "/undo",
        "Take back what \"second\" changed in 2 files: made, old?");
    at.type("n\r");
    REQUIRE(at.read_next("Nothing was taken back."));
    as_before();
    asks();
    at.type("y\r");
    REQUIRE(at.read_next("Taken back: made. old was as before already."));
    CHECK(here.text_of("made").empty());
    ask(at, "/undo", "There is no change to take back.");
  }
  SECTION("nor does it hide that there is no other") {
    ask(at, "/undo", "Take back what \"second\"");
    at.type("y\r");
    REQUIRE(at.read_next("Taken back: made, old."));
    std::filesystem::remove(here.folder.path() / "made");
    ask(at, "/undo", "What \"first\" changed is as it was before: made, old.");
    REQUIRE(at.read_next("Count it as taken back?"));
    at.type("n\r");
    REQUIRE(at.read_next("Nothing was taken back."));
    ask(at, "/undo", "Count it as taken back?");
    at.type("y\r");
    REQUIRE(at.read_next("Taken back: made, old."));
    ask(at, "/undo", "There is no change to take back.");
  }
  CHECK(leave(at) == 0);
}

TEST_CASE("the changes of a folder's newest session are asked for by no name") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  const auto runs = [&](const std::filesystem::path& folder,
                        std::vector<std::string> words) {
    words.insert(words.end(), {"--no-color", "--config",
                               (here.folder.path() / "riffle.toml").string()});
    terminal_program at{folder, words, 200};
    CHECK(at.finish() == 0);
    return at.written();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != text.npos);
  };
  const auto sub = here.folder.path() / "sub";
  std::filesystem::create_directories(sub);
  runs(here.folder.path(),
       {"run", "--session", "tea", "--approve", "all", "first"});
  runs(sub, {"run", "--session", "milk", "--approve", "none", "second"});
  const auto whole = std::filesystem::canonical(here.folder.path()).string();
  const auto shown = runs(here.folder.path(), {"sessions", "diff"});
  has(shown, "Session tea in " + whole + "\r\n\r\nmade  +1 -0, new\r\n");
  has(runs(here.folder.path(), {"sessions", "diff", "--output", "json"}),
      "\"folder\":\"" + whole + "\"");
  has(runs(here.folder.path(), {"sessions", "diff", "tea", "no.cpp"}),
      "no call of write or edit has changed no.cpp; the session changed made, "
      "old");
  has(runs(sub, {"sessions", "diff"}),
      "in session milk no call of write or edit has changed a file");
}

TEST_CASE("who decides is changed within a conversation, and seen") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  ask(at, "/approve", "You are asked about calls as the configuration has it.");
  ask(at, "/approve everything", "/approve ask, all or none");
  ask(at, "/approve none", "calls that need your approval are denied");
  REQUIRE(at.read_next("(approves none) > "));
  at.type("first\r");
  // Nobody gave an option.
  REQUIRE(at.read_next("✗ denied: this run approves no calls"));
  REQUIRE(at.read_next("You said: first"));
  CHECK(here.text_of("made").empty());
  ask(at, "/approve all", "calls run without a question");
  at.type("second\r");
  REQUIRE(at.read_next("You said: second"));
  CHECK(here.text_of("made") == "second\n");
  ask(at, "/approve ask", "You are asked about calls");
  REQUIRE(at.read_next("\r> "));
  at.type("third\r");
  REQUIRE(at.read_next("[?] > "));
  at.answer("s");
  CHECK(leave(at) == 0);
  CHECK(here.text_of("made") == "second\n");
}

TEST_CASE("who decides is changed beside a question, which that answers") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  SECTION("all of them are approved") {
    ask(at, "first", "[?] > ");
    at.type("/approve all\r");
    REQUIRE(at.read_next("From here calls run without a question"));
    REQUIRE(at.read_next("You said: first"));
    CHECK(at.written().find("Not asked") == std::string::npos);
    CHECK(at.written().find("approved by") == std::string::npos);
    CHECK(here.text_of("made") == "first\n");
    CHECK(here.text_of("by_command") == "ran\n");
  }
  SECTION("or none, and then the person is asked again") {
    ask(at, "first", "[?] > ");
    at.type("/approve none\r");
    REQUIRE(at.read_next("calls that need your approval are denied"));
    REQUIRE(at.read_next("✗ denied: this run approves no calls"));
    REQUIRE(at.read_next("✗ denied: this run approves no calls"));
    CHECK(at.written().find("Denied, /approve none") == std::string::npos);
    REQUIRE(at.read_next("You said: first"));
    CHECK(here.text_of("made").empty());
    ask(at, "/approve ask", "You are asked about calls");
    ask(at, "second", "[?] > ");
    at.answer("s");
  }
  CHECK(leave(at) == 0);
}

TEST_CASE("what was said elsewhere is read before it is answered") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  const std::vector<std::string> talk{"chat", "--no-color", "--approve",
                                      "none", "--session",  "tea"};
  terminal_program one{here.folder.path(), talk, 110};
  ask(one, "first", "You said: first");
  terminal_program other{here.folder.path(), talk, 110};
  REQUIRE(other.read_next("You said: first"));
  ask(other, "second", "You said: second");
  ask(one, "third", "1 turn was added to this session elsewhere");
  REQUIRE(one.read_next("the last: > second\r\nYou said: second"));
  REQUIRE(one.read_next("It was not sent: Enter sends it."));
  REQUIRE(one.read_next("> third"));
  one.type("\r");
  REQUIRE(one.read_next("You said: third"));
  ask(one, "fourth", "You said: fourth");
  ask(other, "fifth", "2 turns were added to this session elsewhere");
  REQUIRE(other.read_next("> fifth"));
  CHECK(leave(one) == 0);
  other.type("\x15/quit\r");  // Ctrl-U
  CHECK(other.finish() == 0);
}

TEST_CASE("a command that wants the terminal has it, no other reads from it") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  here.folder.write("vi",
                    "#!/bin/sh\ntest -t 0 && test -t 1 && echo has a terminal "
                    "&& read x && echo got $x\n");
  std::filesystem::permissions(here.folder.path() / "vi",
                               std::filesystem::perms::owner_all);
  terminal_program at{
      here.folder.path(), {"chat", "--no-color", "--approve", "none"}, 110};
  ask(at, "!cat; echo the end", "the end");
  ask(at, "!./vi", "has a terminal");
  at.type("a line\n");
  REQUIRE(at.read_next("got a line"));
  REQUIRE(at.read_next("The model is told that it ran, not what it showed."));
  ask(at, "!git init -q . && git config alias.ed '!./vi' && echo $((6 * 7))",
      "\n42");
  ask(at, "!git ed", "has a terminal");
  at.type("a word\n");
  REQUIRE(at.read_next("got a word"));
  ask(at, "!printf 'Your name? '", "It had no keyboard");
  ask(at, "!! echo begun; read x && echo $x$x", "\nbegun");
  at.type("twice\n");
  REQUIRE(at.read_next("twicetwice"));
  ask(at, "go on", "You said: go on");
  CHECK(leave(at) == 0);
}

TEST_CASE(
    "behind /diff stands what was changed, behind /resume what was when") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  {
    terminal_program at{
        here.folder.path(), {"chat", "--no-color", "--approve", "all"}, 110};
    ask(at, "first", "You said: first");
    REQUIRE(at.read_next(at_prompt));
    at.type("/diff ");
    REQUIRE(at.read_next("    made  +1 -0, new"));
    REQUIRE(at.read_next("    old   +1 -1"));
    at.type("\x15/undo\r");
    REQUIRE(at.read_next("[y]es, [n]o > "));
    at.type("y\r");
    REQUIRE(at.read_next("Taken back: made, old."));
    ask(at, "again", "You said: again");
    // Without what was taken back, and without the other files that are here.
    REQUIRE(at.read_next(at_prompt));
    at.type("/diff o");
    REQUIRE(at.read_next("    old  +1 -1"));
    at.type("\x15/quit\r");
    CHECK(at.finish() == 0);
    CHECK(at.written().find(", 2 changes") == std::string::npos);
    CHECK(at.written().find("s.toml") == std::string::npos);
  }
  const temp_folder other;
  std::filesystem::copy(here.folder.path() / "s.toml", other.path());
  other.write("riffle.toml",
              "[runtime]\ndata_dir = \"" +
                  (here.folder.path() / "data").string() +
                  "\"\n[models.default]\ndialect = \"scripted\"\nmodel = "
                  "\"s\"\nscript = \"s.toml\"\n");
  terminal_program at{other.path(), {"chat", "--no-color"}, 140};
  REQUIRE(at.read_next(at_prompt));
  at.type("/resume ");
  const auto folder = here.folder.path().string();
  REQUIRE(at.read_next("    first  just now, " + folder));
  at.type("\x15/quit\r");
  CHECK(at.finish() == 0);
}
