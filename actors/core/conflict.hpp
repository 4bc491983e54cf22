// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "messages/call.hpp"

namespace riffle::core {

/// Whether two calls of a step must run in the model's order (rule
/// "conflicts"): keys overlap and one of them mutates, or both mutate. A
/// mutating call without keys overlaps everything.
bool conflict(const tool_call& a, const tool_call& b);

/// Whether two keys overlap: equal, or one is a folder that holds the other.
bool keys_overlap(const std::string& a, const std::string& b);

}  // namespace riffle::core
