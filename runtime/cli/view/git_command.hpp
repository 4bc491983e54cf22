// SPDX-License-Identifier: MIT
#pragma once

// When git opens an editor, or asks line by line. Pure.

#include <span>
#include <string_view>

namespace riffle::cli {

/// The words behind git's own options.
std::span<const std::string_view> git_words(
    std::span<const std::string_view> words);

/// The usual commands of git: their names are no aliases.
bool is_gits_own(std::string_view name);

/// Whether git opens an editor for the words behind its name, or asks line by
/// line. A message is one word behind its option.
bool git_talks(std::span<const std::string_view> words);

}  // namespace riffle::cli
