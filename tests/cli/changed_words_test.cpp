// SPDX-License-Identifier: MIT
#include "runtime/cli/view/changed_words.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::cli;

TEST_CASE("of a changed line the words that changed are known") {
  const std::vector<std::string> lines{" kept", "-let total = one + 2;",
                                       "+let total = eleven + 2;", " kept"};
  const auto found = changed_words(lines);
  REQUIRE(found.size() == 4);
  CHECK(found[0] == changed_part{});
  // Whole words, though both end with an "e" or begin so.
  CHECK(lines[1].substr(found[1].begin, found[1].end - found[1].begin) ==
        "one");
  CHECK(lines[2].substr(found[2].begin, found[2].end - found[2].begin) ==
        "eleven");
}

TEST_CASE("lines that have little in common are changed as a whole") {
  CHECK(changed_words({"-alpha", "+beta gamma"}) ==
        std::vector<changed_part>(2));
  // Nobody knows which line took the place of which.
  CHECK(changed_words({"-let a = 1;", "+let a = 2;", "+let b = 3;"}) ==
        std::vector<changed_part>(3));
  CHECK(changed_words({"+only added"}) == std::vector<changed_part>(1));
  CHECK(changed_words({}).empty());
}

TEST_CASE("what was only added or taken away inside of a line is known") {
  const auto found = changed_words({"-call(a, b);", "+call(a);"});
  CHECK(found[0] == changed_part{7, 10});
  CHECK(found[1] == changed_part{7, 7});
}

TEST_CASE("a part is set off in each row that it reaches") {
  const changed_part part{3, 6};
  CHECK(painted_piece("-abcdef", 0, part, "\x1b[31m") ==
        "\x1b[31m-ab\x1b[7mcde\x1b[27mf\x1b[0m");
  CHECK(painted_piece("-abc", 0, part, "") == "-ab\x1b[7mc\x1b[27m\x1b[0m");
  CHECK(painted_piece("def", 4, part, "") == "\x1b[7mde\x1b[27mf\x1b[0m");
  CHECK(painted_piece("x", 9, part, "") == "x\x1b[0m");
  CHECK(painted_piece("-x", 0, {}, "") == "-x\x1b[0m");
}
