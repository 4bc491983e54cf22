// SPDX-License-Identifier: MIT
#pragma once

// A row of a terminal, as a program's output is written into it.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

/// Where the cursor stands, and what is in the cells. The cell of a character
/// has its bytes, the one behind it that a wide character takes has none; the
/// bytes are those that were put, and outlive it. All it does costs as much as
/// what was put, however often the row is erased.
class terminal_row {
 public:
  static constexpr std::size_t tab_stop = 8;

  /// Behind the last column it goes on in a new row, and `out` gets the old
  /// one; with 0 columns a row never ends.
  terminal_row(std::string& out, std::size_t columns);

  /// Puts the first character of a text, which is none that moves the cursor or
  /// erases; its size. A mark joins the cell before, where there is one.
  std::size_t put_first(std::string_view text);
  /// Nothing is erased; the last column is the last stop.
  void tab();
  void to_begin() noexcept { at_ = 0; }
  void erase_rest();
  void erase_all();
  /// Appends what there is to `out`; the row is a new one then.
  void flush();

 private:
  [[nodiscard]] std::size_t end() const noexcept;
  void stay_within() noexcept;
  void wrap();
  void split(std::size_t column);
  std::size_t place(std::size_t column, std::size_t width);
  void put(std::string_view character, std::size_t width);
  void put_parts(std::string_view cluster);
  void join(std::string_view mark);

  std::string& out_;
  std::size_t columns_;
  std::size_t at_ = 0;
  std::size_t from_ =
      0;  ///< the column of the first cell: before it is nothing
  std::vector<std::string_view> cells_;
  std::map<std::size_t, std::string> marks_;  ///< what has joined a cell later
};

}  // namespace riffle::cli
