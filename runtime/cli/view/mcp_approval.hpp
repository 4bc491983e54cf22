// SPDX-License-Identifier: MIT
#pragma once

// What a person reads of a server's tools before they count, in short: a line
// for each. All of it is what `mcp_changes_text` says. Pure.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/config/config.hpp"
#include "tools/mcp/memory.hpp"

namespace riffle::cli {

/// What a tool counts as here: "read_only", "mutating".
using effect_namer = std::function<std::string(const mcp::tool_def&)>;

/// "read_text_file(path, head?, tail?)": optional ones with a '?', of many the
/// first.
std::string mcp_signature(const mcp::tool_def& x);

/// All tools of a server, a line of at most so many `columns` each, with a mark
/// in front of what changed since the last approval: '+' new, '~' another one
/// (and below it how), '-' gone.
std::string mcp_tools_text(const std::vector<mcp::tool_def>& all,
                           const std::vector<mcp::change>& changed,
                           const effect_namer& effect, std::size_t columns);

/// The question behind that: which server, how many tools, what runs.
std::string mcp_question(const std::string& server, const config::mcp_config& x,
                         std::size_t tools,
                         const std::vector<mcp::change>& changed);

/// What is approved, for programs: a list of {name, change, effect,
/// description, title?, says?, arguments, result?}.
nlohmann::ordered_json mcp_tools_json(const std::vector<mcp::tool_def>& all,
                                      const std::vector<mcp::change>& changed,
                                      const effect_namer& effect);

/// "command: npx -y server", "url: https://…"; one line.
std::string mcp_place_text(const config::mcp_config& x);

}  // namespace riffle::cli
