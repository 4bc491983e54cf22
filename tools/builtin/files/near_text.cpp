// SPDX-License-Identifier: MIT
#include "tools/builtin/files/near_text.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "tools/builtin/files/line_diff.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t most_lines = 20'000;
constexpr std::size_t most_compared = 2'000;
constexpr std::size_t longest_shown = 200;
/// Lines that are compared for a hint, in sum: texts of many lines that are
/// alike would cost their product.
constexpr std::size_t most_line_pairs = 1'000'000;

using lines = std::vector<std::string_view>;

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string shown(std::string_view line) {
  std::string valid;
  utf8_stream utf8;
  utf8.feed(without_end(line).substr(0, longest_shown + 4), valid);
  utf8.finish(valid);
  const auto cut = cut_utf8(valid, longest_shown);
  return "`" + std::string{cut} +
         (cut.size() < without_end(line).size() ? "\u2026`" : "`");
}

/// Lines of `wanted` that stand in `content` from line `at` on; the first may
/// begin, the last end within a line.
std::size_t equal_lines(const lines& content, std::size_t at,
                        const lines& wanted, std::size_t& left) {
  std::size_t count = 0;
  while (count < wanted.size() && at + count < content.size() && left > 0) {
    --left;
    const auto have = without_end(content[at + count]);
    const auto want = without_end(wanted[count]);
    const bool last = count + 1 == wanted.size();
    const bool same = count == 0 ? have.ends_with(want)
                      : last     ? have.starts_with(want)
                                 : have == want;
    if (!same) break;
    ++count;
  }
  return count;
}

/// A place where all lines are there but for their white space, or where the
/// most lines are there.
std::string by_lines(const lines& content, const lines& wanted) {
  std::size_t best = 0;
  std::size_t best_count = 0;
  auto left = most_line_pairs;
  for (std::size_t i = 0; i < content.size() && left > 0; ++i) {
    std::size_t alike = 0;
    while (alike < wanted.size() && i + alike < content.size() && left > 0 &&
           trimmed(content[i + alike]) == trimmed(wanted[alike])) {
      ++alike;
      --left;
    }
    if (alike == wanted.size())
      return "line " + std::to_string(i + 1) +
             " differs only in white space: " + shown(content[i]);
    const auto count = equal_lines(content, i, wanted, left);
    if (count > best_count) {
      best = i;
      best_count = count;
    }
  }
  if (best_count == 0 || trimmed(wanted.front()).empty()) return {};
  const auto next = best + best_count;
  const auto text =
      "its first " +
      (best_count == 1 ? std::string{"line is"}
                       : std::to_string(best_count) + " lines are") +
      " there from line " + std::to_string(best + 1) + " on, ";
  if (next >= content.size()) return text + "then the file ends";
  return text + "but line " + std::to_string(next + 1) + " is " +
         shown(content[next]);
}

std::string by_distance(const lines& content, std::string_view wanted) {
  const auto want = trimmed(wanted);
  std::optional<std::size_t> best;
  auto least = want.size() / 3 + 1;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto have = trimmed(content[i]);
    const auto longer = std::max(have.size(), want.size());
    if (longer - std::min(have.size(), want.size()) >= least) continue;
    if (++compared > most_compared) break;
    const auto distance = edit_distance(have, want);
    if (distance >= least) continue;
    least = distance;
    best = i;
  }
  if (!best) return {};
  return "the nearest is line " + std::to_string(*best + 1) + ": " +
         shown(content[*best]);
}

}  // namespace

std::string near_text(std::string_view content, std::string_view wanted) {
  auto have = lines_of(content);
  if (have.size() > most_lines) have.resize(most_lines);
  const auto want = lines_of(wanted);
  if (want.empty() || want.size() > most_lines) return {};
  if (auto text = by_lines(have, want); !text.empty()) return text;
  const auto first =
      std::find_if(want.begin(), want.end(),
                   [](const auto& line) { return !trimmed(line).empty(); });
  if (first == want.end()) return {};
  return by_distance(have, *first);
}

}  // namespace riffle::tools
