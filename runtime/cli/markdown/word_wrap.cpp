// SPDX-License-Identifier: MIT
#include "runtime/cli/markdown/word_wrap.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view joiner = "\u200D";  // of pictures

/// These stand behind a word, also where words have no blanks between them.
constexpr std::array<std::string_view, 14> closing = {
    "、", "。", "，", "．", "！", "？", "：",
    "；", "）", "」", "』", "】", "》", "…"};

}  // namespace

void append_styled(std::string& out, std::string_view style,
                   std::string_view text) {
  if (text.empty()) return;
  out.append(style).append(text);
  if (!style.empty()) out += "\x1b[0m";
}

void word_wrap::begin(margin first, margin next, bool breaks_words) {
  first_ = std::move(first);
  next_ = std::move(next);
  breaks_words_ = breaks_words;
  line_begun_ = row_begun_ = last_wide_ = false;
  column_ = gap_ = 0;
  word_.clear();
}

/// The margin of a row, in a narrow terminal not more than half of it.
void word_wrap::new_row(std::string& out, std::size_t columns) {
  const auto& x = std::exchange(line_begun_, true) ? next_ : first_;
  const auto text =
      columns_of(x.text) > columns / 2 ? std::string(columns / 4, ' ') : x.text;
  append_styled(out, x.style, text);
  column_ = columns_of(text);
  row_begun_ = true;
}

/// Text between blanks; cut to rows if it is too wide and may be.
void word_wrap::put(std::string& out, std::string_view style,
                    std::string_view text, std::size_t columns) {
  const auto width = columns_of(text);
  if (!breaks_words_ || column_ + width <= columns) {
    append_styled(out, style, text);
    column_ += width;
    return;
  }
  while (!text.empty()) {
    const auto c = first_shown(text);
    if (column_ + c.columns > columns && column_ > 0) {
      out += '\n';
      new_row(out, columns);
    }
    append_styled(out, style, text.substr(0, c.size));
    column_ += c.columns;
    text.remove_prefix(c.size);
  }
}

void word_wrap::settle(std::string& out, std::size_t columns) {
  last_wide_ = false;
  if (word_.empty()) return;
  std::size_t width = 0;
  for (const auto& x : word_) width += columns_of(x.text);
  if (!row_begun_) {
    new_row(out, columns);
  } else if (column_ + gap_ + width > columns) {
    out += '\n';
    new_row(out, columns);
  } else {
    out.append(gap_, ' ');
    column_ += gap_;
  }
  gap_ = 0;
  for (const auto& x : word_) put(out, x.style, x.text, columns);
  word_.clear();
}

void word_wrap::hold(std::string_view style, std::string_view text) {
  if (word_.empty() || word_.back().style != style)
    word_.push_back({style, {}});
  word_.back().text += text;
}

bool word_wrap::may_break_before(std::string_view text,
                                 std::size_t width) const {
  if (word_.empty() || width == 0) return false;
  if (width < 2 && !last_wide_) return false;
  return !word_.back().text.ends_with(joiner) &&
         std::ranges::find(closing, text) == closing.end();
}

void word_wrap::add(std::string& out, std::string_view style,
                    std::string_view text, std::size_t columns) {
  while (!text.empty()) {
    if (text[0] == ' ' || text[0] == '\t') {
      settle(out, columns);
      ++gap_;
      text.remove_prefix(1);
      continue;
    }
    const auto c = first_shown(text);
    const auto shown = text.substr(0, c.size);
    if (may_break_before(shown, c.columns)) settle(out, columns);
    hold(style, shown);
    if (c.columns > 0) last_wide_ = c.columns > 1;
    text.remove_prefix(c.size);
  }
}

void word_wrap::end(std::string& out, std::size_t columns) {
  settle(out, columns);
  const bool mark = first_.text.find_first_not_of(' ') != std::string::npos;
  if (!line_begun_ && mark) new_row(out, columns);
  if (std::exchange(row_begun_, false)) out += '\n';
  begin({}, {});
}

}  // namespace riffle::cli
