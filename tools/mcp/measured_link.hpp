// SPDX-License-Identifier: MIT
#pragma once

// A connection whose requests and life are measured (runtime/base/metrics.hpp).

#include "tools/mcp/server.hpp"

namespace riffle::mcp {

/// What `of.connect` makes.
link_ptr connect_measured(const server_options& of, link_events events);

}  // namespace riffle::mcp
