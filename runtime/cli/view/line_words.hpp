// SPDX-License-Identifier: MIT
#pragma once

// The words of a line for a shell, as they are written: quotes stay. Pure.

#include <cstddef>
#include <string_view>
#include <vector>

namespace riffle::cli {

inline constexpr std::string_view blanks_of_line = " \t\r\n";

/// Behind what stands in quotes, or behind one character, from `at` on.
std::size_t next_of(std::string_view line, std::size_t at);

/// What blanks part; what stands in quotes is a part of one word.
std::vector<std::string_view> line_words(std::string_view line);

/// Whether it is one of the words.
bool is_in(std::string_view words, std::string_view word);

}  // namespace riffle::cli
