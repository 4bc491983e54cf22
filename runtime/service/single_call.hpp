// SPDX-License-Identifier: MIT
#pragma once

// Calls of single tools for clients of the Model Context Protocol: each is a
// plan of one step, and so a run with a record of its own. Whoever asked waits
// for it, so once cut off nobody takes it up again.

#include <string>
#include <string_view>

#include "messages/ids.hpp"
#include "runtime/service/requests.hpp"
#include "runtime/service/sessions.hpp"
#include "tools/mcp/run_task.hpp"
#include "tools/registry.hpp"

namespace riffle::service {

/// What the ids of such runs, and so of their records, begin with.
inline constexpr std::string_view single_call_prefix = "plan_call_";
/// A task whose client waits for its answer as for that of a call.
inline constexpr std::string_view waited_for_prefix = "run_once_";

/// Lists of conversations are without these.
bool is_single_call(const session_id& x) noexcept;

/// Nobody goes on with it after its process has ended.
bool is_waited_for(const run_id& x) noexcept;

/// The plan of a call. Fails where there is no such tool, or it does not take
/// these arguments: then nothing begins.
expected<plan_request> plan_of_single_call(const tools::registry& all,
                                           const std::string& tool,
                                           const mcp::json& arguments);

/// How the run of a single call ended.
struct single_call_end {
  run_id run{};
  bool completed = false;
  std::string answer{};  ///< of one that completed
  std::string why{};     ///< of another
};

/// What the client is told: what a model would be, with pictures and files.
/// `links`: it may read whole outputs. Blocks on the journal.
mcp::call_end told_of(const single_call_end& x, const sessions& all,
                      storage::journal& journal, bool links);

/// The first part of an output, 1 MiB at most. Blocks.
expected<std::string> first_part_of(const kept_output& x);

/// Why a call failed, without the words of its plan.
std::string without_step(const std::string& why);

}  // namespace riffle::service
