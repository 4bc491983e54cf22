// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace riffle::config {

/// The word that a typing mistake most likely meant; empty if none is close
/// (more than two edits, or more than a third of the letters).
std::string nearest(std::string_view word,
                    const std::vector<std::string>& among);

/// "a, b, c".
std::string join(const std::vector<std::string>& words);

}  // namespace riffle::config
