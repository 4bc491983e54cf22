// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/screen.hpp"

#include <algorithm>
#include <utility>

#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view erase_below = "\r\x1b[J";

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

/// Behind the text above these lines.
std::string back_to_text(std::string_view lines, std::size_t column) {
  return "\x1b[" + std::to_string(rows_of(lines) + 1) + "A\x1b[" +
         std::to_string(column + 1) + "G";
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
  out.push_back({false, std::string{below ? erase_behind : erase_below}});
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
  erase(out);
  out.push_back({true, std::string{piece}});
  remember(piece);
  open_line_ = piece.back() != '\n';
  return out;
}

/// Where the next character of the open line comes to stand. Nothing where
/// terminals may disagree: on the width of what they join, on tabs, on wide
/// characters at the end of a row, behind a row that is full.
std::optional<std::size_t> screen::column_of_text(std::size_t columns) const {
  if (columns == 0 || line_.empty() || line_.size() > longest_line) return {};
  std::size_t sum = 0;
  bool plain = true;
  for (std::string_view rest = line_; !rest.empty();) {
    const auto x = first_shown(rest);
    const auto lead = static_cast<unsigned char>(rest[0]);
    if (lead < 0x20 || !is_one(rest.substr(0, x.size))) return {};
    plain = plain && lead < 0x80;
    sum += x.columns;
    rest.remove_prefix(x.size);
  }
  if (sum % columns == 0 || (!plain && sum > columns)) return {};
  return sum % columns;
}

screen_writes screen::end_text() {
  screen_writes out;
  break_text(out);
  return out;
}

bool screen::due(bool busy, time_point now) const {
  if (!has_status_ || (shared_ && open_line_ && !busy)) return false;
  return !last_drawing_ || now - *last_drawing_ >= between_drawings;
}

screen_writes screen::draw(std::string_view status, bool busy, time_point now,
                           std::size_t columns) {
  screen_writes out;
  if (!due(busy, now)) return out;
  const bool in_line = shared_ && open_line_;
  const auto column = in_line ? column_of_text(columns) : std::nullopt;
  erase(out);
  if (in_line && !column) break_text(out);
  std::string bytes{column ? "\n" : ""};
  bytes += status;
  bytes += column ? back_to_text(status, *column) : back_to_top(status);
  if (out.empty() || out.back().to_out) out.push_back({false, {}});
  out.back().bytes += bytes;
  drawn_ = true;
  below_text_ = column.has_value();
  last_drawing_ = now;
  return out;
}

screen_writes screen::clear() {
  screen_writes out;
  erase(out);
  return out;
}

}  // namespace riffle::cli
