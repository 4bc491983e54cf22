// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cli/terminal/screen.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"

namespace riffle::cli {

/// What a second Ctrl-C does to the line of the cursor, now that it stands
/// there.
inline void leave_screen_at(cursor_place x) noexcept {
  switch (x) {
    case cursor_place::status: return leave_screen_with(leaving::erases);
    case cursor_place::text: return leave_screen_with(leaving::ends_line);
    case cursor_place::above_status:
      return leave_screen_with(leaving::ends_line_erases);
    case cursor_place::clean: break;
  }
  leave_screen_with(leaving::nothing);
}

}  // namespace riffle::cli
