// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "runtime/cli/terminal/line_editor.hpp"
#include "runtime/cli/view/chat_line.hpp"

namespace riffle::cli {

/// Tab puts a blank behind the name of a file that is whole: ":", which says
/// which lines of it are meant, takes its place. `before`: what stood before
/// the cursor when Tab was pressed as the last key; empty: it was not.
inline void close_completed_word(line_editor& editor, std::string_view before,
                                 const key& typed) {
  const bool closes =
      typed.what == key_kind::text && typed.text.starts_with(':');
  const auto now = std::string_view{editor.text()}.substr(0, editor.cursor());
  if (closes && path_before(before).found && now != before &&
      now.ends_with(' '))
    editor.replace_before(1, {});
}

}  // namespace riffle::cli
