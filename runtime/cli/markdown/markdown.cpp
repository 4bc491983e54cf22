// SPDX-License-Identifier: MIT
#include "runtime/cli/markdown/markdown.hpp"

#include <algorithm>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/cli/markdown/code_line.hpp"
#include "runtime/cli/markdown/line_kind.hpp"
#include "runtime/cli/markdown/table.hpp"
#include "runtime/cli/markdown/text_style.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

/// A longer table is shown in parts.
constexpr std::size_t most_rows = 200;
constexpr std::size_t longest_rule = 40;
constexpr std::size_t code_indent = 4;
constexpr std::size_t tab_stop = 8;
/// A terminal that is no wider marks nothing.
constexpr std::size_t narrowest = 10;

constexpr std::string_view fence_edge = "─";  ///< of a fence, and below a title
constexpr std::string_view part_rule = "┄";   ///< between parts of a text

std::string line_of(std::size_t columns, std::string_view one = fence_edge) {
  std::string out;
  for (std::size_t i = 0; i < columns; ++i) out += one;
  return out;
}

/// "## ": 2, of no heading 0.
std::size_t heading_level(std::string_view line) {
  constexpr std::size_t most = 6;
  const auto n = std::min(line.find_first_not_of('#'), line.size());
  return n <= most && n < line.size() && line[n] == ' ' ? n : 0;
}

bool is_heading(std::string_view line) { return heading_level(line) > 0; }

std::uint8_t marks_of_heading(std::size_t level) {
  using namespace text_marks;
  return level == 1   ? heading | title
         : level == 2 ? heading
                      : heading | emphasis;
}

/// Of a heading.
std::string_view title_of(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of('#'), line.size()));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

}  // namespace

std::string_view markdown::dim() const {
  return styled_ ? dim_style : std::string_view{};
}

/// The last column stays free: a full line makes some terminals wrap.
std::size_t markdown::room() const {
  constexpr std::size_t unknown = 80;
  return std::max<std::size_t>(columns_ == 0 ? unknown : columns_, 2) - 1;
}

std::string markdown::on(std::string_view piece, std::size_t columns) {
  columns_ = columns;
  if (goes_on_) {
    piece.remove_prefix(std::min(piece.find_first_not_of(' '), piece.size()));
    goes_on_ = piece.empty();
  }
  take(piece);
  return std::exchange(out_, {});
}

std::string markdown::settle(std::size_t columns) {
  columns_ = columns;
  if (place_ == place::text) words_.settle(out_, room());
  return std::exchange(out_, {});
}

std::string markdown::pause(std::size_t columns) {
  columns_ = columns;
  goes_on_ = place_ == place::text;
  if (place_ != place::begin || !line_.empty()) take("\n");
  end_table();
  return std::exchange(out_, {});
}

std::string markdown::finish(std::size_t columns) {
  out_ = pause(columns);
  if (!fence_.empty()) close_fence();
  auto out = std::exchange(out_, {});
  drop();
  return out;
}

void markdown::broken(bool below) {
  words_.broken();
  code_column_ = 0;
  if (below) blank_ = shown_ = false;
}

void markdown::take(std::string_view piece) {
  while (!piece.empty())
    piece = place_ == place::begin ? take_begin(piece) : take_rest(piece);
}

/// The kind of a line is known at the first character that no mark has.
std::string_view markdown::take_begin(std::string_view piece) {
  const auto n = std::min(piece.find_first_not_of(undecided), piece.size());
  line_ += piece.substr(0, n);
  piece.remove_prefix(n);
  if (piece.empty() && line_.size() < longest_undecided) return piece;
  const bool ended = piece.starts_with('\n');
  decide(ended);
  if (!ended) return piece;
  end_line();
  return piece.substr(1);
}

std::string_view markdown::take_rest(std::string_view piece) {
  const auto end = std::min(piece.find('\n'), piece.size());
  const auto part = piece.substr(0, end);
  if (place_ == place::whole)
    line_ += part;
  else if (place_ == place::code)
    show_code(part);
  else
    show_text(part);
  if (end == piece.size()) return {};
  end_line();
  return piece.substr(end + 1);
}

/// `line_` is the beginning of a line, or all of it.
void markdown::decide(bool ended) {
  if (!fence_.empty()) return decide_in_fence(ended);
  const auto begin = std::min(line_.find_first_not_of(" \t"), line_.size());
  if (line_.substr(begin).starts_with('|')) {
    place_ = place::whole;
    return;
  }
  end_table();
  const bool whole = !fence_of(line_).empty() || fenced_item(line_) > 0 ||
                     is_heading(line_) ||
                     (ended && (is_blank_line(line_) || is_rule(line_) ||
                                (below_text_ && is_underline(line_))));
  if (whole) {
    place_ = place::whole;
  } else {
    begin_text(std::exchange(line_, {}));
  }
}

bool markdown::closes_fence(std::string_view line) const {
  const auto mark = fence_of(line);
  return mark.size() >= fence_.size() && mark[0] == fence_[0] &&
         is_blank_line(line.substr(line.rfind(mark[0]) + 1));
}

/// What has colours is shown when it is whole.
void markdown::decide_in_fence(bool ended) {
  if (styled_ || (ended && closes_fence(line_))) {
    place_ = place::whole;
    return;
  }
  place_ = place::code;
  show_in_fence(std::exchange(line_, {}));
}

/// A line of it, or its beginning.
void markdown::show_in_fence(std::string_view line) {
  shown_ = true;
  if (!boxed_) show_edge();
  line = without_indent(line);
  if (!styled_) return show_code(line);
  for (const auto& x : painted_code(line, language_))
    show_code(x.text, x.paint);
}

/// In a list the fence is indented, and all of its code with it.
std::string_view markdown::without_indent(std::string_view line) const {
  const auto blanks = std::min(line.find_first_not_of(" \t"), line.size());
  return line.substr(std::min(blanks, fence_indent_));
}

void markdown::begin_text(std::string_view line) {
  show_blank();
  titled_ = false;
  const auto x = head_of(line);
  const bool deep = x.indent >= code_indent && x.quotes == 0 && !listed_;
  if (deep) {  // code without a fence, as it is
    place_ = place::code;
    show_code(line);
    return;
  }
  if (!x.marker.empty())
    listed_ = true;
  else if (x.indent == 0)
    listed_ = false;
  std::string before(x.indent, ' ');
  for (std::size_t i = 0; i < x.quotes; ++i) before += "│ ";
  const auto after = before + std::string(columns_of(x.marker), ' ');
  const auto style = x.quotes > 0 ? dim() : std::string_view{};
  words_.begin({before + x.marker, style}, {after, style});
  place_ = place::text;
  show_text(line.substr(x.size));
}

void markdown::end_line() {
  const auto was = std::exchange(place_, place::begin);
  const bool below_text = std::exchange(below_text_, false);
  if (was == place::whole) return on_whole_line(below_text);
  if (was == place::code) {
    out_ += '\n';
    code_column_ = 0;
    return;
  }
  if (styled_) show(inline_.end());
  words_.end(out_, room());
  marks_ = 0;
  below_text_ = true;
}

void markdown::on_whole_line(bool below_text) {
  const auto line = std::exchange(line_, {});
  if (!fence_.empty()) {
    if (closes_fence(line)) return close_fence();
    show_in_fence(line);
    out_ += '\n';
    code_column_ = 0;
    return;
  }
  if (is_blank_line(line)) {
    blank_ = true;
    return;
  }
  const auto begin = line.find_first_not_of(" \t");
  if (line[begin] == '|') {
    table_.push_back(line);
    return on_row();
  }
  if (const auto item = fenced_item(line); item > 0) {
    begin_text(opens_fence(line) ? line.substr(0, item) : line);
    end_line();
    return opens_fence(line) ? open_fence(line) : void();
  }
  // Whoever wrote it may have left none.
  if (is_heading(line) && !titled_) blank_ = true;
  show_blank();
  titled_ = is_heading(line);
  const auto mark = fence_of(line);
  // The item that a fence is indented for goes on behind it.
  listed_ = listed_ && !mark.empty() && begin > 0;
  if (!mark.empty()) {
    if (opens_fence(line)) return open_fence(line);
  } else if (is_rule(line)) {
    return show_rule(part_rule);
  } else if (below_text && is_underline(line)) {
    return show_rule(fence_edge);
  }
  words_.begin({}, {});
  const bool titled = titled_ && styled_;
  marks_ = titled ? marks_of_heading(heading_level(line)) : text_marks::none;
  show_text(titled ? title_of(line) : std::string_view{line});
  place_ = place::text;
  end_line();
}

/// A second line that is no rule: these are no table.
void markdown::on_row() {
  const bool rule = table_.size() < 2 || is_table_rule(table_[1]);
  if (has_head_ && !rule) {
    for (const auto& x : std::exchange(table_, {})) {
      begin_text(x);
      end_line();
    }
  } else if (table_.size() == most_rows) {
    end_table();
    has_head_ = false;  // what follows goes on with it
  }
}

void markdown::end_table() {
  auto lines = std::exchange(table_, {});
  const bool has_head = std::exchange(has_head_, true);
  if (lines.empty()) return;
  if (has_head && lines.size() < 2) {
    begin_text(lines.front());
    end_line();
    return;
  }
  show_blank();
  listed_ = titled_ = false;
  out_ += table_text(lines, has_head, room(), styled_);
}

void markdown::open_fence(std::string_view line) {
  const auto item = fenced_item(line);
  const auto mark = fence_of(line.substr(item));
  fence_ = mark;
  fence_indent_ = line.find(mark, item);
  auto info = line.substr(fence_indent_ + mark.size());
  info.remove_prefix(std::min(info.find_first_not_of(" \t"), info.size()));
  language_ = info.substr(0, info.find_first_of(" \t{"));
  show_edge();
}

/// The one above the code.
void markdown::show_edge() {
  boxed_ = true;
  const auto width = std::min(room(), longest_rule);
  const auto label =
      language_.empty() ? std::string{} : " " + fit(language_, width / 2);
  const auto used = 2 + columns_of(label) + 1;
  append_styled(out_, dim(),
                label.empty() || used >= width
                    ? line_of(width)
                    : "──" + label + " " + line_of(width - used));
  out_ += '\n';
}

void markdown::close_fence() {
  fence_.clear();
  if (std::exchange(boxed_, false)) show_rule(fence_edge);
}

std::string markdown::leave_fence(std::size_t columns) {
  columns_ = columns;
  if (place_ == place::code && boxed_) take("\n");
  if (std::exchange(boxed_, false)) show_rule(fence_edge);
  return std::exchange(out_, {});
}

void markdown::show_rule(std::string_view one) {
  shown_ = true;
  append_styled(out_, dim(), line_of(std::min(room(), longest_rule), one));
  out_ += '\n';
}

/// What is wider than the terminal goes on behind a mark, as in a diff: nobody
/// takes a row for a line. By code points, so that it does not matter how the
/// text was cut.
void markdown::show_code(std::string_view text, std::string_view paint) {
  constexpr std::string_view mark = "┊ ";
  std::string row;
  while (!text.empty()) {
    const auto one = text.substr(0, first_character(text).size);
    const bool tab = one == "\t";
    const auto width =
        tab ? tab_stop - code_column_ % tab_stop : columns_of(one);
    if (columns_ > narrowest && width > 0 && code_column_ + width > room()) {
      append_styled(out_, paint, std::exchange(row, {}));
      out_ += '\n';
      append_styled(out_, dim(), mark);
      code_column_ = columns_of(mark);
    }
    row += one;
    code_column_ += width;
    text.remove_prefix(one.size());
  }
  append_styled(out_, paint, row);
}

/// Before each line that is no code; blank lines at the top are none.
void markdown::show_blank() {
  if (std::exchange(blank_, false) && shown_) out_ += '\n';
  shown_ = true;
}

void markdown::show_text(std::string_view text) {
  if (styled_)
    show(inline_.on(text));
  else
    words_.add(out_, {}, text, room());
}

void markdown::show(const std::vector<marked_text>& all) {
  for (const auto& x : all)
    words_.add(out_, style_of(x.marks | marks_), x.text, room());
}

}  // namespace riffle::cli
