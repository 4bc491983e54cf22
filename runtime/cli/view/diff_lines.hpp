// SPDX-License-Identifier: MIT
#pragma once

// Lines of a text, and the colours of those of a unified diff.

#include <string_view>

namespace riffle::cli {

/// Calls `f(line)` for each line, without its end; a last line without an end
/// counts.
template <class F>
void for_each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    f(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// The colour of a line of a diff, or nothing. "\x1b[0m" ends it.
inline std::string_view paint_of(std::string_view line) {
  if (line.starts_with('+')) return "\x1b[32m";
  if (line.starts_with('-')) return "\x1b[31m";
  return {};
}

}  // namespace riffle::cli
