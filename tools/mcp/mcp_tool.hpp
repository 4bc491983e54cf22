// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/mcp/server.hpp"
#include "tools/tool.hpp"

namespace riffle::mcp {

/// What the configuration says of a server's tools.
struct tool_rules {
  /// What a tool says of its effect counts.
  bool trusts = false;
  std::optional<effect> eff{};      ///< of this tool; nothing: see `trusts`
  std::vector<std::string> keys{};  ///< JSON pointers
  /// Arguments (an object) that make a call a preview of itself; null: none.
  json preview{};
};

/// What the tool does to the world, as far as anybody whom the configuration
/// trusts says: without one it may change anything.
effect effect_of(const tool_def& tool, const tool_rules& rules);

/// A tool of a server as Riffle's own, "files__read_text_file". `command`: what
/// the server is, for those who approve calls.
tools::tool_ptr make_tool(std::shared_ptr<server> at, const tool_def& tool,
                          const tool_rules& rules, bool guarded,
                          std::string command);

/// `NAME__read_resource` of a server that has resources. It may change
/// anything, unless `rules` say what it does, or trust the server.
/// `templates`: of URIs that it takes beside those of its list.
tools::tool_ptr make_resource_tool(
    std::shared_ptr<server> at, const tool_rules& rules, bool guarded,
    const std::vector<std::string>& templates = {});

}  // namespace riffle::mcp
