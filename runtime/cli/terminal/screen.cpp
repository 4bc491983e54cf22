// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/screen.hpp"

#include <algorithm>
#include <utility>

namespace riffle::cli {

namespace {

constexpr std::string_view erase_below = "\r\x1b[J";

/// To the first column of the first of these lines.
std::string back_to_top(std::string_view lines) {
  const auto n = std::ranges::count(lines, '\n');
  return n == 0 ? "\r" : "\r\x1b[" + std::to_string(n) + "A";
}

}  // namespace

void screen::erase(screen_writes& out) {
  if (std::exchange(drawn_, false)) {
    out.push_back({false, std::string{erase_below}});
  }
}

void screen::break_text(screen_writes& out) {
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

screen_writes screen::text(std::string_view piece) {
  screen_writes out;
  if (piece.empty()) return out;
  erase(out);
  out.push_back({true, std::string{piece}});
  open_line_ = piece.back() != '\n';
  return out;
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

screen_writes screen::draw(std::string_view status, bool busy, time_point now) {
  screen_writes out;
  if (!due(busy, now)) return out;
  if (shared_) break_text(out);
  std::string bytes;
  if (std::exchange(drawn_, true)) bytes = erase_below;
  out.push_back({false, bytes.append(status) + back_to_top(status)});
  last_drawing_ = now;
  return out;
}

screen_writes screen::clear() {
  screen_writes out;
  erase(out);
  return out;
}

}  // namespace riffle::cli
