// SPDX-License-Identifier: MIT
#pragma once

// The marks inside a line of Markdown, resolved as far as they are certain.
// Pure.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

/// How a piece of text is shown; may be added up.
namespace text_marks {

inline constexpr std::uint8_t none = 0;
inline constexpr std::uint8_t strong = 1;
inline constexpr std::uint8_t emphasis = 2;
inline constexpr std::uint8_t code = 4;
inline constexpr std::uint8_t struck = 8;
inline constexpr std::uint8_t address = 16;  ///< where a link goes
inline constexpr std::uint8_t heading = 32;
inline constexpr std::uint8_t title = 64;  ///< a heading of the first level

}  // namespace text_marks

struct marked_text {
  std::uint8_t marks = text_marks::none;
  std::string text;

  bool operator==(const marked_text&) const = default;
};

/// A mark that is not closed within so many bytes is none: text waits for its
/// other end not longer than that.
inline constexpr std::size_t longest_marked = 400;

class inline_text {
 public:
  /// More of a line. Returns what can be shown: nothing of it changes by what
  /// follows.
  std::vector<marked_text> on(std::string_view piece);

  /// The line ends; all that was held.
  std::vector<marked_text> end();

 private:
  std::string held_;
  char before_ = ' ';
};

/// Of a whole line.
std::vector<marked_text> marked_line(std::string_view line);

}  // namespace riffle::cli
