// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace riffle::core {

/// About how many tokens a text has: a quarter of one for each ASCII byte
/// ("1 token ~= 4 chars in English", OpenAI, What are tokens and how to count
/// them), half of one for each other byte, since other scripts take one to two
/// tokens a character of two to four bytes. The same text always gives the
/// same number.
[[nodiscard]] std::uint64_t estimate_tokens(std::string_view text) noexcept;

}  // namespace riffle::core
