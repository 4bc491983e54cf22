// SPDX-License-Identifier: MIT
#pragma once

// What the `tool_progress` of a call says that was begun, but waits for a
// worker, since all that its tool may have are at work.

#include <string>
#include <string_view>

#include "messages/time.hpp"

namespace riffle::core {

/// It waits.
inline constexpr std::string_view waits_for_worker = "waits for a free worker";

/// A worker has it now: "waited 3.2s for a free worker".
std::string waited_notice(duration waited);
bool is_waited_notice(std::string_view message);

}  // namespace riffle::core
