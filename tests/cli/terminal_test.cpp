// SPDX-License-Identifier: MIT
// The real program on a pseudo-terminal, with a scripted model.
#include <regex>
#include <sstream>

#include "runtime/cli/terminal/erasure.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

constexpr auto script = R"toml(
[[steps]]
text = "I look at 日本語.txt first. "
[[steps.calls]]
tool = "read"
arguments = { path = "日本語.txt" }
[[steps]]
text = "Now a command.\n"
[[steps.calls]]
tool = "bash"
arguments = { command = "echo one; sleep 0.5; printf '\\033[2Jtwo 👍\\n'; sleep 0.5 # and a comment that makes the line long" }
[[steps]]
text = "All is seen: {{step.0.result.0 | lines}} lines."
)toml";

void prepare(const temp_folder& folder, const char* steps = script) {
  folder.write("s.toml", steps);
  folder.write("日本語.txt", "eins\nzwei\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n"
               "[tools.bash]\napproval = \"allow\"\n");
}

/// Times and ids differ between runs.
std::string normal(std::string text) {
  text = std::regex_replace(text, std::regex{"run_[0-9a-z]{10,}"}, "RUN");
  text = std::regex_replace(text, std::regex{"ses_[0-9a-z]{10,}"}, "SESSION");
  return std::regex_replace(text, std::regex{"— [0-9.]+s"}, "— TIME");
}

std::string picture_of(const terminal_program& x, std::size_t columns) {
  terminal_picture out{columns};
  out.feed(x.written());
  return normal(out.text());
}

bool has_text(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a run on a real terminal of 80 columns") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  terminal_program riffle{folder.path(), {"run", "go"}, 80};
  CHECK(riffle.finish() == 0);
  CHECK(picture_of(riffle, 80) ==
        R"(I look at 日本語.txt first.
[TOOL] read: 日本語.txt (2 lines, 10 B) — TIME

Now a command.
[TOOL] bash: echo one; sleep 0.5; printf '\033[2Jtwo 👍\… (2 lines, 17 B) — TIME
    ^[[2Jtwo 👍

All is seen: 2 lines.
Go on: riffle run -c "TASK", or riffle -c
)");
  // While it worked, the status line showed what runs, and its progress.
  CHECK(has_text(riffle.written(), " Running: echo one; sleep 0.5;"));
  CHECK(has_text(riffle.written(), "… (one)"));
  CHECK(has_text(riffle.written(), "(^[[2Jtwo 👍)"));
  CHECK_FALSE(has_text(riffle.written(), "\x1b[2J"));
}

TEST_CASE("a run on a real terminal of 200 columns") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  terminal_program riffle{folder.path(), {"run", "go"}, 200};
  CHECK(riffle.finish() == 0);
  CHECK(picture_of(riffle, 200) ==
        R"(I look at 日本語.txt first.
[TOOL] read: 日本語.txt (2 lines, 10 B) — TIME

Now a command.
[TOOL] bash: echo one; sleep 0.5; printf '\033[2Jtwo 👍\n'; sleep 0.5 # and a comment that makes the line long (2 lines, 17 B) — TIME
    ^[[2Jtwo 👍

All is seen: 2 lines.
Go on: riffle run -c "TASK", or riffle -c
)");
}

TEST_CASE("with -v the end of a long output is shown, in whole lines") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "for i in $(seq 1 40); do echo line $i is so long that it has 37 letters; done" }
[[steps]]
text = "Done."
)toml");
  terminal_program riffle{folder.path(), {"run", "-v", "go"}, 80};
  CHECK(riffle.finish() == 0);
  const auto all = picture_of(riffle, 80);
  INFO(all);
  const std::string rest = " is so long that it has 37 letters\n";
  CHECK(has_text(all, "    … 30 lines before\n    line 31" + rest));
  CHECK(has_text(all, "    line 40" + rest));
}

TEST_CASE("colours and the status line depend on the terminal") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  const auto written = [&](std::vector<std::string> more,
                           const std::string& term) {
    more.insert(more.begin(), {"run", "go"});
    terminal_program riffle{folder.path(), more, 80, term};
    CHECK(riffle.finish() == 0);
    return riffle.written();
  };
  CHECK(has_text(written({}, "xterm"), "\x1b[2m[TOOL]\x1b[0m"));
  const auto plain = written({"--no-color"}, "xterm");
  CHECK_FALSE(has_text(plain, "\x1b[2m"));
  CHECK(has_text(plain, "\x1b[J"));
  for (const std::string term : {"dumb", ""}) {
    const auto dumb = written({}, term);
    CHECK_FALSE(has_text(dumb, "\x1b"));
    CHECK(has_text(dumb, "All is seen: 2 lines.\r\n"));
  }
  const auto quiet = written({"-q"}, "xterm");
  CHECK(quiet == "All is seen: 2 lines.\r\n");
}

TEST_CASE("the status line follows the terminal's width") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done # long enough to be cut" }
[[steps]]
text = "Done."
)toml");
  terminal_program riffle{folder.path(), {"run", "go", "--no-color"}, 80};
  REQUIRE(riffle.read_until("Running: touch a; while [ -e a ]; do"));
  riffle.resize(30);
  REQUIRE(riffle.read_until("Running: touch a; w…"));
  std::filesystem::remove(folder.path() / "a");
  CHECK(riffle.finish() == 0);
  CHECK(has_text(riffle.written(), "Done.\r\n"));
}

TEST_CASE("lines of the log stand above the status line, whole") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder);
  terminal_program riffle{
      folder.path(), {"run", "go", "--set", "runtime.log.level=info"}, 200};
  CHECK(riffle.finish() == 0);
  const auto picture = picture_of(riffle, 200);
  INFO(picture);
  std::istringstream in{picture};
  std::size_t lines = 0;
  const std::regex whole{
      "20[0-9-]+T[0-9:.]+Z info (run: RUN|process.space: ) ?.*|"
      ".*: completed in .*"};
  for (std::string line; std::getline(in, line);) {
    if (line.find(" info ") == std::string::npos) continue;
    ++lines;
    CHECK(std::regex_match(line, whole));
  }
  CHECK(lines >= 8);
  CHECK_FALSE(has_text(picture, "Waiting"));  // no status line is left
}

TEST_CASE("Ctrl-C on a terminal says that it cancels, and leaves no status") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; sleep 60" }
)toml");
  terminal_program riffle{folder.path(), {"run", "go"}, 80};
  REQUIRE(riffle.read_until("Running: touch a"));
  riffle.type("\x03");
  CHECK(riffle.finish() == 130);
  const auto text = picture_of(riffle, 80);
  CHECK(has_text(text, "✗ stopped after "));
  CHECK(has_text(text, "Stopped after "));
  CHECK_FALSE(has_text(text, "[RUN]"));
  CHECK_FALSE(has_text(text, "Running:"));
}

TEST_CASE("a second Ctrl-C stops at once and leaves a clean line") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "trap '' TERM INT; echo ready; while true; do sleep 1; done" }
)toml");
  terminal_program riffle{
      folder.path(), {"run", "go", "--set", "tools.kill_grace=5s"}, 80};
  REQUIRE(riffle.read_until("(ready)"));
  riffle.type("\x03");
  REQUIRE(riffle.read_until("cancelling; Ctrl-C once more stops at once"));
  riffle.type("\x03");
  CHECK(riffle.finish() == 130);
  CHECK(riffle.written().ends_with(" goes on.\r\n"));
  CHECK(has_text(picture_of(riffle, 80),
                 "Stopped at once; riffle sessions resume "));
  CHECK_FALSE(has_text(picture_of(riffle, 80), "cancelling"));
}

TEST_CASE("the model's Markdown is rendered, unless --raw is given") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, R"toml(
[[steps]]
text = """
# What I found

- **one** thing that is so long that a narrow terminal has to wrap it at a word
- `two`

| File | Lines |
|------|------:|
| a.cpp | 12 |

```
code
```
"""
)toml");
  for (const unsigned short columns : {60, 80, 110, 200}) {
    terminal_program riffle{folder.path(), {"run", "go"}, columns};
    CHECK(riffle.finish() == 0);
    const auto picture = picture_of(riffle, columns);
    const std::string item =
        columns < 80 ? "• one thing that is so long that a narrow terminal has "
                       "to\n  wrap it at a word\n"
                     : "• one thing that is so long that a narrow terminal has "
                       "to wrap it at a word\n";
    CHECK(picture == "What I found\n\n" + item + R"(• two

File  │ Lines
──────┼──────
a.cpp │    12

────────────────────────────────────────
code
────────────────────────────────────────
Go on: riffle run -c "TASK", or riffle -c
)");
    CHECK(has_text(riffle.written(), "\x1b[1mone\x1b[0m"));
  }
  terminal_program raw{folder.path(), {"run", "--raw", "go"}, 80};
  CHECK(raw.finish() == 0);
  CHECK(has_text(picture_of(raw, 80), "- **one** thing"));
  CHECK(has_text(picture_of(raw, 80), "|------|------:|\n"));
}
