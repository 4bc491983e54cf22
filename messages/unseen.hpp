// SPDX-License-Identifier: MIT
#pragma once

// Characters that nobody sees: what stands there is not what is read. After
// Default_Ignorable_Code_Point and White_Space of the Unicode Character
// Database, and Unicode Technical Report 36, Security Considerations.

#include <algorithm>
#include <array>

namespace riffle {

/// Marks that reorder what a person reads (Unicode Standard Annex 9).
constexpr bool turns_direction(char32_t code) noexcept {
  return (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x200E ||
         code == 0x200F || code == 0x061C;
}

/// They join what stands beside them, in scripts and pictures that have them,
/// or are the blank of such a script: there they are meant.
constexpr bool is_joiner(char32_t code) noexcept {
  return code == 0x200C || code == 0x200D || code == 0xFE0F || code == 0x3000;
}

/// Nothing is drawn for it, or a blank that is none, and it is neither of the
/// above.
constexpr bool is_unseen(char32_t code) noexcept {
  struct span {
    char32_t first;
    char32_t last;
  };
  constexpr std::array all{
      span{0xA0, 0xA0},       span{0xAD, 0xAD},       span{0x34F, 0x34F},
      span{0x115F, 0x1160},   span{0x17B4, 0x17B5},   span{0x180B, 0x180F},
      span{0x2000, 0x200B},   span{0x2028, 0x2029},   span{0x202F, 0x202F},
      span{0x205F, 0x2065},   span{0x206A, 0x206F},   span{0x2800, 0x2800},
      span{0x3164, 0x3164},   span{0xFE00, 0xFE0E},   span{0xFEFF, 0xFEFF},
      span{0xFFA0, 0xFFA0},   span{0xFFF0, 0xFFFC},   span{0x13430, 0x1345F},
      span{0x16FE4, 0x16FE4}, span{0x1BCA0, 0x1BCA3}, span{0x1D173, 0x1D17A},
      span{0xE0000, 0xE0FFF},
  };
  return std::ranges::any_of(
      all, [&](const span& x) { return x.first <= code && code <= x.last; });
}

}  // namespace riffle
