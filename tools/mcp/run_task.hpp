// SPDX-License-Identifier: MIT
#pragma once

// What Riffle itself has for clients of the protocol: a task that an agent
// works on, and the single tools that the configuration offers. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/mcp/rpc.hpp"
#include "tools/tool.hpp"

namespace riffle::mcp {

inline constexpr std::string_view run_task_name = "run_task";

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

/// A tool of Riffle's as `tools/list` has it.
json offered_tool(const tools::tool_spec& x);

/// One call of it, as a plan (JSON): a run of its own, with all that holds for
/// a run's calls.
std::string plan_of_call(const std::string& tool, const json& arguments);

struct call_end {
  bool good = false;
  std::string text{};  ///< its output; of a failed call also why
};
/// As `tools/call` has it.
json call_result(const call_end& x);

/// Why a call failed, and what it put out until then, as one text.
std::string failed_call_text(const std::string& why, const std::string& output);

/// What a client is told of an event, by its line; empty: nothing. Steps,
/// calls, their progress and what waits for a person are told.
std::string task_news(std::string_view type, std::string_view line);

}  // namespace riffle::mcp
