// SPDX-License-Identifier: MIT
#include <algorithm>

#include "tools/builtin/files/line_diff.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t around = 3;

using lines = std::vector<std::string_view>;
using changes = std::vector<line_change>;

std::string valid(std::string_view text) {
  std::string result;
  utf8_stream utf8;
  utf8.feed(text, result);
  utf8.finish(result);
  return result;
}

/// "12,3", or "12" for one line; for none the line before.
std::string range_text(std::size_t at, std::size_t count) {
  if (count == 1) return std::to_string(at + 1);
  return std::to_string(count == 0 ? at : at + 1) + "," + std::to_string(count);
}

std::string row_of(char mark, std::string_view line) {
  auto out = mark + valid(line);
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
  return out;
}

/// The rows of a hunk, as far as they fit.
class rows {
 public:
  explicit rows(std::size_t room) : room_{room} {}

  /// False: one did not fit, and none follows.
  bool put(char mark, const lines& from, std::size_t begin, std::size_t end,
           std::size_t kept_free = 0) {
    for (auto i = begin; i < end; ++i) {
      auto row = row_of(mark, from[i]);
      if (text.size() + row.size() + kept_free > room_) return false;
      text += row;
      ++(mark == '-' ? removed : mark == '+' ? added : same);
    }
    return true;
  }

  /// Where there is no room for both, what was leaves half of it to what
  /// comes: a look at one side alone says little.
  bool put(const line_change& x, const lines& before, const lines& after) {
    std::size_t comes = 0;
    const auto half = (room_ - text.size()) / 2;
    for (auto i = x.new_at; i < x.new_at + x.new_count && comes < half; ++i)
      comes += row_of('+', after[i]).size();
    const bool left = put('-', before, x.old_at, x.old_at + x.old_count,
                          std::min(comes, half));
    return put('+', after, x.new_at, x.new_at + x.new_count) && left;
  }

  std::string text;
  std::size_t same = 0;
  std::size_t removed = 0;
  std::size_t added = 0;

 private:
  std::size_t room_;
};

class writer {
 public:
  writer(const lines& before, const lines& after, const changes& all,
         const diff_format& format, diff_text& out)
      : before_{before}, after_{after}, all_{all}, format_{format}, out_{out} {}

  /// Changes [first, last) that are near to each other, with lines around.
  void hunk(std::size_t first, std::size_t last) {
    const auto& begin = all_[first];
    const auto& end = all_[last - 1];
    const auto lead = std::min(around, begin.old_at);
    const auto old_begin = begin.old_at - lead + format_.first_line;
    const auto new_begin = begin.new_at - lead + format_.first_line;
    const auto old_end = end.old_at + end.old_count;
    const auto trail = std::min(around, before_.size() - old_end);
    const auto header = [&](std::size_t was, std::size_t comes) {
      return "@@ -" + range_text(old_begin, was) + " +" +
             range_text(new_begin, comes) + " @@\n";
    };
    // Of fewer lines it is no longer, but that none takes more than one.
    const auto most = [](std::size_t n) { return n == 1 ? 0 : n; };
    const auto longest = header(
        most(old_end + trail - (begin.old_at - lead)),
        most(end.new_at + end.new_count + trail - (begin.new_at - lead)));
    const auto used = out_.text.size() + longest.size();
    rows shown{format_.most_bytes - std::min(used, format_.most_bytes)};
    out_.cut = !fill(shown, first, last, old_end + trail);
    if (shown.removed + shown.added == 0) return;
    out_.shown_removed += shown.removed;
    out_.shown_added += shown.added;
    out_.text += header(shown.same + shown.removed, shown.same + shown.added) +
                 shown.text;
  }

 private:
  bool fill(rows& to, std::size_t first, std::size_t last,
            std::size_t end) const {
    auto at = all_[first].old_at - std::min(around, all_[first].old_at);
    for (auto i = first; i < last; ++i) {
      const auto& x = all_[i];
      if (!to.put(' ', before_, at, x.old_at) || !to.put(x, before_, after_))
        return false;
      at = x.old_at + x.old_count;
    }
    return to.put(' ', before_, at, end);
  }

  const lines& before_;
  const lines& after_;
  const changes& all_;
  const diff_format& format_;
  diff_text& out_;
};

}  // namespace

diff_text unified_diff(std::string_view before, std::string_view after,
                       const diff_format& format) {
  diff_text result;
  const auto a = lines_of(before);
  const auto b = lines_of(after);
  const auto all = diff_lines(a, b);
  if (all.empty()) return result;
  for (const auto& x : all) {
    result.removed += x.old_count;
    result.added += x.new_count;
  }
  result.text = "--- " + format.before + "\n+++ " + format.after + "\n";
  writer to{a, b, all, format, result};
  for (std::size_t first = 0; first < all.size() && !result.cut;) {
    auto last = first + 1;
    while (last < all.size() &&
           all[last].old_at <=
               all[last - 1].old_at + all[last - 1].old_count + 2 * around)
      ++last;
    to.hunk(first, last);
    first = last;
  }
  return result;
}

}  // namespace riffle::tools
