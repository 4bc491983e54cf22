// SPDX-License-Identifier: MIT
#pragma once

#include "tools/mcp/protocol.hpp"
#include "tools/tool.hpp"

namespace riffle::mcp {

/// What a model is told of the result of `tools/call`: texts joined; pictures
/// and files as files where it takes them, else in a word; links by their
/// address; structured content, checked by the tool's `outputSchema`, where
/// there is no text. `isError` becomes a failure that the model reads.
tools::tool_output read_result(const json& result, const tool_def& tool,
                               const tools::tool_context& context);

/// The texts of a resource's contents, or of a prompt's messages: the same
/// rules.
std::string read_contents(const json& contents);

}  // namespace riffle::mcp
