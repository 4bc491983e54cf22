// SPDX-License-Identifier: MIT
#pragma once

// Messages of the Model Context Protocol as they come over HTTP: what is asked,
// and whether the headers say the same.

#include <optional>
#include <string>

#include "runtime/http/message.hpp"
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

/// What stands in the header must be what stands in the body: somebody between
/// may have decided by it.
std::optional<reply> check_headers(const request& in, const mcp_message& x);

/// Of the older era, whose clients bring a name along.
std::optional<reply> check_session_name(const request& in,
                                        const mcp_message& x);

inline constexpr std::string_view session_header = "mcp-session-id";

}  // namespace riffle::http
