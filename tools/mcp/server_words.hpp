// SPDX-License-Identifier: MIT
#pragma once

// How a server's failures are told. For server.cpp and server_begin.cpp.

#include <string>
#include <utility>

#include "messages/error.hpp"
#include "tools/mcp/link.hpp"

namespace riffle::mcp {

inline unexpected failure_of_server(errc code, std::string message) {
  return unexpected{
      error{.code = code, .op = "mcp", .message = std::move(message)}};
}

inline std::string why_of(const reply& x) {
  if (const auto* gone = std::get_if<lost>(&x)) return gone->why;
  if (const auto* error = std::get_if<rpc_error>(&x)) return render(*error);
  return "it did not answer in time";
}

}  // namespace riffle::mcp
