// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace riffle::cli {

/// Erases this row from its first column, and all below it; the cursor stays
/// there. In two steps: what is erased in one from the first cell of a screen
/// on (where a window that was pulled may have put it) counts as a screen that
/// is cleared, and tmux keeps a copy of that in its history.
inline constexpr std::string_view erase_rows = "\r\x1b[K\x1b[C\x1b[J\r";

}  // namespace riffle::cli
