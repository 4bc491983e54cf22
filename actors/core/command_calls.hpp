// SPDX-License-Identifier: MIT
#pragma once

// Calls that do less, or more, than others of the same program.

#include <string_view>

#include "actors/core/command_pattern.hpp"

namespace riffle::core {

/// What it is given may be text: /dev/stdin, also by a way around.
bool is_input(std::string_view file);

/// npm has a shell read its input where no command follows (`npm exec`).
bool opens_shell(std::string_view program, shell_words rest);

/// A call that says what the program is or has, and nothing else (`node -v`,
/// `docker ps`, `command -v x`).
bool only_tells(std::string_view program, shell_words rest);

}  // namespace riffle::core
