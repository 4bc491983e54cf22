// SPDX-License-Identifier: MIT
#pragma once

// A file, or lines of one, as a text names it behind an '@'.

#include <cstddef>
#include <optional>
#include <string>

#include "messages/error.hpp"

namespace riffle::cli {

/// "src/a.cpp:10-20", or ":10": lines of a file, from 1.
struct file_part {
  std::string name{};
  std::size_t first = 0;  ///< 0: all of it
  std::size_t last = 0;

  bool operator==(const file_part&) const = default;
};

struct named_part {
  std::optional<file_part> part{};
  /// Why there is none: a line for the person.
  std::string problem{};
  bool is_word = false;  ///< only the '@' looks as if a file was meant
};

/// Looks whether the file is there. Punctuation behind the word is none of it.
named_part find_part(const std::string& word);

/// As a person reads it.
std::string shown(const file_part& x);

/// Its text; of lines those that there are, and `x.last` becomes the last of
/// them. `most`: bytes; more, at least one byte, comes back where there is
/// more. Fails as `read_file`, or if there is no such line.
expected<std::string> text_of(file_part& x, std::size_t most);

}  // namespace riffle::cli
