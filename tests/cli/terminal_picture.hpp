// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace riffle::testing {

/// What a terminal of a given width shows after some bytes: the lines of its
/// screen and of its history, without spaces at their ends. Knows what Riffle
/// writes: text of any width, '\r', '\n', "erase below", "up", "down" (index),
/// a saved cursor, rows that are cut and not wrapped, and what it drops:
/// colours, titles of the window. Anything else that controls a terminal fails
/// the test.
class terminal_picture {
 public:
  explicit terminal_picture(std::size_t columns) : columns_{columns} {}

  void feed(std::string_view bytes);

  /// The terminal gets another width and wraps its lines anew.
  void resize(std::size_t columns);

  [[nodiscard]] std::string text() const;
  /// How often "erase below" came.
  [[nodiscard]] std::size_t erasures() const noexcept { return erasures_; }

 private:
  struct row {
    std::vector<std::string> cells;  ///< "" behind a wide one
    bool wrapped = false;            ///< it goes on in the next row
  };

  void put(std::string_view character, std::size_t width);
  void control(std::string_view sequence);
  void next_row(bool wrapped);

  std::size_t columns_;
  std::vector<row> rows_{1};
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::size_t erasures_ = 0;
  bool wraps_ = true;
  std::pair<std::size_t, std::size_t> saved_{0, 0};
};

}  // namespace riffle::testing
