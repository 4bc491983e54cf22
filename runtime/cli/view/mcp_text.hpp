// SPDX-License-Identifier: MIT
#pragma once

// The tables [mcp.NAME] as text, and what 'riffle mcp' prints.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/config/config.hpp"
#include "runtime/service/requests.hpp"
#include "tools/mcp/servers.hpp"

namespace riffle::cli {

/// A table of TOML with what differs from the defaults.
std::string mcp_table(const std::string& name, const config::mcp_config& x);

/// A configuration's text without the tables of a server; nothing: it has none.
std::optional<std::string> without_mcp_table(const std::string& text,
                                             const std::string& name);

struct imported_servers {
  std::vector<std::pair<std::string, config::mcp_config>> all{};
  std::vector<std::string> problems{};  ///< what was left out, and why
  std::vector<std::string> notes{};     ///< what is taken over, and is odd
};

/// JSON as editors keep it: with comments, and commas before a closing bracket.
/// Nothing: `mistake` says "LINE:COLUMN: why".
std::optional<nlohmann::json> read_commented_json(const std::string& text,
                                                  std::string& mistake);

/// Of the JSON that other clients use: `mcpServers`, or `servers`. Values that
/// are no variables are not taken over where a key would stand in a file.
/// (This and the one before: mcp_import.cpp.)
imported_servers read_mcp_servers(const nlohmann::json& x);

/// A prompt as a person types it, and what it is for; a line.
std::string prompt_text(const server_prompt& x, std::size_t columns);

/// A server as `riffle mcp list` shows it.
std::string mcp_line(const mcp::server_view& x);

/// What is new in a server's tools, for a person: all that a model reads of a
/// new one, and of one that changed the lines that differ. `effect`: what a
/// tool counts as here. (mcp_changes.cpp)
std::string mcp_changes_text(
    const std::vector<mcp::change>& all,
    const std::function<std::string(const mcp::tool_def&)>& effect);

/// All that a model reads of the tools that are not new, whose text stands
/// among the changes; empty: there are none. (mcp_changes.cpp)
std::string mcp_whole_text(
    const std::vector<mcp::tool_def>& all,
    const std::vector<mcp::change>& changed,
    const std::function<std::string(const mcp::tool_def&)>& effect);

/// The lines in which a tool that is another one differs from what was
/// approved.
std::string mcp_difference_text(const mcp::change& x);

/// Tools that could show what a call would do before it is approved, and what
/// the configuration has to say for that; empty: there is none, or it does.
std::string mcp_preview_hint(const std::string& server,
                             const config::mcp_config& x,
                             const std::vector<mcp::tool_def>& tools);

/// What it says of its use, where that differs; empty: it does not.
std::string mcp_instructions_text(const std::string& before,
                                  const std::string& now);

/// Tools that it adds while it runs: new ones, and of one that is among those
/// that were `approved` the lines that differ.
std::string mcp_late_text(
    const std::map<std::string, mcp::approved_tool>& tools,
    const std::map<std::string, mcp::approved_tool>& approved = {});

}  // namespace riffle::cli
