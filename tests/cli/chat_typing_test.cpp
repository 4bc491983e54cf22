// SPDX-License-Identifier: MIT
// What a person types in a conversation besides words: the queue, the editor,
// keys that stop and leave, outputs of calls.
#include <cstdlib>
#include <filesystem>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

constexpr auto slow = R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done" }
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml";

struct talk {
  explicit talk(const std::string& script, unsigned short width = 110)
      : columns{width},
        riffle{prepared(script), {"chat", "--no-color"}, width} {
    REQUIRE(riffle.read_next("/help shows"));
  }
  const std::filesystem::path& prepared(const std::string& script) {
    folder.write("s.toml", script);
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[tools.bash]\napproval = \"allow\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
    return folder.path();
  }
  [[nodiscard]] bool goes_on() const {
    return eventually(
        [&] { return std::filesystem::remove(folder.path() / "a"); });
  }
  [[nodiscard]] std::string picture() const {
    terminal_picture out{columns};
    out.feed(riffle.written());
    return out.text();
  }
  int leave() {
    riffle.type("\x04");
    return riffle.finish();
  }

  temp_folder folder;
  unsigned short columns;
  terminal_program riffle;
};

bool reads_in(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what waits in the queue is seen, and Up takes the last one back") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{slow};
  x.riffle.type("one\r");
  REQUIRE(x.riffle.read_next("Running: touch a"));
  x.riffle.type("two\rthree\r");
  REQUIRE(x.riffle.read_next("(2 queued, Enter: say it now, Up: three) > "));
  x.riffle.type("\x1b[A");
  REQUIRE(x.riffle.read_next("(1 queued) > three"));
  x.riffle.type(" times\r");
  REQUIRE(
      x.riffle.read_next("(2 queued, Enter: say it now, Up: three times) > "));
  for (const auto* const said : {"one", "two", "three times"}) {
    REQUIRE(x.goes_on());
    REQUIRE(x.riffle.read_next("You said: " + std::string{said}));
  }
  CHECK(x.leave() == 0);
}

TEST_CASE("Ctrl-D while a run works is seen, and once more takes it back") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{slow};
  x.riffle.type("one\r");
  REQUIRE(x.riffle.read_next("Running: touch a"));
  x.riffle.type("\x04");
  REQUIRE(x.riffle.read_next("(leaves when the run has ended)"));
  const bool stays = GENERATE(true, false);
  if (stays) {
    x.riffle.type("\x04!");
    REQUIRE(x.riffle.read_next("> !"));
  }
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: one"));
  if (stays) {
    REQUIRE(x.riffle.read_next("> !"));
    x.riffle.type("\x03\x04");
  }
  CHECK(x.riffle.finish() == 0);
}

TEST_CASE("what stands in the line, or waits, is not lost by leaving") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{slow};
  x.riffle.type("one\r");
  REQUIRE(x.riffle.read_next("Running: touch a"));
  x.riffle.type("\x04");
  REQUIRE(x.riffle.read_next("(leaves when the run has ended)"));
  const bool queued = GENERATE(true, false);
  x.riffle.type(queued ? "two\r" : "two");
  REQUIRE(x.riffle.read_next(
      queued ? "(1 queued, Enter: say it now, Up: two) (leaves behind that)"
             : "(leaves once this line is empty) > two"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: one"));
  if (queued) {
    REQUIRE(x.goes_on());
    REQUIRE(x.riffle.read_next("You said: two"));
  } else {
    REQUIRE(x.riffle.read_next("> two"));
    x.riffle.type("\x03\x04");
  }
  CHECK(x.riffle.finish() == 0);
}

TEST_CASE("what waits behind /quit is named, and Tab completes meanwhile") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{slow};
  x.riffle.type("one\r");
  REQUIRE(x.riffle.read_next("Running: touch a"));
  x.riffle.type("/qu");
  REQUIRE(x.riffle.read_next("> /qu"));
  x.riffle.type("\t");
  REQUIRE(x.riffle.read_next("> /quit"));
  x.riffle.type("\rmore\r!ls\rhalf a");
  REQUIRE(x.riffle.read_next("(3 queued) > half a"));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("You said: one"));
  REQUIRE(x.riffle.read_next("Not sent: more, !ls, half a"));
  CHECK(x.riffle.finish() == 0);
}

TEST_CASE("of a text of several lines it is seen that there are more") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{slow};
  x.riffle.type("one\r");
  REQUIRE(x.riffle.read_next("Running: touch a"));
  x.riffle.type("\x1b[200~y\ny\x1b[201~");
  REQUIRE(x.riffle.read_next("(1 line above) > "));
  x.riffle.type("\x15\x7f\x15");
  x.riffle.type("\x1b[200~y\ny\n\x1b[201~");
  REQUIRE(x.riffle.read_next("(2 lines above) > "));
  x.riffle.type("\x03");
  REQUIRE(x.riffle.read_next("What it did and said is kept."));
  REQUIRE(x.riffle.read_next("> "));
  x.riffle.type("\x03\x04");
  CHECK(x.riffle.finish() == 0);
}

TEST_CASE("of a long text the part around the cursor is seen") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{slow, 60};
  x.riffle.type("one\r");
  REQUIRE(x.riffle.read_next("Running: touch a"));
  std::string numbers;
  for (int i = 10; i < 60; ++i) numbers += std::to_string(i) + " ";
  x.riffle.type(numbers + "end");
  REQUIRE(x.riffle.read_next(" 59 end"));
  x.riffle.type(
      "\x01"
      "A");  // Home
  REQUIRE(x.riffle.read_next("> A│10 11"));
  x.riffle.type(
      "\x05"
      "Z");  // End
  REQUIRE(x.riffle.read_next(" 59 endZ"));
  x.riffle.type("\x1b[200~\nsecond\x1b[201~\x1b[A\x01");
  REQUIRE(x.riffle.read_next("(1 line below) > │A10 11"));
  x.riffle.type("\x03");
  REQUIRE(x.riffle.read_next("What it did and said is kept."));
  REQUIRE(x.riffle.read_next("\x1b[?2004h"));
  x.riffle.type("\x03\x04");
  CHECK(x.riffle.finish() == 0);
}

TEST_CASE("Esc stops the run, and an arrow does not") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{slow};
  x.riffle.type("one\r");
  REQUIRE(x.riffle.read_next("Running: touch a"));
  x.riffle.type("ab\x1b[Dx");
  REQUIRE(x.riffle.read_next("> ax│b"));
  CHECK_FALSE(reads_in(x.riffle.written(), "Stopped after "));
  x.riffle.type("\x1b");
  REQUIRE(x.riffle.read_next("Stopped after "));
  REQUIRE(x.riffle.read_next("What it did and said is kept."));
  REQUIRE(x.riffle.read_next("> axb"));
  x.riffle.type("\x03\x04");
  CHECK(x.riffle.finish() == 0);
}

TEST_CASE("the text is opened in an editor and comes back") {
  if (!has_terminals()) return skip(no_terminals);
  temp_folder tools;
  tools.write("ed.sh", "#!/bin/sh\nprintf 'more\\n' >> \"$1\"\n");
  std::filesystem::permissions(tools.path() / "ed.sh",
                               std::filesystem::perms::owner_all);
  ::setenv("VISUAL", (tools.path() / "ed.sh").c_str(), 1);
  talk x{"[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n"};
  ::setenv("VISUAL", "nothing-like-it", 1);
  talk other{"[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n"};
  ::unsetenv("VISUAL");
  x.riffle.type("one \x18\x05");
  REQUIRE(x.riffle.read_next("> one more"));
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next("You said: one more"));
  CHECK(x.leave() == 0);
  other.riffle.type("kept\x18\x05");
  REQUIRE(other.riffle.read_next("VISUAL names \"nothing-like-it\""));
  REQUIRE(other.riffle.read_next("> kept"));
  other.riffle.type("\x03\x04");
  CHECK(other.riffle.finish() == 0);
}

TEST_CASE("/output shows what calls wrote, the newest first") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "for i in 1 2 3 4 5 6 7 8; do echo row $((i*11)); done" }
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "echo last $((6*7)); exit 3" }
[[steps]]
text = "So it is."
)toml"};
  x.riffle.type("/output\r");
  REQUIRE(x.riffle.read_next("No call has ended yet."));
  x.riffle.type("go\r");
  REQUIRE(x.riffle.read_next("So it is."));
  x.riffle.type("/output 2\r");
  REQUIRE(x.riffle.read_next("row 11\r\nrow 22\r\n"));
  REQUIRE(x.riffle.read_next("row 88"));
  x.riffle.type("/output\r");
  REQUIRE(x.riffle.read_next("last 42"));
  x.riffle.type("/output 3\r");
  REQUIRE(x.riffle.read_next("Only 2 calls have ended."));
  x.riffle.type("/output x\r");
  REQUIRE(x.riffle.read_next("/output N: a number, 1 is the last call"));
  CHECK(x.leave() == 0);
}

TEST_CASE("/output says so of a call that wrote nothing") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "true" }
[[steps]]
text = "So it is."
)toml"};
  x.riffle.type("go\r");
  REQUIRE(x.riffle.read_next("So it is."));
  x.riffle.type("/output\r");
  // It does not run any more.
  REQUIRE(x.riffle.read_next("bash: true\r\nIt wrote nothing."));
  CHECK(x.leave() == 0);
}

TEST_CASE("what looks like a file and is none is said") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{"[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n"};
  x.folder.write("f.txt", "a\nb\nc\n");
  x.riffle.type("see @f.txt:2-3, @f.txt:9\r");
  REQUIRE(x.riffle.read_next("f.txt has no line 9: it has"));
  x.riffle.type("\x15see @f.txt:2-3, @nothing.md and @data for @you\r");
  REQUIRE(x.riffle.read_next("attached: f.txt, lines 2 to 3"));
  REQUIRE(x.riffle.read_next("@nothing.md: there is no such file"));
  REQUIRE(x.riffle.read_next("@data is a folder"));
  REQUIRE(x.riffle.read_next("You said: see"));
  CHECK_FALSE(reads_in(x.riffle.written(), "@you: there"));
  CHECK(x.leave() == 0);
}

TEST_CASE("turns stand apart, and an empty Enter leaves nothing") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{"[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n"};
  REQUIRE(x.riffle.read_next("> "));
  x.riffle.type("\r\r");
  x.riffle.type("one\r");
  REQUIRE(x.riffle.read_next("You said: one"));
  REQUIRE(x.riffle.read_next("> "));
  x.riffle.type("two\r");
  REQUIRE(x.riffle.read_next("You said: two"));
  REQUIRE(x.riffle.read_next("> "));
  CHECK(x.leave() == 0);
  const auto text = x.picture();
  INFO(text);
  CHECK(reads_in(
      text, "typed.\n> one\nYou said: one\n\n> two\nYou said: two\n\n>\n"));
}
