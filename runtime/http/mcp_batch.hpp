// SPDX-License-Identifier: MIT
#pragma once

// Several messages of the Model Context Protocol in one request, as its
// versions before 2025-06-18 have it. Each is answered as if it had come alone,
// and all in one answer.

#include <functional>
#include <memory>
#include <vector>

#include "runtime/http/site.hpp"
#include "tools/mcp/rpc.hpp"

namespace riffle::http {

/// A list of messages, of a client whose version may send one.
bool is_batch(const request& in, const mcp::json& body);

/// Hands each to `serve`, and answers when all of them have.
void serve_batch(call c, const mcp::json& all,
                 const std::function<void(call)>& serve);

/// One answer of several, in their order; those that are made while they are
/// sent come as they come. `streams`: as server-sent events, else as one list.
reply joined(std::vector<reply> all, bool streams);

}  // namespace riffle::http
