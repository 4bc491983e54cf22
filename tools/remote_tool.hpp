// SPDX-License-Identifier: MIT
#pragma once

// A tool that only nodes have, as this process knows it: by what they offer.

#include "messages/cluster.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// Its title is its name with what the arguments say most, its keys are
/// those that the node names, and rules see the arguments as JSON. It never
/// runs here: `run` answers `tool_unavailable`. Throws nothing; an offer whose
/// schema is no schema is found by `registry::add`.
tool_ptr make_remote_tool(cluster::tool_offer offer);

/// Why what a node offers is no tool that may be used; nothing: it may.
std::optional<std::string> problem_of(const cluster::tool_offer& offer);

}  // namespace riffle::tools
