// SPDX-License-Identifier: MIT
#include "actors/core/loop_detector.hpp"

#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::core;

namespace {

using step = std::vector<observed_call>;

/// `read 1 -> 7`: tool, arguments, result.
observed_call made(const std::string& tool, std::uint64_t asked,
                   std::uint64_t result, bool polling = false) {
  return {tool, asked, result, polling};
}

/// What is found at each step.
std::string findings(std::uint32_t limit, const std::vector<step>& steps) {
  loop_detector detector{limit};
  std::string out;
  for (const auto& x : steps)
    out += "-hL"[static_cast<std::size_t>(detector.on_step(x).what)];
  return out;
}

/// One call a step: letters are calls, all with the same result.
std::string letters(std::uint32_t limit, std::string_view text) {
  std::vector<step> steps;
  for (const char c : text)
    steps.push_back({made(std::string{c}, static_cast<std::uint64_t>(c), 1)});
  return findings(limit, steps);
}

/// So often does the end of the sequence repeat with this period.
std::size_t times(const std::vector<std::uint64_t>& x, std::size_t period) {
  std::size_t run = 0;
  while (run + period < x.size() &&
         x[x.size() - 1 - run] == x[x.size() - 1 - run - period])
    ++run;
  return run / period + 1;
}

}  // namespace

TEST_CASE("the same call again and again is a hint, then a loop") {
  CHECK(letters(3, "aaaa") == "--hL");
  CHECK(letters(3, "aabaaaa") == "-----hL");
  CHECK(letters(5, "aaaaaa") == "----hL");
}

TEST_CASE("a model that follows the hint goes on") {
  CHECK(letters(3, "aaabaaabaaab") == "--h---h---h-");
}

TEST_CASE("two calls in turn are a loop as well") {
  CHECK(letters(3, "abababab") == "-----h-L");
  CHECK(letters(3, "abababac") == "-----h--");
  CHECK(letters(3, "abcabcabcabcabc") == "---------------");
}

TEST_CASE("0 is no limit, and once is no repetition") {
  CHECK(letters(0, "aaaaaaaaaa") == "----------");
  CHECK(letters(1, "aaa") == "-hL");
}

TEST_CASE("another result is news, and so are other arguments") {
  std::vector<step> steps;
  for (std::uint64_t i = 0; i < 9; ++i) steps.push_back({made("read", 1, i)});
  CHECK(findings(2, steps) == "---------");
  steps.clear();
  for (std::uint64_t i = 0; i < 9; ++i) steps.push_back({made("read", i, 1)});
  CHECK(findings(2, steps) == "---------");
}

TEST_CASE("a step of several calls is a loop, in any order of its calls") {
  const auto a = made("a", 1, 1);
  const auto b = made("b", 2, 1);
  const auto c = made("c", 3, 1);
  CHECK(findings(2, {{a, b, c}, {a, c, b}, {c, b, a}}) == "-hL");
  CHECK(
      findings(2, {{a, b, c}, {a, c}, {a, b, c}, {c, a}, {b, c, a}, {a, c}}) ==
      "---h-L");
  CHECK(findings(2, {{a, b}, {a, b}, {a, b}}) == "-hL");
}

TEST_CASE("equal calls within a step count once") {
  const auto a = made("a", 1, 1);
  CHECK(findings(2, {{a, a, a, a, a}}) == "-");
  CHECK(findings(2, {{a, a, a}, {a, a, a}, {a}}) == "-hL");
}

TEST_CASE("polling is exempt, and neither is nor hides a loop") {
  const auto a = made("a", 1, 1);
  const auto poll = made("poll", 2, 1, true);
  CHECK(findings(2, {{poll}, {poll}, {poll}, {poll}, {poll}}) == "-----");
  CHECK(findings(2, {{poll}, {a}, {poll}, {a}, {poll}, {a}}) == "---h-L");
}

TEST_CASE("polling that brings news ends a pattern") {
  std::vector<step> steps;
  for (std::uint64_t i = 0; i < 6; ++i)
    steps.push_back({made("poll", 2, i, true), made("a", 1, 1)});
  CHECK(findings(2, steps) == "------");
}

TEST_CASE("the report names the calls") {
  loop_detector detector{2};
  static_cast<void>(detector.on_step({made("read", 1, 1)}));
  const auto x = detector.on_step({made("read", 1, 1)});
  CHECK(x == loop_report{loop_finding::hint, 2, "the same call (`read`)"});
  const auto text = loop_hint(x);
  CHECK(text.find("the same call (`read`) 2 times in a row") !=
        std::string::npos);
  CHECK(text.starts_with("[Note of the runtime] "));
}

TEST_CASE("the detector finds what a search of the whole history finds") {
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 300; ++round) {
    const auto limit = 2 + random() % 4;
    loop_detector detector{static_cast<std::uint32_t>(limit)};
    std::vector<std::uint64_t> history;
    bool hinted = false;
    for (int i = 0; i < 60; ++i) {
      // One letter more seldom than another: runs and pairs do come about.
      const std::uint64_t call = random() % 5 == 0 ? 2 : random() % 2;
      history.push_back(call);
      const auto found = detector.on_step({made("t", call, 0)}).what;
      const auto most = std::max(times(history, 1), times(history, 2));
      CAPTURE(round, i, limit, most);
      CHECK((found == loop_finding::loop) == (most > limit));
      if (found == loop_finding::hint) CHECK(most == limit);
      if (found == loop_finding::loop) CHECK(hinted);
      hinted = most >= limit && (hinted || found == loop_finding::hint);
      if (most >= limit) CHECK(hinted);
      if (found == loop_finding::loop) break;
    }
  }
}
