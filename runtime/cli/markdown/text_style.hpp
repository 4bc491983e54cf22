// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace riffle::cli {

inline constexpr std::string_view dim_style = "\x1b[2m";

/// The code that begins a text with these marks (inline_text.hpp); lives as
/// long as the program. "\x1b[0m" ends it.
std::string_view style_of(std::uint8_t marks);

}  // namespace riffle::cli
