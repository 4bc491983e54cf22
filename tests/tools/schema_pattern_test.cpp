// SPDX-License-Identifier: MIT
// Patterns of schemas: what RE2 does means what ECMAScript says.
#include "tools/schema_pattern.hpp"

#include <chrono>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using tools::schema_pattern;

namespace {

bool found(std::string_view pattern, std::string_view text) {
  const auto compiled = schema_pattern::compile(pattern);
  REQUIRE(compiled);
  return compiled->found_in(text);
}

bool linear(std::string_view pattern) {
  const auto compiled = schema_pattern::compile(pattern);
  REQUIRE(compiled);
  return compiled->linear();
}

/// The judge: libstdc++'s ECMAScript, which never backtracks here.
constexpr auto judge_flags =
    std::regex::ECMAScript | std::regex_constants::__polynomial;

}  // namespace

TEST_CASE("random patterns find what std::regex finds") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random{seed};
  const std::vector<std::string> pieces = {
      "a",     "b",       "Z",           "1",       "_",         "-",
      "]",     ".",       "^",           "$",       "|",         "(",
      ")",     "(?:",     "(?=",         "(?!",     "*",         "+",
      "?",     "{2}",     "{1,3}",       "{0,}",    "[ab]",      "[^a1]",
      "[a-c]", "[\\w-]",  "[\\s\\d]",    "[^\\s]",  "[.]",       "[\\]]",
      "\\d",   "\\D",     "\\w",         "\\W",     "\\s",       "\\S",
      "\\b",   "\\B",     "\\t",         "\\v",     "\\n",       "\\.",
      "\\x61", "\\u0062", "[\\x61-c]",   "\\/",     "\\-",       "\\$",
      "[[]",   "[$^]",    "[[:alpha:]]", "[a\\-z]", "[\\u0061]", "\\\\"};
  const std::string letters = "abZ1_- .\t\n\v\r]$\\/[";
  const auto below = [&](std::size_t n) { return random() % n; };
  int compared = 0;
  int by_re2 = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string pattern;
    for (auto n = 1 + below(7); n-- > 0;)
      pattern += pieces[below(pieces.size())];
    const auto compiled = schema_pattern::compile(pattern);
    CAPTURE(pattern);
    std::regex judge;
    try {
      judge = std::regex{pattern, judge_flags};
    } catch (const std::regex_error&) {
      CHECK_FALSE(compiled);
      continue;
    }
    REQUIRE(compiled);
    ++compared;
    by_re2 += compiled->linear() ? 1 : 0;
    for (int k = 0; k < 10; ++k) {
      std::string text;
      for (auto n = below(7); n-- > 0;) text += letters[below(letters.size())];
      CAPTURE(text, compiled->linear());
      CHECK(compiled->found_in(text) == std::regex_search(text, judge));
    }
  }
  CHECK(compared > 1000);
  CHECK(by_re2 > compared / 2);
}

TEST_CASE("a pattern is about characters, not bytes") {
  for (const auto* extra : {"", "(?!never)"}) {  // both engines
    CAPTURE(extra);
    const auto with = [&](const char* x) { return std::string{x} + extra; };
    CHECK(found(with("^.{3}"), "äöü"));
    CHECK_FALSE(found(with("^.{4}"), "äöü"));
    CHECK(found(with("^[é]+$"), "éé"));
    CHECK_FALSE(found(with("^[é]$"), "è"));
    CHECK(found(with("^\\u00e9$"), "é"));
    CHECK(found(with("^[^a]$"), "😀"));
    CHECK_FALSE(found(with("\\w"), "éß"));
    CHECK_FALSE(found(with("\\d"), "٣"));
  }
}

TEST_CASE("usual patterns are searched, in linear time") {
  CHECK(found("b", "abc"));
  for (const auto* pattern :
       {"^[a-z][a-z0-9_-]*$", "^\\d{4}-\\d{2}-\\d{2}$", "^[\\w.+-]+@[\\w-]+$",
        "^(https?|ssh)://", "^\\S+$", "^(a+)+$", ".*\\.tsx?$"})
    CHECK(linear(pattern));
}

TEST_CASE("look-ahead works in texts of some length, back references do not") {
  const std::string pattern = "^(?=.*\\d)(?=.*[a-z]).{4,}$";
  CHECK_FALSE(linear(pattern));
  CHECK(found(pattern, "abc1"));
  CHECK_FALSE(found(pattern, "abcd"));
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(found(pattern, std::string(10u << 20, 'a') + "1"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
  CHECK_FALSE(schema_pattern::compile("(a)\\1"));
  CHECK_FALSE(schema_pattern::compile(std::string(513, 'a')));
}

TEST_CASE(
    "what RE2 alone understands is not a pattern, or means what it says") {
  for (const auto* pattern : {"(?i)a", "(?P<x>a)", "\\x{61}"}) {
    CAPTURE(pattern);
    CHECK_FALSE(schema_pattern::compile(pattern));
  }
  // Letters behind a backslash.
  for (const auto* pattern : {"\\Aa", "a\\z", "\\Qa\\E"})
    if (const auto x = schema_pattern::compile(pattern))
      CHECK_FALSE(x->found_in("a"));
}
