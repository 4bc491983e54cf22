// SPDX-License-Identifier: MIT
#pragma once

// Messages of the Model Context Protocol as they come over HTTP: what is asked,
// and whether the headers say the same.

#include <optional>
#include <string>

#include "runtime/http/message.hpp"
#include "runtime/http/tokens.hpp"
#include "tools/mcp/protocol.hpp"

namespace riffle::http {

/// What is asked, as far as that decides how it is answered.
struct mcp_message {
  mcp::json body{};
  std::string method{};
  std::string version{};  ///< of the newer era; empty: of the older one
};

/// A member; null: there is none.
mcp::json at(const mcp::json& x, const char* key);

mcp_message read_message(const std::string& body);

/// Whether the client takes what comes as a stream.
bool wants_stream(const request& in);

/// What stands in the header must be what stands in the body: somebody between
/// may have decided by it.
std::optional<reply> check_headers(const request& in, const mcp_message& x);

/// A key that stands twice: somebody between may have read the other one.
std::optional<reply> check_keys(const request& in, const mcp_message& x);

/// The name that a session of the older era gets. Nothing is kept of it: a
/// checksum in it shows that it was given, and to whom. It keeps no secret:
/// whoever has the caller's token could make one.
std::string make_session(const caller& who);

/// Of the older era, whose clients bring that name along.
std::optional<reply> check_session_name(const request& in, const mcp_message& x,
                                        const caller& who);

/// A JSON-RPC error to this message, as an answer of HTTP.
reply rpc_refusal(unsigned status, const mcp_message& x, int code,
                  const std::string& why);

inline constexpr std::string_view session_header = "mcp-session-id";

}  // namespace riffle::http
