// SPDX-License-Identifier: MIT
#pragma once

// What changed inside of the lines of a diff, and at their ends. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

/// Bytes of a line.
struct changed_part {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const changed_part&) const = default;
};

/// In order; empty: all of the line changed, or nobody can tell.
using changed_parts = std::vector<changed_part>;

/// For each line of a diff, in whole words, what is another in the line that
/// takes its place: those of as many lines taken away as are added right
/// behind them. Nothing where the two have little in common.
std::vector<changed_parts> changed_words(const std::vector<std::string>& lines);

/// A piece of a line that begins at byte `from`, with a style (see `paint_of`)
/// around it and what changed set off.
std::string painted_piece(std::string_view piece, std::size_t from,
                          const changed_parts& parts, std::string_view paint);

/// A unified diff as people read it: a CR at the end of a line is \x0d where
/// not all of its lines end so, and else it is left out. Any other text is as
/// it was.
std::string with_line_ends(std::string_view diff);

/// "LF → CRLF" where a diff changes the ends of all lines, "CRLF" of a new
/// file; else empty. Of one that is cut it is what its lines tell, and says so.
std::string changed_line_ends(std::string_view diff);

}  // namespace riffle::cli
