// SPDX-License-Identifier: MIT
// What a call would do, as rows of a terminal: whole, once, and harmless.
#include "runtime/cli/view/approval_picture.hpp"

#include <nlohmann/json.hpp>

#include "runtime/cli/terminal/terminal_kind.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using rows = std::vector<std::string>;

namespace {

events::approval_required a_command(const std::string& command) {
  events::approval_required x;
  x.tool = "bash";
  x.title = "Running: " + command.substr(0, 60);
  x.arguments = nlohmann::json{{"command", command}}.dump();
  x.preview = command;
  x.reason = "`bash` changes something";
  return x;
}

rows pictured(const events::approval_required& x, std::size_t columns,
              std::size_t height = 24) {
  return approval_picture(x, false, {.columns = columns, .rows = height});
}

}  // namespace

TEST_CASE("a command stands there once, whole, wrapped at words") {
  const auto x = a_command(
      "git commit -m 'A message that is long enough to need more than one row "
      "of any narrow terminal' && git push\nmake");
  CHECK(pictured(x, 60) ==
        rows{"[APPROVAL] bash wants to run:",
             "│ git commit -m 'A message that is long enough to need ",
             "┊ more than one row of any narrow terminal' && git push",
             "│ make"});
  CHECK(pictured(x, 200) ==
        rows{"[APPROVAL] bash wants to run:",
             "│ git commit -m 'A message that is long enough to need more than "
             "one row of any narrow terminal' && git push",
             "│ make"});
}

TEST_CASE("lines that only get other ends are not replaced by themselves") {
  events::approval_required x;
  x.tool = "write";
  x.title = "Writing notes.md";
  x.reason = "`write` changes something";
  x.arguments = R"({"content":"l1\r\n","path":"notes.md"})";
  x.preview = "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-l1\n+l1\r\n";
  CHECK(pictured(x, 80) == rows{"[APPROVAL] write: Writing notes.md",
                                "│ line ends: LF → CRLF", "│ @@ -1 +1 @@",
                                "│ -l1", "│ +l1\\x0d"});
  CHECK(approval_picture(x, false,
                         {.columns = 80, .rows = 24, .ascii = true})[1] ==
        "| line ends: LF -> CRLF");
}

TEST_CASE("what a preview does not show stands beside it") {
  auto x = a_command("make");
  x.arguments = R"({"command":"make","timeout_ms":5000})";
  x.reason = "a rule asks before this call of `bash`";
  CHECK(pictured(x, 80) ==
        rows{"[APPROVAL] bash wants to run — a rule asks before this call of "
             "`bash`:",
             "│ timeout_ms: 5000", "│ make"});
  x.tool = "ticket";
  x.title = "Using ticket";
  x.preview = "";
  x.reason = "`ticket` changes something";
  const rows all{"[APPROVAL] ticket wants to run:", "│ command: \"make\"",
                 "│ timeout_ms: 5000"};
  CHECK(pictured(x, 80) == all);
  x.title = "Using ticket: make";
  CHECK(pictured(x, 80) == all);
}

TEST_CASE("of several tasks a question says whose it is") {
  auto x = a_command("make");
  x.title = "[2/4] " + x.title;
  CHECK(pictured(x, 80) ==
        rows{"[APPROVAL] [2/4] bash wants to run:", "│ make"});
  x.tool = "write";
  x.title = "[2/4] Writing a.txt";
  x.reason = "`write` changes something";
  CHECK(pictured(x, 80).front() == "[APPROVAL] [2/4] write: Writing a.txt");
  x.tool = "bash";
  x.title = "[not/4] a title of a tool";
  x.reason = "`bash` changes something";
  CHECK(pictured(x, 80).front() == "[APPROVAL] bash wants to run:");
}

TEST_CASE("all of a new file is new, and its diff has no place") {
  auto x = a_command("");
  x.tool = "write";
  x.title = "Writing a.md";
  x.arguments = R"({"path":"a.md","content":"one\n"})";
  x.preview = "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+one\n";
  x.reason = "`write` changes something";
  CHECK(pictured(x, 80) ==
        rows{"[APPROVAL] write: Writing a.md (a new file)", "│ +one"});
  x.preview = "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-two\n+one\n";
  CHECK(pictured(x, 80) == rows{"[APPROVAL] write: Writing a.md",
                                "│ @@ -1 +1 @@", "│ -two", "│ +one"});
}

TEST_CASE("no row is as wide as the terminal, whatever is in it") {
  for (const auto* text :
       {"echo 日本語のとても長い文字列日本語のとても長い文字列日本語の",
        "echo שלום עולם זה משפט ארוך מאוד שצריך יותר משורה אחת",
        "echo \U0001F469\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466"
        "\U0001F469\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466",
        "echo e\xCC\x81t\xC3\xA9 e\xCC\x81t\xC3\xA9",
        "tab\tand\ttab\tand\ttab\tand\ttab\tand\ttab", "\x1b[31m\r\x07"}) {
    for (const std::size_t columns : {12, 20, 60, 80, 110, 200}) {
      CAPTURE(text, columns);
      std::string all;
      for (const auto& row : pictured(a_command(text), columns)) {
        CHECK(columns_of(row) < columns);
        CHECK(row.find_first_of("\t\x1b\r\n\x07") == row.npos);
        all += row;
      }
      CHECK(all.find("…") == all.npos);
    }
  }
}

TEST_CASE("ten thousand lines are counted, and all of them shown on wish") {
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += "echo " + std::to_string(i) + "\n";
  const auto x = a_command(lines);
  const auto some = pictured(x, 80);
  REQUIRE(some.size() == 1 + 16 + 1);
  CHECK(some[8] == "│ echo 7");
  CHECK(some[9] == "  … 9984 more lines ([v]iew shows all)");
  CHECK(some[10] == "│ echo 9992");
  CHECK(some.back() == "│ echo 9999");  // what it does may stand there
  const auto all =
      approval_picture(x, false, {.columns = 80, .rows = 24, .whole = true});
  REQUIRE(all.size() == 10'001);
  CHECK(all.back() == "│ echo 9999");
}

TEST_CASE("a path that a title would show otherwise stands below it, whole") {
  const std::string path =
      GENERATE(as<std::string>{}, "a\u200Bb.txt", "a  b.txt",
               std::string(160, 'a'), "plain.txt");
  events::approval_required x;
  x.tool = "write";
  x.title = "Writing " + path;
  x.arguments = nlohmann::json{{"path", path}, {"content", "x\n"}}.dump();
  x.preview = "--- /dev/null\n+++ b/" + path + "\n@@ -0,0 +1 @@\n+x\n";
  std::string shown;
  for (const auto& row :
       approval_picture(x, false, {.columns = 400, .rows = 24}))
    shown += row + "\n";
  INFO(shown);
  if (path == "plain.txt") {
    CHECK(shown.find("path:") == std::string::npos);
  } else if (path.starts_with("a\u200B")) {
    CHECK(shown.find("path: \"a\\u{200b}b.txt\"") != std::string::npos);
  } else {
    CHECK(shown.find("path: \"" + path + "\"") != std::string::npos);
  }
}

TEST_CASE("a terminal without UTF-8 gets ASCII") {
  auto x = a_command("echo é\xE2\x80\xA6\nls");
  x.reason = "a rule";
  CHECK(
      approval_picture(x, false, {.columns = 20, .rows = 24, .ascii = true}) ==
      rows{"[APPROVAL] bash ", "  wants to run - a ",
           "  rule:", "| echo \\u{e9}...", "| ls"});
  CHECK(lacks_utf8("C", nullptr, "en_US.UTF-8"));
  CHECK(lacks_utf8("", "de_DE.ISO-8859-1", nullptr));
  CHECK_FALSE(lacks_utf8(nullptr, "", "en_US.utf8"));
  CHECK_FALSE(lacks_utf8("C.UTF-8", nullptr, "C"));
  CHECK_FALSE(lacks_utf8(nullptr, nullptr, nullptr));
}

TEST_CASE("a text of several lines is shown as lines") {
  events::approval_required x;
  x.tool = "files__write_file";
  x.title = "Using files to write file";
  x.arguments =
      nlohmann::ordered_json{{"path", "a.txt"}, {"content", "one\n\ttwo\n"}}
          .dump();
  x.reason = "`files__write_file` changes something";
  CHECK(pictured(x, 60) ==
        rows{"[APPROVAL] files__write_file: Using files to write file",
             "│ path: \"a.txt\"", "│ content:", "│   one", "│       two"});
  // What is no line of a text stays exact.
  x.arguments = R"({"content":"one\n\u001b[31mtwo"})";
  const auto coded = pictured(x, 60);
  REQUIRE(coded.size() >= 4);
  CHECK(rows{coded.end() - 4, coded.end()} ==
        rows{"│ content, each line as JSON:", "│   \"one\"",
             "│   \"\\u001b[31mtwo\"", "│   (no line end behind it)"});
  x.arguments = R"({"content":"one\ntwo"})";
  CHECK(pictured(x, 60).back() == "│   (no line end behind it)");
  // Nor does a name draw a member of its own.
  x.arguments = nlohmann::json{{"a: 1\npath", "/q"}}.dump();
  CHECK(pictured(x, 60).back() == R"(│ "a: 1\npath": "/q")");
}

TEST_CASE("a picture and what it left out are all of it, and nothing twice") {
  const std::string tool = GENERATE("bash", "write", "own");
  const std::size_t height = GENERATE(8, 24, 40, 200);
  CAPTURE(tool, height);
  std::vector<std::string> lines;
  std::string all;
  for (int i = 0; i < 60; ++i) {
    lines.push_back("line " + std::to_string(i));
    all += lines.back() + "\n";
  }
  auto x = a_command(all);
  x.tool = tool;
  x.preview = all;
  if (tool != "bash") x.arguments = R"({"path":"a"})";
  const picture_options options{.columns = 60, .rows = height};
  auto seen = left_out_of_picture(x, false, options);
  for (const auto& row : approval_picture(x, false, options))
    if (const auto at = row.find("line "); at != row.npos)
      seen += row.substr(at) + "\n";
  for (const auto& line : lines) {
    const auto at = ("\n" + seen).find("\n" + line + "\n");
    CAPTURE(line);
    REQUIRE(at != seen.npos);
    CHECK(("\n" + seen).find("\n" + line + "\n", at + 1) == seen.npos);
  }
  CHECK(left_out_of_picture(x, false, options).empty() == (height == 200));
}
