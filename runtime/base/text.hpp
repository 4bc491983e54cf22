// SPDX-License-Identifier: MIT
#pragma once

// Small helpers for texts that people and models read or write. Borders of
// characters: messages/utf8.hpp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace riffle {

/// Without `blanks` at both ends.
std::string_view trimmed(std::string_view text,
                         std::string_view blanks = " \t\r\n") noexcept;

/// With small letters for those of ASCII.
std::string lower(std::string_view text);

/// At most `limit` bytes of a text, and "…" if that is not all.
std::string with_dots(std::string_view text, std::size_t limit);

/// "512 B", "1.3 KB", "35.0 MB": 1 KB is 1024 bytes.
std::string size_text(std::uint64_t bytes);

/// The same in less room: "512 B", "1.3 KB", "35 MB".
std::string short_size(std::uint64_t bytes);

/// "1 line", "2 lines".
std::string counted(std::uint64_t n, std::string_view what);

/// "999", "1.3k", "35M".
std::string short_count(std::uint64_t n);

/// A time in milliseconds, rounded: "0.1s", "59.9s", "1m 05s", "2h 00m".
/// messages/duration_text.hpp writes exact ones.
std::string short_duration(std::uint64_t ms);

/// Inserted, deleted and replaced bytes between two words (Levenshtein). Of
/// longer texts only the first 128 bytes count.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word that a typing mistake most likely meant; empty if none is close
/// (more than two edits, or more than a third of the letters).
std::string nearest(std::string_view word,
                    const std::vector<std::string>& among);

/// "a, b, c", at most `limit` of them, then "and 7 more".
std::string join_some(const std::vector<std::string>& names,
                      std::size_t limit = static_cast<std::size_t>(-1));

}  // namespace riffle
