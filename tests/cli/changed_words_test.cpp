// SPDX-License-Identifier: MIT
#include "runtime/cli/view/changed_words.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::cli;

namespace {

/// The line with what changed in brackets.
std::string marked(const std::string& line, const changed_parts& parts) {
  std::string out;
  std::size_t at = 0;
  for (const auto& x : parts) {
    out += line.substr(at, x.begin - at) + "[" +
           line.substr(x.begin, x.end - x.begin) + "]";
    at = x.end;
  }
  return out + line.substr(at);
}

}  // namespace

TEST_CASE("of a changed line the words that changed are known") {
  const std::vector<std::string> lines{" kept", "-let total = one + 2;",
                                       "+let total = eleven + 2;", " kept"};
  const auto found = changed_words(lines);
  REQUIRE(found.size() == 4);
  CHECK(found[0].empty());
  // Whole words, though both end with an "e" or begin so.
  CHECK(marked(lines[1], found[1]) == "-let total = [one] + 2;");
  CHECK(marked(lines[2], found[2]) == "+let total = [eleven] + 2;");
}

TEST_CASE("what stands between two changes of a line is none") {
  const std::vector<std::string> lines{
      "-Four cups at six hundred cents are 2,400 cents and this is a long line",
      "+Four cups at 600 cents are 2,400 cents and this is a longer line"};
  const auto found = changed_words(lines);
  REQUIRE(found.size() == 2);
  CHECK(marked(lines[0], found[0]) ==
        "-Four cups at [six hundred] cents are 2,400 cents and this is a "
        "[long] line");
  CHECK(marked(lines[1], found[1]) ==
        "+Four cups at [600] cents are 2,400 cents and this is a [longer] "
        "line");
  // Blanks and brackets are in any two lines.
  CHECK(changed_words({"-f(a, b, c)", "+g(d, e, h, i)"}) ==
        std::vector<changed_parts>(2));
}

TEST_CASE("words that changed with a blank between them are one part") {
  const std::vector<std::string> lines{"-set it to one two for now",
                                       "+set it to 1 2 for now"};
  const auto found = changed_words(lines);
  CHECK(marked(lines[0], found[0]) == "-set it to [one two] for now");
  CHECK(marked(lines[1], found[1]) == "+set it to [1 2] for now");
}

TEST_CASE("lines that have little in common are changed as a whole") {
  CHECK(changed_words({"-alpha", "+beta gamma"}) ==
        std::vector<changed_parts>(2));
  // Nobody knows which line took the place of which.
  CHECK(changed_words({"-let a = 1;", "+let a = 2;", "+let b = 3;"}) ==
        std::vector<changed_parts>(3));
  CHECK(changed_words({"+only added"}) == std::vector<changed_parts>(1));
  CHECK(changed_words({}).empty());
}

TEST_CASE("what was only added or taken away inside of a line is known") {
  const auto found = changed_words({"-call(a, b);", "+call(a);"});
  CHECK(found[0] == changed_parts{{7, 10}});
  CHECK(found[1].empty());
}

TEST_CASE("a part is set off in each row that it reaches") {
  const changed_parts part{{3, 6}};
  CHECK(painted_piece("-abcdef", 0, part, "\x1b[31m") ==
        "\x1b[31m-ab\x1b[7mcde\x1b[27mf\x1b[0m");
  CHECK(painted_piece("-abc", 0, part, "") == "-ab\x1b[7mc\x1b[27m\x1b[0m");
  CHECK(painted_piece("def", 4, part, "") == "\x1b[7mde\x1b[27mf\x1b[0m");
  CHECK(painted_piece("x", 9, part, "") == "x\x1b[0m");
  CHECK(painted_piece("-abcdef", 0, {{1, 2}, {5, 9}}, "") ==
        "-\x1b[7ma\x1b[27mbcd\x1b[7mef\x1b[27m\x1b[0m");
  CHECK(painted_piece("-x", 0, {}, "") == "-x\x1b[0m");
}

TEST_CASE("a diff whose lines end in two ways says which end in a CR") {
  const std::string head = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n";
  const std::string becomes = head + "-l1\n-l2\n+l1\r\n+l2\r\n";
  CHECK(with_line_ends(becomes) == head + "-l1\n-l2\n+l1\\x0d\n+l2\\x0d\n");
  CHECK(changed_line_ends(becomes) == "LF → CRLF");
  const std::string back = head + "-l1\r\n-l2\r\n+l1\n+l2\n";
  CHECK(with_line_ends(back) == head + "-l1\\x0d\n-l2\\x0d\n+l1\n+l2\n");
  CHECK(changed_line_ends(back) == "CRLF → LF");
  // A line of the other kind among those of a file.
  const std::string one = head + " l1\r\n-l2\r\n+l2\n";
  CHECK(with_line_ends(one) == head + " l1\\x0d\n-l2\\x0d\n+l2\n");
  CHECK(changed_line_ends(one).empty());
}

TEST_CASE("a file whose lines all end in CRLF is no noise") {
  const std::string head = "@@ -1,2 +1,2 @@\n";
  const std::string edited = head + " l1\r\n-l2\r\n+l3\r\n";
  CHECK(with_line_ends(edited) == head + " l1\n-l2\n+l3\n");
  CHECK(changed_line_ends(edited).empty());
  CHECK(changed_line_ends(head + "-l1\r\n+l2\r\n").empty());
  // What is said of lines that have no room is none of them.
  const std::string cut = edited + "[... not shown: +9 -9 lines]\n";
  CHECK(with_line_ends(cut) ==
        head + " l1\n-l2\n+l3\n[... not shown: +9 -9 lines]\n");
}

TEST_CASE("line ends are told where a diff has no room for all lines, too") {
  const std::string left_out = "[... not shown: +9 -9 lines]\n";
  const std::string head = "@@ -1,2 +1,2 @@\n";
  CHECK(changed_line_ends(head + "-a\n+a\r\n" + left_out) ==
        "LF → CRLF, as far as it is shown");
  CHECK(changed_line_ends("@@ -0,0 +1 @@\n+a\r\n" + left_out) ==
        "CRLF, as far as it is shown");
  CHECK(changed_line_ends("@@ -0,0 +1 @@\n+a\r\n\n[the rest is not shown]") ==
        "CRLF, as far as it is shown");
  CHECK(changed_line_ends("@@ -0,0 +1 @@\n+a\n" + left_out).empty());
  CHECK(changed_line_ends(head + "-a\r\n+b\r\n" + left_out).empty());
  // Where lines stand around, a part of the file changes.
  CHECK(changed_line_ends(head + " a\n-b\n+b\r\n" + left_out).empty());
}

TEST_CASE("the last line may have no end, and a new file has one kind") {
  const std::string none = "\\ No newline at end of file\n";
  const std::string last =
      "@@ -1,2 +1,2 @@\n-l1\n-l2\n" + none + "+l1\r\n+l2\n" + none;
  CHECK(with_line_ends(last) ==
        "@@ -1,2 +1,2 @@\n-l1\n-l2\n" + none + "+l1\\x0d\n+l2\n" + none);
  // A CR that ends no line is none of its end.
  CHECK(with_line_ends("@@ -0,0 +1 @@\n+l1\r\n" + none) ==
        "@@ -0,0 +1 @@\n+l1\\x0d\n" + none);
  const std::string made = "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n";
  CHECK(changed_line_ends(made + "+l1\r\n+l2\r\n") == "CRLF");
  CHECK(changed_line_ends(made + "+l1\n+l2\n").empty());
  CHECK(with_line_ends("no diff\r\n") == "no diff\r\n");
  CHECK(changed_line_ends("no diff\r\n").empty());
}
