// SPDX-License-Identifier: MIT
#pragma once

// Texts from models and tools, made harmless for a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace riffle::cli {

/// Several lines: keeps '\n' and '\t'; "\r\n" becomes '\n', ESC becomes ^[,
/// other controls \xNN, characters that turn the reading direction \u{NNNN},
/// what is not UTF-8 U+FFFD.
std::string safe_text(std::string_view text);

/// Bytes at the end of a piece that may be the beginning of a character.
std::size_t begun_character(std::string_view piece);

/// Whether nobody would see it behind this text. Joiners belong to scripts that
/// have them, and to pictures: behind a letter of Latin and its like they hide.
bool is_invisible(char32_t code, std::string_view before);

/// Spelled: \u{NNNN}.
void append_code(std::string& out, char32_t code);

/// The same of what somebody decides about: characters that no terminal draws
/// are \u{NNNN}, too.
std::string exact_text(std::string_view text);

/// A word of a command that a person may paste into bash: it stands for these
/// bytes, and has nothing that a terminal would obey, or not draw.
std::string shell_word(std::string_view text);

/// One line: line ends and tabs become one space, and after `most` characters
/// it is cut, with "…" at its end.
std::string safe_line(std::string_view text, std::size_t most);

/// The same of what somebody decides about, as `exact_text`.
std::string exact_line(std::string_view text, std::size_t most);

/// A name, such as a file's, that somebody decides about: what nobody would see
/// of it is spelled. Blanks at its ends and behind another are \u{0020}, more
/// than eight in a row \u{0020}×N, line ends and tabs \xNN. Only names that are
/// longer than `most`, or hold such a spelling in their own letters, may look
/// alike.
std::string exact_name(std::string_view name, std::size_t most);

}  // namespace riffle::cli
