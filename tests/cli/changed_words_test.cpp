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
