// SPDX-License-Identifier: MIT
#pragma once

// What changed inside of the lines of a diff. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

/// Bytes of a line; empty: all of it changed, or nobody can tell.
struct changed_part {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const changed_part&) const = default;
};

/// For each line of a diff, in whole words, what is another in the line that
/// takes its place: those of as many lines taken away as are added right
/// behind them. Nothing where the two have little in common.
std::vector<changed_part> changed_words(const std::vector<std::string>& lines);

/// A piece of a line that begins at byte `from`, with a style (see `paint_of`)
/// around it and the part that changed set off.
std::string painted_piece(std::string_view piece, std::size_t from,
                          const changed_part& part, std::string_view paint);

}  // namespace riffle::cli
