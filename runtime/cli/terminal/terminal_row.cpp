// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/terminal_row.hpp"

#include <algorithm>

#include "messages/unseen.hpp"
#include "messages/utf8.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

/// Each byte that belongs to no character is one.
std::size_t code_size(std::string_view text) {
  const auto c = first_character(text);
  return c.valid ? c.size : 1;
}

/// What is spelled where it is shown, so that it is seen.
bool is_spelled(std::string_view text) {
  const auto c = first_character(text);
  return !c.valid || c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0) ||
         turns_direction(c.code);
}

}  // namespace

terminal_row::terminal_row(std::string& out, std::size_t columns)
    : out_{out},
      columns_{columns == 0 ? 0 : std::max<std::size_t>(columns, 2)} {}

std::size_t terminal_row::put_first(std::string_view text) {
  if (is_spelled(text)) {
    const auto size = code_size(text);
    put(text.substr(0, size), 1);
    return size;
  }
  const auto shown = first_shown(text);
  if (shown.columns > 2)
    put_parts(text.substr(0, shown.size));
  else
    put(text.substr(0, shown.size), shown.columns);
  return shown.size;
}

void terminal_row::tab() {
  at_ = (at_ / tab_stop + 1) * tab_stop;
  stay_within();
}

/// Behind a full row terminals disagree: what may stand there is kept.
void terminal_row::erase_rest() {
  if (columns_ > 0 && at_ >= columns_) return;
  if (at_ <= from_) return erase_all();
  split(at_);
  cells_.resize(std::min(at_ - from_, cells_.size()));
  marks_.erase(marks_.lower_bound(at_), marks_.end());
}

void terminal_row::erase_all() {
  stay_within();
  cells_.clear();
  marks_.clear();
}

void terminal_row::flush() {
  if (!cells_.empty()) out_.append(from_, ' ');
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    out_ += cells_[i];
    if (marks_.empty()) continue;
    if (const auto x = marks_.find(from_ + i); x != marks_.end())
      out_ += x->second;
  }
  erase_all();
  at_ = 0;
}

std::size_t terminal_row::end() const noexcept {
  return cells_.empty() ? 0 : from_ + cells_.size();
}

/// Behind the last column the cursor still stands in it.
void terminal_row::stay_within() noexcept {
  if (columns_ > 0) at_ = std::min(at_, columns_ - 1);
}

/// The room that a wide character leaves free counts for nothing.
void terminal_row::wrap() {
  if (at_ > end()) place(at_ - 1, 1);
  flush();
}

/// Of a wide character that would be cut before this column blanks stay.
void terminal_row::split(std::size_t column) {
  if (column <= from_ || column >= end()) return;
  const auto i = column - from_;
  if (!cells_[i].empty()) return;
  cells_[i - 1] = cells_[i] = " ";
  marks_.erase(column - 1);
}

/// Makes room for a character; the index of its first cell.
std::size_t terminal_row::place(std::size_t column, std::size_t width) {
  if (cells_.empty()) from_ = column;
  if (column < from_) {
    // Once for each time that all was erased: it costs no more than the way to
    // there.
    cells_.insert(cells_.begin(), from_, " ");
    from_ = 0;
  }
  split(column);
  split(column + width);
  const auto i = column - from_;
  if (cells_.size() < i + width) cells_.resize(i + width, " ");
  return i;
}

void terminal_row::put(std::string_view character, std::size_t width) {
  if (width == 0) return join(character);
  if (columns_ > 0 && at_ + width > columns_) wrap();
  const auto i = place(at_, width);
  cells_[i] = character;
  if (width > 1) cells_[i + 1] = {};
  marks_.erase(marks_.lower_bound(at_), marks_.lower_bound(at_ + width));
  at_ += width;
}

/// What terminals show side by side, if they do not know it as one picture.
void terminal_row::put_parts(std::string_view cluster) {
  while (!cluster.empty()) {
    auto size = code_size(cluster);
    while (size < cluster.size()) {
      const auto next = cluster.substr(size);
      const auto bytes = code_size(next);
      if (columns_of(next.substr(0, bytes)) > 0) break;
      size += bytes;
    }
    const auto part = cluster.substr(0, size);
    put(part, std::min<std::size_t>(columns_of(part), 2));
    cluster.remove_prefix(size);
  }
}

void terminal_row::join(std::string_view mark) {
  // A view of what a tool wrote hides none.
  if (at_ == 0 && columns_ == 0) put(" ", 1);
  if (at_ == 0) return;
  auto column = at_ - 1;
  const bool is_there = column >= from_ && column < end();
  const auto i = is_there ? column - from_ : place(column, 1);
  if (cells_[i].empty()) --column;
  marks_[column] += mark;
}

}  // namespace riffle::cli
