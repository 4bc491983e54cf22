// SPDX-License-Identifier: MIT
#pragma once

// What Tab does in a conversation: commands and what stands behind them, and
// paths.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/cli/terminal/chat_prompt.hpp"
#include "runtime/cli/terminal/typed_list.hpp"

namespace riffle::cli {

/// What the list has for the text before the cursor, waited for.
using waited_offer =
    std::function<std::optional<typed_offer>(std::string_view before_cursor)>;

/// Completes "/wo" to a command or one of `more` ("files__review"), all else to
/// what fits best of what the list has: one of these, or what they have in
/// common. Where not all could be looked at it lists what was found and says
/// so.
chat_prompt::completion complete_chat(std::string_view before_cursor,
                                      std::size_t columns,
                                      std::span<const std::string> more,
                                      const waited_offer& known = {});

}  // namespace riffle::cli
