// SPDX-License-Identifier: MIT
#pragma once

namespace riffle::testing {

/// Whether this machine gives out pseudo-terminals; a bare root may have no
/// devpts. A test that needs one, also through a program of others like tmux or
/// script, begins with:
///     if (!has_terminals()) return skip(no_terminals);
bool has_terminals();
inline constexpr const char* no_terminals =
    "no pseudo-terminal: is devpts mounted at /dev/pts?";

}  // namespace riffle::testing
