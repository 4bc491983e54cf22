// SPDX-License-Identifier: MIT
#include "tools/builtin/search/glob_pattern.hpp"

#include <fnmatch.h>

#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"
#include "tools/builtin/search/glob_set.hpp"

using namespace riffle;
using namespace riffle::tools;

namespace {

bool matches(std::string_view pattern, std::string_view path) {
  const auto x = glob_set::parse(pattern);
  REQUIRE(x);
  return x->matches(path);
}

std::string problem(std::string_view pattern) {
  const auto x = glob_set::parse(pattern);
  return x ? "none" : x.error();
}

std::string pick(testing::random_values& random,
                 const std::vector<std::string>& parts, std::size_t most) {
  std::string result;
  for (auto n = random.below(most + 1); n-- > 0;)
    result += random.one_of(parts);
  return result;
}

}  // namespace

TEST_CASE("a star stays in one part of a path, two stars do not") {
  CHECK(matches("*.rs", "a.rs"));
  CHECK(matches("*.rs", ".rs"));
  CHECK(matches("*", ".hidden"));
  CHECK_FALSE(matches("*.rs", "src/a.rs"));
  CHECK_FALSE(matches("*.rs", "a.rss"));
  CHECK(matches("**/*.rs", "a.rs"));
  CHECK(matches("**/*.rs", "src/a.rs"));
  CHECK(matches("**/*.rs", "src/deep/er/a.rs"));
  CHECK(matches("src/**/a.rs", "src/a.rs"));
  CHECK(matches("src/**/a.rs", "src/x/y/a.rs"));
  CHECK_FALSE(matches("src/**/a.rs", "src/xa.rs"));
  CHECK_FALSE(matches("src/**/a.rs", "srca.rs"));
  CHECK(matches("src/**", "src/x/y"));
  CHECK_FALSE(matches("src/**", "src"));
  CHECK(matches("**", "x/y"));
  CHECK(matches("a**c", "abbc"));
  CHECK_FALSE(matches("a**c", "ab/bc"));
  CHECK(matches("**/b/**/c", "a/b/x/b/c"));
  CHECK(matches("./a/*", "a/b"));
}

TEST_CASE("a question mark and a set take one character, never a slash") {
  CHECK(matches("?", "a"));
  CHECK(matches("?", "\u00e4"));
  CHECK(matches("?", "\U0001F600"));
  CHECK(matches("??", "\xe4\xe4"));  // bytes that are not UTF-8
  CHECK_FALSE(matches("?", "ab"));
  CHECK_FALSE(matches("a?b", "a/b"));
  CHECK(matches("[a-c]x", "bx"));
  CHECK_FALSE(matches("[a-c]x", "dx"));
  CHECK(matches("[!a-c]x", "dx"));
  CHECK(matches("[^a-c]x", "dx"));
  CHECK_FALSE(matches("[!a-c]x", "/x"));
  CHECK(matches("[]a]", "]"));
  CHECK(matches("[a-]", "-"));
  CHECK(matches("[\u00e0-\u00ff]", "\u00e4"));
  CHECK(matches("[[:digit:]_]", "7"));
  CHECK(matches("[[:digit:]_]", "_"));
  CHECK_FALSE(matches("[[:digit:]_]", "a"));
  CHECK(matches("\\*", "*"));
  CHECK_FALSE(matches("\\*", "a"));
}

TEST_CASE("braces stand for alternatives") {
  CHECK(matches("*.{ts,tsx}", "a.tsx"));
  CHECK(matches("*.{ts}", "a.ts"));
  CHECK(matches("{src,tests}/**/*.{c,h{,pp}}", "tests/x/a.hpp"));
  CHECK(matches("{src,tests}/**/*.{c,h{,pp}}", "src/a.h"));
  CHECK_FALSE(matches("{src,tests}/*.c", "docs/a.c"));
  CHECK(matches("[{]a,b}", "{a,b}"));
  CHECK(matches("\\{a,b\\}", "{a,b}"));
  CHECK(problem("{a,b") ==
        "the pattern is wrong: a \"{\" is never closed; write \\{ for the "
        "character");
  std::string many;
  for (int i = 0; i < 9; ++i) many += "{a,b}";
  CHECK(problem(many) ==
        "the pattern is wrong: more than 256 alternatives in braces; use "
        "several calls");
  std::string deep;
  for (int i = 0; i < 20; ++i) deep = "{" + deep + "}";
  CHECK(problem(deep) ==
        "the pattern is wrong: its braces are nested too deep");
}

TEST_CASE("patterns that cannot work are refused with advice") {
  CHECK(problem("/etc/*").starts_with("a pattern is relative"));
  CHECK(problem("../*").starts_with("a pattern is relative"));
  CHECK(problem("a/../*").starts_with("a pattern is relative"));
  CHECK(problem("{a,..}/x").starts_with("a pattern is relative"));
  CHECK(problem("a..b") == "none");
  CHECK(problem("[a").starts_with("the pattern can match nothing"));
  CHECK(problem("a\\").starts_with("the pattern can match nothing"));
  CHECK(problem(std::string_view{"a\0b", 3}) == "the pattern holds a NUL byte");
}

TEST_CASE("the folder that all matches lie in is known") {
  const auto stem = [](std::string_view pattern) {
    return glob_set::parse(pattern)->stem();
  };
  CHECK(stem("src/a/*.c") == "src/a");
  CHECK(stem("src/*/a.c") == "src");
  CHECK(stem("a.c").empty());
  CHECK(stem("**/a.c").empty());
  CHECK(stem("src/{a,b}/x") == "src");
  CHECK(stem("src/{aa/x,ab/y}") == "src");
  CHECK(stem("{src,tests}/x").empty());
}

TEST_CASE("a folder is entered only if something in it may match") {
  const auto x = glob_set::parse("{src/*/a.c,lib/**/*.h}");
  REQUIRE(x);
  CHECK(x->may_match_in(""));
  CHECK(x->may_match_in("src"));
  CHECK(x->may_match_in("src/x"));
  CHECK_FALSE(x->may_match_in("src/x/y"));
  CHECK(x->may_match_in("lib/x/y/z"));
  CHECK_FALSE(x->may_match_in("docs"));
}

TEST_CASE("patterns agree with fnmatch(3), and pruning with matching") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  testing::random_values random{seed};
  const std::vector<std::string> parts = {"a",    "b",    "*",   "?", "/",
                                          "[ab]", "[!a]", "\\*", ".", "[a-c]"};
  const std::vector<std::string> path_parts = {"a", "b", "c", "/", "*", "."};
  int matched = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto pattern = pick(random, parts, 8);
    if (pattern.find("**") != pattern.npos) continue;
    const auto path = pick(random, path_parts, 7);
    CAPTURE(pattern, path);
    const bool wanted =
        ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
    const glob_pattern x{pattern};
    const bool got = x.matches(path);
    if (got != wanted) REQUIRE(got == wanted);
    matched += got ? 1 : 0;
    for (auto slash = path.find('/'); got && slash != path.npos;
         slash = path.find('/', slash + 1))
      if (!x.may_match_in(path.substr(0, slash)))
        REQUIRE(x.may_match_in(path.substr(0, slash)));
  }
  CHECK(matched > 100);
}

TEST_CASE("a pattern of many stars takes no longer than its length says") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  const glob_pattern x{"**/" + pattern + "b"};
  CHECK_FALSE(x.matches(std::string(4000, 'a')));
}
