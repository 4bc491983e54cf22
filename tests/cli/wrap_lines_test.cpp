// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/wrap_lines.hpp"

#include <sstream>

#include "runtime/cli/terminal/text_width.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::cli;

TEST_CASE("what is said is broken at blanks, and indented") {
  const std::string text = "riffle: one two three four five six\n\nshort\n";
  CHECK(wrap_lines(text, 0) == text);
  CHECK(wrap_lines(text, 36) == text);
  CHECK(wrap_lines(text, 25) ==
        "riffle: one two three\n  four five six\n\nshort\n");
  CHECK(wrap_lines("    deep one two three four", 22) ==
        "    deep one two\n      three four");
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
