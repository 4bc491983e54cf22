// SPDX-License-Identifier: MIT
// The rows of the text that is typed, and where the cursor is in them: a part
// of the line editor.
#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "runtime/cli/terminal/line_editor.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

/// A character, or a piece.
std::string line_editor::seen_of(std::string_view character) const {
  if (character == "\t") return "  ";
  if (pasted_texts::begins_mark(character.front()))
    return pieces_.shown(character);
  if (character.size() == 1) return std::string{character};
  // Joiners are seen by what they join.
  constexpr std::string_view joined = "日";
  return exact_text(std::string{joined}.append(character))
      .substr(joined.size());
}

/// Where nothing has what is looked for, what stands there was not found by it.
std::string line_editor::search_head() const {
  const bool found =
      search_->empty() ||
      (entry_ < history_.size() &&
       pieces_.shown(history_[entry_]).find(*search_) != std::string::npos);
  return (found ? "search " : "no match for ") + *search_ + ": ";
}

editor_picture line_editor::draw(std::string_view prompt, std::size_t columns,
                                 std::size_t rows) const {
  constexpr std::size_t narrowest = 8;
  const auto width = std::max(columns, narrowest);
  editor_picture out;
  std::string row = search_ ? search_head() : std::string{prompt};
  const auto indent = std::min(columns_of(row), width / 2);
  row = fit(row, indent);
  auto used = indent;
  const auto next = [&](bool wrapped) {
    out.rows.push_back(
        std::exchange(row, wrapped ? "" : std::string(indent, ' ')));
    used = wrapped ? 0 : indent;
  };
  for (std::size_t at = 0;;) {
    if (at == cursor_) {
      if (used >= width) next(true);
      out.cursor_row = out.rows.size();
      out.before_cursor = row;
    }
    if (at >= text_.size()) break;
    const auto end = behind(at);
    const auto piece = std::string_view{text_}.substr(at, end - at);
    at = end;
    if (piece == "\n") {
      next(false);
      continue;
    }
    const auto seen = seen_of(piece);
    const auto wide = columns_of(seen);
    if (used + wide > width) next(true);
    row += fit(seen, width);
    used += std::min(wide, width);
  }
  out.rows.push_back(row);
  // What does not fit stands above and below, unseen.
  const auto most = std::max<std::size_t>(rows, 1);
  if (out.rows.size() > most) {
    const auto first =
        std::min(out.cursor_row < most ? 0 : out.cursor_row - most + 1,
                 out.rows.size() - most);
    const auto from = out.rows.begin() + static_cast<std::ptrdiff_t>(first);
    out.rows = {from, from + static_cast<std::ptrdiff_t>(most)};
    out.cursor_row -= first;
  }
  return out;
}

std::vector<std::string> line_editor::draw_taken(const std::string& marked,
                                                 std::string_view prompt,
                                                 std::size_t columns,
                                                 std::size_t rows) {
  auto kept = std::tuple{std::exchange(text_, marked), cursor_, search_};
  cursor_ = text_.size();
  search_.reset();
  auto out = draw(prompt, columns, rows).rows;
  std::tie(text_, cursor_, search_) = std::move(kept);
  return out;
}

}  // namespace riffle::cli
