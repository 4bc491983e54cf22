// SPDX-License-Identifier: MIT
#include "runtime/cli/markdown/markdown.hpp"

#include <chrono>
#include <random>

#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::cli;
using riffle::testing::terminal_picture;

namespace {

constexpr auto sample = R"(# A **big** title

First *words*, then `some code` and __more__: snake_case_name, 2 * 3 * 4.
A [link](https://a.b/c_d) that leads on, ~~gone~~, and \*stars\*.


- one item that is long enough to be wrapped by a narrow terminal, twice even
  - a **deep** one
    1. and a deeper one
10. ten
> said by *somebody* who had much to say about everything that there is to say
> - in a list

```cpp
int *p, **q;

  // indented and much longer than any terminal that is narrow could ever show it
```

| Name | What it *is* | n |
|:-----|:------------:|--:|
| a    | the first of the letters, as everybody knows | 1 |
| 日本 | `code | bar` | 1000 |

---
    four blanks are *code*
The end.)";

/// What a terminal shows, without its colours.
std::string shown(std::string_view text, std::size_t columns,
                  bool styled = true) {
  markdown x{styled};
  auto out = x.on(text, columns);
  out += x.finish(columns);
  terminal_picture picture{columns};
  picture.feed(out);
  return picture.text();
}

std::string bytes(std::string_view text, bool styled = true) {
  markdown x{styled};
  auto out = x.on(text, 80);
  return out + x.finish(80);
}

std::size_t widest(const std::string& text) {
  std::size_t out = 0;
  for_each_line(text, [&](std::string_view line) {
    out = std::max(out, columns_of(line));
  });
  return out;
}

}  // namespace

TEST_CASE("Markdown on 60 columns") {
  CHECK(shown(sample, 60) == R"(A big title

First words, then some code and more: snake_case_name, 2 *
3 * 4.
A link (https://a.b/c_d) that leads on, gone, and *stars*.

• one item that is long enough to be wrapped by a narrow
  terminal, twice even
  • a deep one
    1. and a deeper one
10. ten
│ said by somebody who had much to say about everything
│ that there is to say
│ • in a list

── cpp ─────────────────────────────────
int *p, **q;

  // indented and much longer than any terminal that is nar
┊ row could ever show it
────────────────────────────────────────

Name │                  What it is                  │    n
─────┼──────────────────────────────────────────────┼─────
a    │ the first of the letters, as everybody knows │    1
日本 │                  code | bar                  │ 1000

┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
    four blanks are *code*
The end.
)");
}

TEST_CASE("Markdown on 110 columns") {
  CHECK(shown(sample, 110) == R"(A big title

First words, then some code and more: snake_case_name, 2 * 3 * 4.
A link (https://a.b/c_d) that leads on, gone, and *stars*.

• one item that is long enough to be wrapped by a narrow terminal, twice even
  • a deep one
    1. and a deeper one
10. ten
│ said by somebody who had much to say about everything that there is to say
│ • in a list

── cpp ─────────────────────────────────
int *p, **q;

  // indented and much longer than any terminal that is narrow could ever show it
────────────────────────────────────────

Name │                  What it is                  │    n
─────┼──────────────────────────────────────────────┼─────
a    │ the first of the letters, as everybody knows │    1
日本 │                  code | bar                  │ 1000

┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
    four blanks are *code*
The end.
)");
}

TEST_CASE("however the pieces are cut, the same bytes come out") {
  std::mt19937 random{riffle::testing::fresh_seed()};
  for (const bool styled : {true, false}) {
    const auto whole = bytes(sample, styled);
    for (int round = 0; round < 200; ++round) {
      std::string_view rest = sample;
      markdown x{styled};
      std::string out;
      while (!rest.empty()) {
        auto n = std::min<std::size_t>(1 + random() % 9, rest.size());
        while (n < rest.size() && (rest[n] & '\xC0') == '\x80') ++n;
        out += x.on(rest.substr(0, n), 80);
        rest.remove_prefix(n);
        // What stands there is not taken back.
        REQUIRE(whole.starts_with(out));
      }
      REQUIRE(out + x.finish(80) == whole);
    }
  }
}

TEST_CASE("random marks come out the same in pieces and whole") {
  constexpr std::string_view letters = "**__``~~[]()!&<;\\ \n#->|ab1.  \n-";
  std::mt19937 random{riffle::testing::fresh_seed()};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (auto n = random() % 60; n > 0; --n)
      text += letters[random() % letters.size()];
    CAPTURE(text);
    markdown x{true};
    std::string out;
    for (const char c : text) out += x.on({&c, 1}, 20);
    out += x.finish(20);
    markdown y{true};
    auto whole = y.on(text, 20);
    whole += y.finish(20);
    REQUIRE(out == whole);
  }
}

TEST_CASE("no row of words, items or tables is wider than the terminal") {
  const std::string_view text = sample;
  const std::string words{text.substr(0, text.find("```"))};
  const std::string table{text.substr(text.find("| Name"))};
  for (std::size_t columns = 30; columns < 200; ++columns) {
    CAPTURE(columns);
    CHECK(widest(shown(words, columns)) < columns);
    CHECK(widest(shown(table, columns)) < columns);
  }
  for (std::size_t columns = 1; columns < 30; ++columns) shown(sample, columns);
}

TEST_CASE("a column that cannot be broken at blanks has its width first") {
  const std::string text =
      "| File | What |\n|---|---|\n"
      "| actors/core/restart_policy.hpp | how often a child is begun again |\n";
  CHECK(shown(text, 60) ==
        "File                           │ What\n"
        "───────────────────────────────┼───────────────────────────\n"
        "actors/core/restart_policy.hpp │ how often a child is begun\n"
        "                               │ again\n");
  // Where words do not fit the widest column gives way.
  CHECK(widest(shown(text, 24)) < 24);
  // Wide characters may be broken without blanks.
  const std::string wide =
      "| a | b |\n|---|---|\n| 日本語日本語日本語日本語 | one-long-word |\n";
  CHECK(shown(wide, 30).find("one-long-word") != std::string::npos);
}

TEST_CASE("a word is shown at its end, a mark when it is closed") {
  markdown x{true};
  CHECK(x.on("Hello wor", 80) == "Hello");
  CHECK(x.on("ld, this is ", 80) == " world, this is");
  CHECK(x.on("**ve", 80).empty());
  CHECK(x.on("ry** ", 80) == " \x1b[1mvery\x1b[0m");
  CHECK(x.on("good", 80).empty());
  CHECK(x.pause(80) == " good\n");
  CHECK(x.on("and *so", 80) == "and");
  CHECK(x.finish(80) == " *so\n");
}

TEST_CASE("a mark that is not closed soon is none") {
  markdown x{true};
  x.on("**", 80);
  std::string out;
  for (std::size_t i = 0; i < longest_marked; ++i) out += x.on("ab ", 80);
  CHECK(out.starts_with("**ab ab"));
}

TEST_CASE("words go below traces without a blank line of their own") {
  markdown x{true};
  CHECK(x.on("one\n\n", 80) == "one\n");
  x.broken(true);
  CHECK(x.on("two\n\nthree\n", 80) == "two\n\nthree\n");
  CHECK(x.on("- it goes ", 80) == "• it goes");
  x.broken(false);
  CHECK(x.on("on ", 80) == "  on");
}

TEST_CASE("what a cut stream held is never shown") {
  markdown x{true};
  CHECK(x.on("| a | b |\n|---|---|\n| 1 | 2 |\n", 80).empty());
  x.drop();
  CHECK(x.on("new\n", 80) == "new\n");
}

TEST_CASE("lines that only look like a table are text") {
  CHECK(shown("| not a table\nbut text\n", 80) == "| not a table\nbut text\n");
  CHECK(shown("| a |\n| b |\n", 80) == "| a |\n| b |\n");
  CHECK(shown("| alone |", 80) == "| alone |\n");
  CHECK(shown("|a|b|\n|-|-|\n|1|2|", 6) == "|a|b|\n|-|-|\n|1|2|\n");
}

TEST_CASE("fences end where they end") {
  CHECK(shown("````\n```\ncode\n````\nx", 20) ==
        "───────────────────\n```\ncode\n───────────────────\nx\n");
  CHECK(shown("```code``` in a line", 40) == "code in a line\n");
  CHECK(shown("~~~\nopen", 10) == "─────────\nopen\n─────────\n");
  CHECK(bytes("```diff\n+a\n-b\n c\n```\n")
            .find("\x1b[32m+a\x1b[0m\n\x1b[31m-b\x1b[0m\n c\n") !=
        std::string::npos);
}

TEST_CASE("code that is wider than the terminal goes on behind a mark") {
  CHECK(shown("```\n0123456789abcdefghij\n0123456789a\n```\n", 12) ==
        "───────────\n0123456789a\n┊ bcdefghij\n0123456789a\n───────────\n");
  CHECK(shown("x:\n\n    0123456789abc\n", 12) ==
        "x:\n\n    0123456\n┊ 789abc\n");
  CHECK(shown("```\n日本語の文字\n\tab\n```", 12) ==
        "───────────\n日本語の文\n┊ 字\n        ab\n───────────\n");
  // The mark has no colour of the line.
  markdown x{true};
  CHECK(x.on("```diff\n+0123456789abc\n", 12)
            .ends_with("\x1b[32m+0123456789\x1b[0m\n\x1b[2m┊ \x1b[0m"
                       "\x1b[32mabc\x1b[0m\n"));
}

TEST_CASE("a heading behind something has a blank line before it") {
  CHECK(shown("one\n# Two\nthree\n- a\n## Four\n### Five\n\n# Six\n", 40) ==
        "one\n\nTwo\nthree\n• a\n\nFour\nFive\n\nSix\n");
  CHECK(shown("```\nx\n```\n# Two", 40).ends_with("─\n\nTwo\n"));
  CHECK(shown("one\n## Two", 40, false) == "one\n\n## Two\n");
  CHECK(shown("# One", 40) == "One\n");
}

TEST_CASE("without styles the marks stay") {
  CHECK(bytes("## Title\n**bold** `code`\n- item", false) ==
        "## Title\n**bold** `code`\n• item\n");
}

TEST_CASE("wide characters are wrapped where they may be") {
  CHECK(shown("日本語の文章は空白なしで続く。長い", 13) ==
        "日本語の文章\nは空白なしで\n続く。長い\n");
  CHECK(shown("日本語の文章。続く", 13) == "日本語の文\n章。続く\n");
}

TEST_CASE("ten thousand of anything are no trouble") {
  const auto many = [](std::string_view one) {
    std::string out;
    for (int i = 0; i < 10'000; ++i) out += one;
    return out;
  };
  const auto begun = std::chrono::steady_clock::now();
  for (const auto& text :
       {many("*a "), many("`"), many("`a"), many("["), many("> "),
        many("**a*_b_"), many("| a | b |\n"), many("\n"), many("- x\n"),
        many("# "), many("|---"), "|a|\n|-|\n" + many("| b |\n")}) {
    markdown x{true};
    std::size_t n = 0;
    for (const char c : text) n += x.on({&c, 1}, 80).size();
    n += x.finish(80).size();
    CHECK(n < text.size() * 20);
  }
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{60});
}

TEST_CASE("what goes on behind a break is not indented by its blanks") {
  markdown x{false};
  CHECK(x.on("one two", 40) == "one");
  CHECK(x.pause(40) == " two\n");
  CHECK(x.on(" ", 40).empty());
  CHECK(x.on(" three", 40).empty());
  CHECK(x.on("\n  - an item", 40) == "three\n  • an");
  CHECK(x.pause(40) == " item\n");
  x.on("\n```\ncode", 40);
  x.pause(40);
  const auto deep = x.on("  deep\n", 40);
  CAPTURE(deep);
  CHECK(deep.find("  deep") != std::string::npos);
  CHECK(deep.ends_with("\n"));
}

TEST_CASE("a title that is underlined has a rule below it") {
  std::string rule;
  for (int i = 0; i < 40; ++i) rule += "─";
  for (const bool styled : {true, false}) {
    CHECK(shown("Title\n=====\n\nmore == less", 80, styled) ==
          "Title\n" + rule + "\n\nmore == less\n");
    CHECK(shown("Title\n==\nmore", 80, styled) ==
          "Title\n" + rule + "\nmore\n");
  }
  // Where no title stands above it, it is what it says.
  CHECK(shown("=====\n== a\n\n====\n", 80) == "=====\n== a\n\n====\n");
  CHECK(shown("```\na\n====\n```", 80).find("\n====\n") != std::string::npos);
  markdown x{true};
  std::string out;
  for (const char c : std::string_view{"Title\n=====\nmore\n"})
    out += x.on({&c, 1}, 80);
  CHECK(out + x.finish(80) == bytes("Title\n=====\nmore\n"));
}
