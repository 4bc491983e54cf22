// SPDX-License-Identifier: MIT
#include "tests/cli/terminal_picture.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime/cli/terminal/text_width.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

void terminal_picture::next_row(bool wrapped) {
  rows_[row_].wrapped = wrapped;
  if (++row_ == rows_.size()) rows_.emplace_back();
  column_ = 0;
}

void terminal_picture::put(std::string_view character, std::size_t width) {
  if (width > 0 && column_ + width > columns_) {
    if (wraps_)
      next_row(true);
    else
      column_ = columns_ - std::min(width, columns_);
  }
  auto& cells = rows_[row_].cells;
  if (width == 0) {
    if (column_ > 0) cells[column_ - 1] += character;
    return;
  }
  if (cells.size() < column_ + width) cells.resize(column_ + width, " ");
  cells[column_] = character;
  for (std::size_t i = 1; i < width; ++i) cells[column_ + i].clear();
  column_ += width;
}

void terminal_picture::control(std::string_view sequence) {
  if (sequence.ends_with('m')) return;
  if (sequence.starts_with("\x1b[?2004")) return;  // pastes are marked
  if (sequence == "\x1b[22;2t" || sequence == "\x1b[23;2t") return;
  if (sequence == "\x1b[?7l" || sequence == "\x1b[?7h") {
    wraps_ = sequence.ends_with('h');
    return;
  }
  if (sequence == "\x1b\x37") {
    saved_ = {row_, column_};
    return;
  }
  if (sequence == "\x1b\x38") {
    std::tie(row_, column_) = saved_;
    return;
  }
  if (sequence == "\x1b\x44") {  // "D"
    const auto column = column_;
    next_row(false);
    column_ = column;
    return;
  }
  INFO("ESC " << sequence.substr(1));
  if (sequence.ends_with('A')) {
    const auto up = std::stoul(std::string{sequence.substr(2)});
    REQUIRE(up <= row_);
    row_ -= up;
    return;
  }
  if (sequence == "\x1b[C") {
    column_ = std::min(column_ + 1, columns_ - 1);
    return;
  }
  auto& cells = rows_[row_].cells;
  cells.resize(std::min(cells.size(), column_));
  rows_[row_].wrapped = false;
  if (sequence == "\x1b[K") return;
  REQUIRE(sequence == "\x1b[J");
  // tmux keeps what was erased from the first cell of its screen on.
  REQUIRE(column_ > 0);
  ++erasures_;
  rows_.resize(row_ + 1);
}

void terminal_picture::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t size = 1;
    if (bytes[0] == '\n') {
      next_row(false);
    } else if (bytes[0] == '\r') {
      column_ = 0;
    } else if (bytes[0] == '\t') {
      column_ = std::min(columns_ - 1, column_ / 8 * 8 + 8);
    } else if (bytes[0] == '\x1b') {
      if (bytes.starts_with("\x1b]2;")) {  // the window's title
        const auto end = bytes.find("\x1b\\");
        size = end == std::string_view::npos ? bytes.size() : end + 2;
      } else {
        const auto* ends =
            bytes.starts_with("\x1b[") ? "ABCDEFGHJKSTfhlmnstu" : "78D";
        size = bytes.find_first_of(ends, 1) + 1;
        REQUIRE(size > 0);
        control(bytes.substr(0, size));
      }
    } else {
      REQUIRE(
          (static_cast<unsigned char>(bytes[0]) >= 0x20 && bytes[0] != 0x7F));
      while (size < bytes.size() &&
             (static_cast<unsigned char>(bytes[size]) & 0xC0) == 0x80) {
        ++size;
      }
      put(bytes.substr(0, size), cli::columns_of(bytes.substr(0, size)));
    }
    bytes.remove_prefix(size);
  }
}

void terminal_picture::resize(std::size_t columns) {
  const auto old = std::exchange(rows_, std::vector<row>(1));
  const auto cursor_row = row_;
  const auto cursor_column = column_;
  columns_ = columns;
  row_ = column_ = 0;
  std::pair<std::size_t, std::size_t> cursor{0, 0};
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (i == cursor_row && cursor_column == 0) cursor = {row_, column_};
    for (std::size_t k = 0; k < old[i].cells.size(); ++k) {
      const auto& cell = old[i].cells[k];
      if (!cell.empty()) put(cell, cli::columns_of(cell));
      if (i == cursor_row && k + 1 == cursor_column) cursor = {row_, column_};
    }
    if (!old[i].wrapped && i + 1 < old.size()) next_row(false);
  }
  std::tie(row_, column_) = cursor;
}

std::string terminal_picture::text() const {
  std::string out;
  for (const auto& x : rows_) {
    std::string line;
    for (const auto& cell : x.cells) line += cell;
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace riffle::testing
