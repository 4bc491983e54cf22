// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cli/commands.hpp"

namespace riffle::cli {

/// What a line of the keyboard says: true for yes, false for no.
std::optional<bool> yes_or_no(std::string_view line);

/// Asks until there is an answer. What was typed before counts for nothing; a
/// closed keyboard, or `stopped`, is a no.
bool confirm(const std::string& question, int keyboard,
             const std::function<bool()>& stopped, console& io);

}  // namespace riffle::cli
