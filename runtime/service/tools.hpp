// SPDX-License-Identifier: MIT
#pragma once

// Use cases of tools: list, and call one by hand.

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "messages/event.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/reply.hpp"
#include "runtime/storage/health_registry.hpp"
#include "tools/registry.hpp"

namespace riffle::service {

/// What a list says of a tool.
struct tool_view {
  tools::tool_spec spec;
  bool idempotent = false;
  std::string approval;  ///< as the configuration has it
  /// Processes in which it is out of service now.
  std::vector<storage::tool_outage> outages;
  std::string unavailable{};  ///< why a call would be refused now; empty: not
};

/// All tools by name. Reads the files of the processes that live.
std::vector<tool_view> list_tools(const tools::registry& tools,
                                  const config::config& settings);

/// A call that no model made and no run holds: nothing is stored of it, no
/// rule asks about it.
struct hand_call {
  std::string tool;
  std::string arguments = "{}";  ///< a JSON object
  std::stop_token stop{};
  /// Told of the begin and the progress, on the tool's threads.
  std::function<void(events::body)> on_event{};
  /// Where a long output goes; empty: it is cut.
  std::filesystem::path output_file{};
};

struct hand_result {
  events::tool_result result;  ///< with the part of the output that is shown
  std::string text;            ///< all of it, unless it is in the file
};

/// Calls a tool on the calling thread, until its end or its time limits
/// (`tools.X.timeout`, `idle_timeout`). Fails with `not_found`,
/// `invalid_arguments`, and `invalid_request` for a control tool, which only a
/// run can handle.
expected<hand_result> call_tool(const tools::registry& tools,
                                const config::config& settings, hand_call x);

}  // namespace riffle::service
