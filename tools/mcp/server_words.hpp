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

/// Only a person can change that.
inline bool needs_person(const reply& x) {
  if (const auto* gone = std::get_if<lost>(&x)) return gone->needs_person;
  const auto* refused = std::get_if<rpc_error>(&x);
  return refused != nullptr && refused->number == code::not_let_in;
}

/// `invalid_config`: it is not tried again by itself, see `server::rest`.
inline unexpected failure_of_start(const reply& x) {
  return failure_of_server(
      needs_person(x) ? errc::invalid_config : errc::tool_unavailable,
      why_of(x));
}

}  // namespace riffle::mcp
