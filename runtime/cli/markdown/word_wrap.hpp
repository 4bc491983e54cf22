// SPDX-License-Identifier: MIT
#pragma once

// Words of one line of a text, wrapped to a width as they come. Nothing is
// written that may have to move: a word is held until its end is known. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

/// What stands before the words of a line.
struct margin {
  std::string text;
  std::string_view style{};
};

/// `text` between the codes of a style, if it has one.
void append_styled(std::string& out, std::string_view style,
                   std::string_view text);

class word_wrap {
 public:
  /// A line of the source begins. `first` stands before its first row, `next`
  /// before those that it is wrapped into. `breaks_words`: one that is wider
  /// than the row is cut, else the terminal cuts it, which keeps addresses
  /// whole for the mouse.
  void begin(margin first, margin next, bool breaks_words = false);

  /// More of the line; no '\n'. `columns`: what a row may take.
  void add(std::string& out, std::string_view style, std::string_view text,
           std::size_t columns);

  /// Writes the word that is held.
  void settle(std::string& out, std::size_t columns);

  /// The line ends.
  void end(std::string& out, std::size_t columns);

  /// Something else was written: the cursor stands in the first column.
  void broken() { row_begun_ = false; }

 private:
  struct run {
    std::string_view style;
    std::string text;
  };

  void new_row(std::string& out, std::size_t columns);
  void put(std::string& out, std::string_view style, std::string_view text,
           std::size_t columns);
  void hold(std::string_view style, std::string_view text);
  [[nodiscard]] bool may_break_before(std::string_view text,
                                      std::size_t width) const;

  margin first_;
  margin next_;
  bool breaks_words_ = false;
  bool line_begun_ = false;  ///< the first margin was written
  bool row_begun_ = false;
  std::size_t column_ = 0;
  std::size_t gap_ = 0;  ///< blanks before the word
  std::vector<run> word_;
  bool last_wide_ = false;  ///< the word ends with a wide character
};

}  // namespace riffle::cli
