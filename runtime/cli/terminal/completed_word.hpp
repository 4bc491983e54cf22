// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "runtime/cli/terminal/line_editor.hpp"

namespace riffle::cli {

/// Tab puts a blank behind a word that is whole: what closes a word, or says
/// which lines of a file are meant, takes its place. `before`: what stood
/// before the cursor when Tab was pressed as the last key; empty: it was not.
inline void close_completed_word(line_editor& editor, std::string_view before,
                                 const key& typed) {
  constexpr std::string_view closing = ":.,;!?)]}";
  const bool closes = typed.what == key_kind::text && !typed.text.empty() &&
                      closing.find(typed.text[0]) != closing.npos;
  const auto now = std::string_view{editor.text()}.substr(0, editor.cursor());
  if (closes && !before.empty() && !before.ends_with(' ') && now.ends_with(' '))
    editor.replace_before(1, {});
}

}  // namespace riffle::cli
