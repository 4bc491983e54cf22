// SPDX-License-Identifier: MIT
#include <cstdio>

#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"
#include "tools/builtin/files/line_diff.hpp"

using namespace riffle;
using namespace riffle::tools;

namespace {

std::string diff(std::string_view before, std::string_view after) {
  return unified_diff(before, after, {.before = "a/f", .after = "b/f"}).text;
}

/// What comes out of a unified diff that is applied to a text. Checks each
/// line that it says was there.
std::string applied(const std::string& text, std::string_view patch) {
  const auto before = lines_of(text);
  std::string result;
  std::size_t at = 0;
  auto rows = lines_of(patch);
  for (std::size_t i = 2; i < rows.size(); ++i) {
    auto line = rows[i].substr(1);
    const bool open = i + 1 < rows.size() && rows[i + 1][0] == '\\';
    if (open) line.remove_suffix(1);
    switch (rows[i][0]) {
      case '@': {
        std::size_t begin = 0;
        std::size_t count = 1;
        const auto read = std::sscanf(std::string{rows[i]}.c_str(),
                                      "@@ -%zu,%zu", &begin, &count);
        REQUIRE(read >= 1);
        if (count > 0) --begin;
        while (at < begin) result += before.at(at++);
        break;
      }
      case '-': REQUIRE(before.at(at++) == line); break;
      case ' ':
        REQUIRE(before.at(at++) == line);
        result += line;
        break;
      case '+': result += line; break;
      default: REQUIRE(rows[i] == "\\ No newline at end of file\n");
    }
  }
  while (at < before.size()) result += before[at++];
  return result;
}

/// Whether each header counts the lines that follow it.
bool counts_are_right(std::string_view patch) {
  std::size_t was = 0;
  std::size_t comes = 0;
  const auto rows = lines_of(patch);
  const auto count_of = [](std::string_view range) {
    const auto comma = range.find(',');
    return comma == range.npos
               ? std::size_t{1}
               : std::stoul(std::string{range.substr(comma + 1)});
  };
  for (std::size_t i = 2; i < rows.size(); ++i) {
    const auto& row = rows[i];
    if (row[0] == '@') {
      if (was + comes != 0) return false;
      const auto plus = row.find('+');
      was = count_of(row.substr(4, plus - 5));
      comes = count_of(row.substr(plus + 1, row.rfind(' ') - plus - 1));
    }
    if (row[0] == '-' || row[0] == ' ') --was;
    if (row[0] == '+' || row[0] == ' ') --comes;
  }
  return was + comes == 0;
}

/// Edits of a shortest change: all lines less twice the longest common part.
std::size_t least_edits(const std::vector<std::string_view>& a,
                        const std::vector<std::string_view>& b) {
  std::vector<std::vector<std::size_t>> table(
      a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      table[i][j] = a[i - 1] == b[j - 1]
                        ? table[i - 1][j - 1] + 1
                        : std::max(table[i - 1][j], table[i][j - 1]);
  return a.size() + b.size() - 2 * table[a.size()][b.size()];
}

std::string random_text(testing::random_values& random, std::size_t most) {
  static const std::vector<std::string> rows = {"a\n", "b\n", "c\n", "\n",
                                                "d\r\n"};
  std::string result;
  for (auto n = random.below(most + 1); n-- > 0;) result += random.one_of(rows);
  if (random.chance(0.3)) result += "end";
  return result;
}

}  // namespace

TEST_CASE("a diff shows changes with three lines around them") {
  CHECK(diff("a\n", "a\n").empty());
  CHECK(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n") ==
        "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
  CHECK(diff("", "a\nb\n") == "--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  CHECK(diff("a\n", "") == "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n");
  CHECK(diff("a", "a\n") ==
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of "
        "file\n+a\n");
  CHECK(diff("\xff\n", "a\n") ==
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-\ufffd\n+a\n");
}

TEST_CASE("a diff counts lines, and leaves out hunks that do not fit") {
  std::string before;
  std::string after;
  for (int i = 0; i < 1000; ++i) {
    before += std::to_string(i) + "\n";
    after += i % 100 == 50 ? "new\n" : std::to_string(i) + "\n";
  }
  const auto all = unified_diff(before, after, {.first_line = 7});
  CHECK(all.added == 10);
  CHECK(all.removed == 10);
  CHECK_FALSE(all.cut);
  CHECK(all.text.find("@@ -55,7 +55,7 @@") != all.text.npos);
  const auto cut = unified_diff(before, after, {.most_bytes = 200});
  CHECK(cut.text.size() <= 200);
  CHECK(cut.text.size() > 100);
  CHECK(cut.cut);
  CHECK(cut.added == 10);
}

TEST_CASE("of a hunk that does not fit whole lines are shown, and counted") {
  std::string before;
  std::string after;
  for (int i = 0; i < 300; ++i) {
    before += "before " + std::to_string(i) + "\n";
    after += "after " + std::to_string(i) + "\n";
  }
  const diff_format format{.before = "a/f", .after = "b/f", .most_bytes = 100};
  // Of what was and of what comes there is as much as fits.
  CHECK(unified_diff(before, after, format).text ==
        "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-before 0\n-before 1\n"
        "-before 2\n+after 0\n+after 1\n+after 2\n");
  CHECK(unified_diff("", after, format).text ==
        "--- a/f\n+++ b/f\n@@ -0,0 +1,7 @@\n+after 0\n+after 1\n"
        "+after 2\n+after 3\n+after 4\n+after 5\n+after 6\n");
  // What is left counts where it stands.
  const auto late = unified_diff("x\ny\n" + before, "x\ny\n" + after,
                                 {.first_line = 10, .most_bytes = 100});
  CHECK(late.text.find("@@ -11,5 +11,5 @@\n x\n y\n-before 0\n") !=
        late.text.npos);
  CHECK(late.cut);
  const auto line = unified_diff("", std::string(200, 'x'), format);
  CHECK(line.text == "--- a/f\n+++ b/f\n");
  CHECK(line.cut);
}

TEST_CASE("a diff of any room fits into it, and its lines are those shown") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  testing::random_values random{seed};
  for (int i = 0; i < 500; ++i) {
    const auto before = random_text(random, 30);
    const auto after = random_text(random, 30);
    const auto whole = unified_diff(before, after, {.most_bytes = 1u << 20});
    for (std::size_t room = 60; room <= whole.text.size() + 60; room += 7) {
      const auto x = unified_diff(before, after, {.most_bytes = room});
      CAPTURE(before, after, x.text, room);
      REQUIRE(x.text.size() <= room);
      REQUIRE(x.cut == (x.text != whole.text));
      REQUIRE(counts_are_right(x.text));
    }
  }
}

TEST_CASE("a diff that is applied gives the new text, with fewest edits") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  testing::random_values random{seed};
  for (int i = 0; i < 2000; ++i) {
    const auto before = random_text(random, 30);
    const auto after = random_text(random, 30);
    const auto x = unified_diff(before, after, {.most_bytes = 1u << 20});
    CAPTURE(before, after, x.text);
    if (before == after) continue;
    REQUIRE(applied(before, x.text) == after);
    REQUIRE(x.added + x.removed ==
            least_edits(lines_of(before), lines_of(after)));
    // With too many edits it is one change, which is as right.
    const auto a = lines_of(before);
    const auto b = lines_of(after);
    REQUIRE(diff_lines(a, b, 1).size() <= 1);
  }
}

TEST_CASE("texts that have nothing in common are compared in bounded memory") {
  std::string before;
  std::string after;
  for (int i = 0; i < 20'000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  const auto x = unified_diff(before, after, {});
  CHECK(x.added == 20'000);
  CHECK(x.cut);
}
