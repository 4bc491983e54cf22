// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "tools/tool.hpp"

namespace riffle {

/// The control tools as entries of the registry, so that the model is told of
/// them and their arguments are checked. They are never run: the orchestrator
/// handles them.
std::vector<tools::tool_ptr> control_entries();

}  // namespace riffle
