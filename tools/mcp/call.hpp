// SPDX-License-Identifier: MIT
#pragma once

#include "tools/mcp/server.hpp"
#include "tools/tool.hpp"

namespace riffle::mcp {

/// One call of a server's tool, with progress, to its end: also through rounds
/// of questions and tasks. `digest`: of the tool that was meant; another one
/// under its name is not called. What ended with the connection is `lost`.
tools::tool_output call_tool(server& at, const std::string& tool,
                             const std::string& digest, const json& arguments,
                             tools::tool_context& context);

/// The same for a look ahead: no progress, at most until `until`.
expected<std::string> call_preview(server& at, const std::string& tool,
                                   const std::string& digest,
                                   const json& arguments, time_point until);

/// Why a call of the tool that was meant is refused, as its server is now;
/// empty: it is not. `tool` empty: one that only needs the server.
std::string why_refused(const std::string& server, const server_status& now,
                        const std::string& tool, const std::string& digest);

/// The `traceparent` of a call: that of its run, else one of its own.
std::string trace_of_call(const tools::tool_context& context);

/// What a header holds: the text itself, or base64 where a header cannot.
std::string header_text(const json& value);

}  // namespace riffle::mcp
