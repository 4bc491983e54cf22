// SPDX-License-Identifier: MIT
#pragma once

// What Tab does in a conversation: commands and what stands behind them, and
// paths.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/terminal/chat_prompt.hpp"

namespace riffle::cli {

/// What may stand behind a command ("agent"); asked for by a Tab there.
using argument_names =
    std::function<std::vector<std::string>(std::string_view command)>;

/// Completes "/wo" to a command or one of `more` ("files__review"), "/agent re"
/// to one of its `names`, "/diff pa" and "@pa" to a path: one that begins so,
/// else one anywhere in this folder whose name holds it, unless ignored by git.
/// Where not all could be looked at it lists what was found and says so.
chat_prompt::completion complete_chat(std::string_view before_cursor,
                                      std::size_t columns,
                                      std::span<const std::string> more,
                                      const argument_names& names = {});

}  // namespace riffle::cli
