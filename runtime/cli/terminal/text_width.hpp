// SPDX-License-Identifier: MIT
#pragma once

// How much room a text takes on a terminal (UAX 11, UAX 29).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace riffle::cli {

/// The most columns that one line takes. Terminals disagree on what they join
/// to one picture (flags, families, skin tones): those count as if shown one
/// beside the other. `line` holds no control characters (see safe_text).
std::size_t columns_of(std::string_view line);

/// What a person sees as one character (an extended grapheme cluster).
struct shown_character {
  std::size_t size = 0;  ///< bytes
  std::size_t columns = 0;
};

/// The first of a text that is not empty; a control character is one.
shown_character first_shown(std::string_view text);

/// The letter of a character that has more: its accents taken off, its form
/// made a plain one. Nothing if that is not in ASCII.
std::optional<char> base_letter(std::string_view character);

/// The rows, at least one, into which a terminal of so many columns wraps a
/// line; a wide character that does not fit goes to the next one.
std::size_t wrapped_rows(std::string_view line, std::size_t columns);

/// `line` if it takes at most `columns`, else its beginning and "…", cut
/// between what a person sees as characters. Empty for 0 columns.
std::string fit(std::string_view line, std::size_t columns);

/// `line`, and blanks behind it up to so many columns.
std::string padded(std::string line, std::size_t columns);

}  // namespace riffle::cli
