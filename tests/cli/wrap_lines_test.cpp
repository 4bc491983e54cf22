// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/wrap_lines.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "runtime/cli/terminal/text_width.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using namespace riffle::cli;

TEST_CASE("what is said is broken at blanks, and indented") {
  const std::string text = "riffle: one two three four five six\n\nshort\n";
  CHECK(wrap_lines(text, 0) == text);
  CHECK(wrap_lines(text, 36) == text);
  CHECK(wrap_lines(text, 25) ==
        "riffle: one two three\n  four five six\n\nshort\n");
  CHECK(wrap_lines("    deep one two three four", 22) ==
        "    deep one two\n      three four");
  CHECK(wrap_lines("  /a [X]   does this and that", 24) ==
        "  /a [X]   does this\n           and that");
}

TEST_CASE("rows of a table are broken below their column") {
  const std::string row =
      "gbxvh4  open       bash: make test in all the folders  (just now)\n";
  CHECK(wrap_rows(row, 0) == row);
  CHECK(wrap_rows(row, 80) == row);
  CHECK(wrap_rows(row, 50) ==
        "gbxvh4  open       bash: make test in all the\n"
        "                   folders  (just now)\n");
  CHECK(wrap_rows("one two three four five six seven", 24) ==
        "one two three four five\n  six seven");
  // Where the last column begins too far to the right it is the one before.
  CHECK(wrap_rows("gbxvh4  open and a long word  bash: make", 32) ==
        "gbxvh4  open and a long word\n        bash: make");
  const std::string command = "  then: riffle proposals approve prop_1\n";
  CHECK(wrap_rows(row + command, 30).ends_with("\n" + command));
}

TEST_CASE("only a word that is too long for a row is cut") {
  CHECK(wrap_lines("see /a/very/long/path/to/it now", 23) ==
        "see\n  /a/very/long/path/to\n  /it now");
  CHECK(wrap_lines("日本語の長い文字列", 8) == "日本語\nの長い\n文字列");
}

TEST_CASE("the mark of a prompt stays behind its last word") {
  CHECK(wrap_lines("Approve these tools of x? [y]es, [n]o > ", 39) ==
        "Approve these tools of x? [y]es,\n  [n]o > ");
}

TEST_CASE("colours cost no column") {
  CHECK(
      wrap_lines("\x1b[2m[RUN]\x1b[0m \x1b[31mone two\x1b[0m three four", 24) ==
      "\x1b[2m[RUN]\x1b[0m \x1b[31mone two\x1b[0m three\n  four");
  CHECK(wrap_lines("\x1b[32m    +one two three four\x1b[0m", 23) ==
        "\x1b[32m    +one two three\n      four\x1b[0m");
}

TEST_CASE("no row is wider than the terminal, and no word is lost") {
  const std::string text =
      "[RETRY] tool bash: make -j2 all the 日本語 things: attempt 1 of 3 "
      "failed: "
      "https://example.com/a/very/long/address/that/does/not/end; again in 1s";
  for (std::size_t columns = 4; columns < 160; ++columns) {
    CAPTURE(columns);
    std::istringstream in{wrap_lines(text, columns)};
    std::string all;
    for (std::string row; std::getline(in, row);) {
      CHECK(columns_of(row) < columns);
      for (const char c : row)
        if (c != ' ') all += c;
    }
    std::string plain;
    for (const char c : text)
      if (c != ' ') plain += c;
    CHECK(all == plain);
  }
}

TEST_CASE("usage errors and lists of consents break between words") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const testing::temp_folder folder;
  testing::terminal_program wrong{
      folder.path(), {"run", "--approve", "maybe", "x"}, 40};
  CHECK(wrong.finish() == 2);
  CHECK(wrong.written().find("riffle: --approve: maybe not in\r\n") !=
        std::string::npos);
  folder.write("s.toml",
               "[[steps]]\n[[steps.calls]]\ntool = \"write\"\n"
               "arguments = { path = \"a\", content = \"x\" }\n"
               "[[steps]]\ntext = \"End.\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  testing::terminal_program run{folder.path(), {"run", "go"}, 60};
  REQUIRE(run.read_next("[s]top, "));
  run.answer("a");
  REQUIRE(run.read_next("[b]ack"));
  run.answer("t");
  CHECK(run.finish() == 0);
  const auto words = [&](unsigned short columns) {
    testing::terminal_program list{
        folder.path(), {"proposals", "always"}, columns};
    CHECK(list.finish() == 0);
    std::istringstream in{list.written()};
    std::vector<std::string> out;
    for (std::string row; std::getline(in, row);) {
      CHECK(columns_of(row) <= columns);
      std::istringstream all{row};
      for (std::string word; all >> word;) out.push_back(word);
    }
    return out;
  };
  const auto whole = words(250);
  CHECK(whole.size() > 8);
  CHECK(words(60) == whole);
}

TEST_CASE("a time stays behind its dash") {
  CHECK(wrap_lines("2 tasks: 2 done, $0.0232 — 16.6s\n", 32) ==
        "2 tasks: 2 done, $0.0232\n  — 16.6s\n");
}

TEST_CASE("what counts to the blank goes on behind a mark") {
  const std::string text = "+one two three four\n\n\tshort\n    end of it";
  CHECK(wrap_exact(text, 0) == text);
  CHECK(wrap_exact(text, 20) == text);
  CHECK(wrap_exact(text, 19) ==
        "+one two three \n┊ four\n\n\tshort\n    end of it");
  CHECK(wrap_exact("a\tb", 9) == "a       \n┊ b");
  CHECK(wrap_exact("abcdefghijklmn\n", 9) == "abcdefgh\n┊ ijklmn\n");
  CHECK(exact_rows("one two", 8, "│ ") ==
        std::vector<std::string>{"│ one ", "┊ two"});
}
