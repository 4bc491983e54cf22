// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/screen.hpp"

#include <algorithm>
#include <utility>

#include "runtime/cli/terminal/erasure.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view erase_behind = "\x1b[J";

/// A longer line is not followed.
constexpr std::size_t longest_line = 4000;

std::size_t rows_of(std::string_view lines) {
  return static_cast<std::size_t>(std::ranges::count(lines, '\n'));
}

/// To the first column of the first of these lines.
std::string back_to_top(std::string_view lines) {
  const auto n = rows_of(lines);
  return n == 0 ? "\r" : "\r\x1b[" + std::to_string(n) + "A";
}

/// A row that has become too long for its terminal by now is cut there, so
/// that the way back is right.
std::string unwrapped(std::string_view lines) {
  return "\x1b[?7l" + std::string{lines} + "\x1b[?7h";
}

/// Below the cursor, which stays where it is, whatever column that is: room is
/// made below it first.
std::string below_cursor(std::string_view lines) {
  const auto n = rows_of(lines) + 1;
  std::string out;
  for (std::size_t i = 0; i < n; ++i)
    out +=
        "\x1b"
        "D";
  return out + "\x1b[" + std::to_string(n) +
         "A\x1b"
         "7\n" +
         unwrapped(lines) +
         "\x1b"
         "8";
}

/// One code point.
bool is_one(std::string_view character) {
  return std::ranges::count_if(character, [](unsigned char c) {
           return (c & 0xC0) != 0x80;
         }) == 1;
}

/// Without its styles.
std::string unstyled(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto begin = text.find('\x1b');
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const auto end = text.find('m', begin);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return out;
}

}  // namespace

void screen::erase(screen_writes& out) {
  if (!std::exchange(drawn_, false)) return;
  const bool below = std::exchange(below_text_, false);
  out.push_back({false, std::string{below ? erase_behind : erase_rows}});
}

/// A status line below the text is where the cursor comes to stand.
void screen::break_text(screen_writes& out) {
  below_text_ = false;
  line_.clear();
  if (std::exchange(open_line_, false)) out.push_back({true, "\n"});
}

screen_writes screen::lines(std::string_view text) {
  screen_writes out;
  if (text.empty()) return out;
  erase(out);
  if (shared_) break_text(out);
  out.push_back({false, std::string{text}});
  return out;
}

void screen::remember(std::string_view piece) {
  if (const auto end = piece.rfind('\n'); end != std::string_view::npos) {
    line_.clear();
    piece.remove_prefix(end + 1);
  }
  if (line_.size() <= longest_line) line_ += unstyled(piece);
}

screen_writes screen::text(std::string_view piece) {
  screen_writes out;
  if (piece.empty()) return out;
  owed_ = owed_ || drawn_;
  erase(out);
  out.push_back({true, std::string{piece}});
  remember(piece);
  open_line_ = piece.back() != '\n';
  return out;
}

/// Whether the open line may end in a row that is full: then terminals disagree
/// on where its cursor is. They also do on the width of what they join and on
/// tabs; of these the widest counts, so the first row is not full sooner.
bool screen::may_fill_row(std::size_t columns) const {
  if (columns == 0 || line_.empty() || line_.size() > longest_line) return true;
  std::size_t column = 0;
  bool sure = true;
  bool wrapped = false;
  for (std::string_view rest = line_; !rest.empty();) {
    const auto x = first_shown(rest);
    const bool tab = rest[0] == '\t';
    sure = sure && !tab && is_one(rest.substr(0, x.size));
    const auto wide = tab ? std::size_t{8} : x.columns;
    if (column + wide > columns) {
      wrapped = true;
      column = 0;
    }
    column += wide;
    rest.remove_prefix(x.size);
  }
  return column >= columns || (wrapped && !sure);
}

screen_writes screen::end_text() {
  screen_writes out;
  break_text(out);
  return out;
}

screen_writes screen::leave_line() {
  return shared_ ? end_text() : screen_writes{};
}

bool screen::due(time_point now) const {
  const auto pause = owed_ ? behind_text : between_drawings;
  return has_status_ && (!last_drawing_ || now - *last_drawing_ >= pause);
}

screen_writes screen::draw(std::string_view status, bool busy, time_point now,
                           std::size_t columns) {
  screen_writes out;
  if (!due(now)) return out;
  const bool in_line = shared_ && open_line_;
  const bool below = in_line && !may_fill_row(columns);
  if (in_line && !below && !busy) return out;
  erase(out);
  if (in_line && !below) break_text(out);
  if (out.empty() || out.back().to_out) out.push_back({false, {}});
  out.back().bytes +=
      below ? below_cursor(status) : unwrapped(status) + back_to_top(status);
  drawn_ = true;
  below_text_ = below;
  owed_ = false;
  last_drawing_ = now;
  return out;
}

screen_writes screen::clear() {
  screen_writes out;
  erase(out);
  return out;
}

}  // namespace riffle::cli
