// SPDX-License-Identifier: MIT
#pragma once

// What the beginning of a line of Markdown means. Pure.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace riffle::cli {

/// Characters that may stand before it is known what a line is.
inline constexpr std::string_view undecided = " \t#>-=*+_~`|0123456789.)";

/// More of them than any kind needs: the line is text.
inline constexpr std::size_t longest_undecided = 200;

inline bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

/// What opens or closes a fence: its marks, or nothing.
inline std::string_view fence_of(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return {};
  const auto n = std::min(line.find_first_not_of(line[0]), line.size());
  return n < 3 ? std::string_view{} : line.substr(0, n);
}

/// "---", "* * *" and such.
inline bool is_rule(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.empty() ||
      std::string_view{"-*_"}.find(line[0]) == std::string_view::npos)
    return false;
  const auto other = [&](char c) {
    return c != line[0] && c != ' ' && c != '\t';
  };
  return std::ranges::none_of(line, other) &&
         std::ranges::count(line, line[0]) >= 3;
}

/// "====": the line above is a title.
inline bool is_underline(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto n = std::min(line.find_first_not_of('='), line.size());
  return n >= 2 && is_blank_line(line.substr(n));
}

/// The marks before the text of a line.
struct line_head {
  std::size_t indent = 0;  ///< blanks before all
  std::size_t quotes = 0;
  std::string marker{};  ///< of an item, as it is shown, with blanks around
  std::size_t size = 0;  ///< bytes of all that
};

line_head head_of(std::string_view line);

/// "- ```sh": bytes of the marker of an item that begins with a fence; else 0.
std::size_t fenced_item(std::string_view line);

/// Whether a line of a fence, maybe behind the marker of an item, opens one:
/// with a mark of its own behind it, it is code in a line.
bool opens_fence(std::string_view line);

}  // namespace riffle::cli
