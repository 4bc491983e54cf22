// SPDX-License-Identifier: MIT
#include "runtime/cli/markdown/table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/markdown/inline_text.hpp"
#include "runtime/cli/markdown/text_style.hpp"
#include "runtime/cli/markdown/word_wrap.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/diff_lines.hpp"

namespace riffle::cli {

namespace {

using cells = std::vector<std::string>;

constexpr std::size_t between_columns = 3;  // " │ "
constexpr std::size_t least_column = 3;

std::string cell_text(std::string_view text) {
  return std::string{trimmed(text, " \t")};
}

/// At each '|' that is neither escaped nor in code.
cells cells_of(std::string_view line) {
  const auto text = cell_text(line);
  cells out{{}};
  bool in_code = false;
  for (std::size_t i = text.starts_with('|') ? 1 : 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 1 < text.size();
    if (escaped && text[i + 1] == '|') {
      out.back() += text[++i];
    } else if (text[i] == '|' && !in_code) {
      if (i + 1 < text.size()) out.emplace_back();
    } else {
      if (text[i] == '`') in_code = !in_code;
      out.back() += text[i];
    }
  }
  for (auto& x : out) x = cell_text(x);
  return out;
}

/// Columns of a row that holds styles of our own, and nothing else that
/// controls a terminal.
std::size_t shown_columns(std::string_view row) {
  std::size_t out = 0;
  while (!row.empty()) {
    const auto style = row.find('\x1b');
    out += columns_of(row.substr(0, style));
    if (style == std::string_view::npos) break;
    row.remove_prefix(row.find('m', style) + 1);
  }
  return out;
}

/// A cell as lines of at most `width`; unless it `breaks_words`, one that is
/// wider stays whole.
cells wrapped(const std::string& cell, std::size_t width, std::uint8_t marks,
              bool styled, bool breaks_words = true) {
  word_wrap words;
  words.begin({}, {}, breaks_words);
  std::string text;
  if (!styled) {
    words.add(text, {}, cell, width);
  } else {
    for (const auto& x : marked_line(cell))
      words.add(text, style_of(x.marks | marks), x.text, width);
  }
  words.end(text, width);
  cells out;
  for_each_line(text, [&](std::string_view x) { out.emplace_back(x); });
  return out;
}

enum class side : std::uint8_t { left, right, middle };

std::vector<side> sides_of(std::string_view rule) {
  std::vector<side> out;
  for (const auto& x : cells_of(rule)) {
    const bool right = x.ends_with(':');
    const bool left = x.starts_with(':');
    out.push_back(right && left ? side::middle
                  : right       ? side::right
                                : side::left);
  }
  return out;
}

class table {
 public:
  table(const std::vector<std::string>& lines, bool has_head, bool styled)
      : has_head_{has_head}, styled_{styled} {
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!has_head || i != 1) rows_.push_back(cells_of(lines[i]));
    if (has_head) sides_ = sides_of(lines[1]);
    for (const auto& row : rows_) count_ = std::max(count_, row.size());
    if (has_head) count_ = rows_.front().size();
    sides_.resize(count_, side::left);
  }

  /// False: there is no room.
  bool fit_into(std::size_t columns) {
    const auto borders = (count_ - 1) * between_columns;
    if (columns < borders + count_ * least_column) return false;
    const auto room = columns - borders;
    widths_.assign(count_, 1);
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < std::min(row.size(), count_); ++i)
        widths_[i] = std::max(widths_[i], width_of(row[i], room));
    shrink_to(room);
    return true;
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const bool head = has_head_ && i == 0;
      append_row(out, rows_[i], head ? text_marks::strong : text_marks::none);
      if (head) append_rule(out);
    }
    return out;
  }

 private:
  /// The widest column gives way, but none breaks its words before all others
  /// have only theirs.
  void shrink_to(std::size_t room) {
    auto least = longest_words();
    auto sum = std::accumulate(widths_.begin(), widths_.end(), std::size_t{0});
    while (sum > room) {
      auto* widest = &widths_.front();
      std::size_t most = 0;
      for (std::size_t i = 0; i < count_; ++i) {
        if (widths_[i] <= std::max(least[i], most)) continue;
        most = widths_[i];
        widest = &widths_[i];
      }
      if (most == 0) {  // not even words fit
        std::ranges::fill(least, 0);
        continue;
      }
      --*widest;
      --sum;
    }
  }

  /// Of each column, what cannot be broken at a blank.
  [[nodiscard]] std::vector<std::size_t> longest_words() const {
    std::vector<std::size_t> out(count_, 1);
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < std::min(row.size(), count_); ++i)
        for (const auto& x :
             wrapped(row[i], 1, text_marks::none, styled_, false))
          out[i] = std::max(out[i], shown_columns(x));
    return out;
  }

  [[nodiscard]] std::size_t width_of(const std::string& cell,
                                     std::size_t room) const {
    std::size_t out = 0;
    for (const auto& row : wrapped(cell, room, text_marks::none, styled_))
      out = std::max(out, shown_columns(row));
    return std::min(out, room);
  }

  void append_rule(std::string& out) const {
    std::string line;
    for (std::size_t i = 0; i < count_; ++i) {
      if (i > 0) line += "─┼─";
      for (std::size_t n = 0; n < widths_[i]; ++n) line += "─";
    }
    append_styled(out, paint(), line);
    out += '\n';
  }

  void append_row(std::string& out, const cells& row,
                  std::uint8_t marks) const {
    std::vector<cells> parts;
    std::size_t height = 1;
    for (std::size_t i = 0; i < count_; ++i) {
      parts.push_back(
          wrapped(i < row.size() ? row[i] : "", widths_[i], marks, styled_));
      height = std::max(height, parts.back().size());
    }
    for (std::size_t y = 0; y < height; ++y) {
      std::string line;
      for (std::size_t i = 0; i < count_; ++i) {
        if (i > 0) append_styled(line, paint(), " │ ");
        append_cell(line, y < parts[i].size() ? parts[i][y] : "", i);
      }
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }

  void append_cell(std::string& out, const std::string& part,
                   std::size_t i) const {
    const auto used = shown_columns(part);
    const auto free = widths_[i] > used ? widths_[i] - used : 0;
    const auto before = sides_[i] == side::left    ? 0
                        : sides_[i] == side::right ? free
                                                   : free / 2;
    out.append(before, ' ').append(part).append(free - before, ' ');
  }

  [[nodiscard]] std::string_view paint() const {
    return styled_ ? dim_style : std::string_view{};
  }

  bool has_head_;
  bool styled_;
  std::vector<cells> rows_;
  std::vector<side> sides_;
  std::vector<std::size_t> widths_;
  std::size_t count_ = 1;
};

}  // namespace

bool is_table_rule(std::string_view line) {
  return line.find('-') != std::string_view::npos &&
         line.find_first_not_of("|-: \t") == std::string_view::npos;
}

std::string table_text(const std::vector<std::string>& lines, bool has_head,
                       std::size_t columns, bool styled) {
  table x{lines, has_head, styled};
  if (x.fit_into(columns)) return x.text();
  std::string out;
  for (const auto& line : lines) out += line + "\n";
  return out;
}

}  // namespace riffle::cli
