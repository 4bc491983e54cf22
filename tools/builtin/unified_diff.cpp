// SPDX-License-Identifier: MIT
#include <algorithm>

#include "tools/builtin/line_diff.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t around = 3;

using lines = std::vector<std::string_view>;

/// "12,3", or "12" for one line; for none the line before.
std::string range_text(std::size_t at, std::size_t count) {
  if (count == 1) return std::to_string(at + 1);
  return std::to_string(count == 0 ? at : at + 1) + "," + std::to_string(count);
}

void put(std::string& to, char mark, std::string_view line) {
  to += mark;
  to += line;
  if (!line.ends_with('\n')) to += "\n\\ No newline at end of file\n";
}

void put(std::string& to, char mark, const lines& from, std::size_t begin,
         std::size_t end) {
  for (auto i = begin; i < end; ++i) put(to, mark, from[i]);
}

/// Changes [first, last) that are near to each other, with lines around.
std::string hunk(const lines& before, const lines& after,
                 const std::vector<line_change>& changes, std::size_t first,
                 std::size_t last, std::size_t offset) {
  const auto& begin = changes[first];
  const auto& end = changes[last - 1];
  const auto lead = std::min(around, begin.old_at);
  const auto old_begin = begin.old_at - lead;
  const auto new_begin = begin.new_at - lead;
  const auto old_end = end.old_at + end.old_count;
  const auto trail = std::min(around, before.size() - old_end);
  const auto new_end = end.new_at + end.new_count + trail;
  std::string result =
      "@@ -" + range_text(old_begin + offset, old_end + trail - old_begin) +
      " +" + range_text(new_begin + offset, new_end - new_begin) + " @@\n";
  auto at = old_begin;
  for (auto i = first; i < last; ++i) {
    const auto& x = changes[i];
    put(result, ' ', before, at, x.old_at);
    put(result, '-', before, x.old_at, x.old_at + x.old_count);
    put(result, '+', after, x.new_at, x.new_at + x.new_count);
    at = x.old_at + x.old_count;
  }
  put(result, ' ', before, at, old_end + trail);
  return result;
}

std::string valid(std::string_view text) {
  std::string result;
  utf8_stream utf8;
  utf8.feed(text, result);
  utf8.finish(result);
  return result;
}

}  // namespace

diff_text unified_diff(std::string_view before, std::string_view after,
                       const diff_format& format) {
  diff_text result;
  const auto a = lines_of(before);
  const auto b = lines_of(after);
  const auto changes = diff_lines(a, b);
  if (changes.empty()) return result;
  for (const auto& x : changes) {
    result.removed += x.old_count;
    result.added += x.new_count;
  }
  result.text = "--- " + format.before + "\n+++ " + format.after + "\n";
  for (std::size_t first = 0; first < changes.size();) {
    auto last = first + 1;
    while (last < changes.size() &&
           changes[last].old_at <= changes[last - 1].old_at +
                                       changes[last - 1].old_count + 2 * around)
      ++last;
    const auto text =
        valid(hunk(a, b, changes, first, last, format.first_line));
    if (result.text.size() + text.size() > format.most_bytes) {
      result.cut = true;
      break;
    }
    result.text += text;
    first = last;
  }
  return result;
}

}  // namespace riffle::tools
