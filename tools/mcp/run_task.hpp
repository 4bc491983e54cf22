// SPDX-License-Identifier: MIT
#pragma once

// The one tool that Riffle itself has for clients of the protocol: a task that
// an agent works on. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/mcp/rpc.hpp"

namespace riffle::mcp {

/// As `tools/list` has it.
json run_task_tool();

struct task_end {
  std::string status{};  ///< completed, failed, cancelled
  std::string answer{};  ///< or why there is none
  std::string run{};
  std::string session{};
  std::uint32_t steps = 0;
  std::uint32_t tool_calls = 0;
};
/// As `tools/call` has it.
json task_result(const task_end& x);
/// Of a task that never began.
json task_refusal(const std::string& why);

/// What a client is told of an event, by its line; empty: nothing. Steps,
/// calls and their progress are told.
std::string task_news(std::string_view type, std::string_view line);

}  // namespace riffle::mcp
