// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

/// Lines for a person, broken at blanks where they are too long for a terminal
/// of so many columns (0: none, nothing is broken), and inside of a word only
/// where that alone is longer. What follows is indented, below the column of a
/// row that is indented itself. Colours cost no
/// column; the last line may be open.
std::string wrap_lines(std::string_view text, std::size_t columns);

/// Rows of a table, with two blanks or more between its columns: what has no
/// room stands below the last column that begins in the left half. A line that
/// begins with a blank is none, and stays in one piece, to be copied.
std::string wrap_rows(std::string_view text, std::size_t columns);

/// A line cut into rows of at most `columns`, at words where that is possible;
/// `first` and `next` stand before them.
std::vector<std::string> wrapped(std::string_view line, std::size_t columns,
                                 std::string_view first, std::string_view next);

/// The same of a line that counts to the blank, as of a diff: `next` is "┊ ",
/// so that nobody takes a row for a line, and a line that fits stays as it is.
/// `columns`: of the terminal (0: none, nothing is broken).
std::vector<std::string> exact_rows(std::string_view line, std::size_t columns,
                                    std::string_view first = {});
/// Each line of a text so.
std::string wrap_exact(std::string_view text, std::size_t columns);

}  // namespace riffle::cli
