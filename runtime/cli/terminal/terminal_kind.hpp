// SPDX-License-Identifier: MIT
#pragma once

// Terminals that show no UTF-8, and such with a light background.

#include <string>
#include <string_view>

namespace riffle::cli {

/// Whether the environment says that the terminal does not show UTF-8: a
/// locale is set, and it is "C", "POSIX" or of another character set.
bool lacks_utf8(const char* lc_all, const char* lc_ctype, const char* lang);

/// The same of this process.
bool locale_lacks_utf8();

/// For such a terminal: each character by one that looks like it, its letter
/// without accents, or "?", in as many columns. Controls and sequences stay.
std::string in_ascii(std::string_view text);

/// Whether $COLORFGBG ("0;15": the colours of text and background, as rxvt,
/// Konsole, iTerm2 and others set it) tells of a light background.
bool is_light(const char* colors);

/// Text for a dark terminal in colours for a light one: cyan, which is pale
/// there, becomes blue, and what is dim becomes grey.
std::string in_light_colors(std::string_view text);

}  // namespace riffle::cli
