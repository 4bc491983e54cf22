// SPDX-License-Identifier: MIT
#pragma once

// Tests in three lines, for programs that use the library: one call of a tool
// without a runtime, and an agent's whole loop with a scripted model and the
// journal in memory. No network, no files, any test framework.

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/api/riffle.hpp"

namespace riffle::testing {

/// What a call of a tool did.
struct tool_trial {
  tools::tool_output output{};
  std::vector<tool_progress_report> progress{};  ///< all, in order
  std::string title{};
  std::vector<std::string> keys{};
  rule_subject subject{};  ///< what rules would be matched with
  std::string preview{};   ///< what a person who decides would be shown
};

struct trial_options {
  std::filesystem::path workspace = ".";
  std::stop_token stop{};
  std::uint32_t attempt = 1;
};

/// Runs one call on this thread. `arguments` is the JSON text that a model
/// would send, checked as in a runtime. Fails with `invalid_config` (the
/// tool's name or schema is wrong), `invalid_arguments`, or
/// `tool_execution_error` (it threw: in a runtime that costs the worker). What
/// the model may react to is in `output.err`.
expected<tool_trial> run_tool(const tools::tool_ptr& tool,
                              std::string_view arguments,
                              const trial_options& options = {});

/// What a run of an agent did.
struct agent_trial {
  run_outcome outcome{};
  std::vector<event> events{};  ///< the whole log
};

/// Runs a task with an agent that has these tools, and a model that plays
/// `script` (TOML, as in the installed demo.script.toml). Calls that need
/// approval are approved. The run is cancelled after a minute. Fails with
/// `invalid_config` (script, tools), or as `runtime::execute`.
expected<agent_trial> run_agent(std::vector<tools::tool_ptr> tools,
                                std::string script, std::string task = "test");

}  // namespace riffle::testing
