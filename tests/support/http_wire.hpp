// SPDX-License-Identifier: MIT
#pragma once

// How the test server reads requests and frames replies.

#include <optional>
#include <string>
#include <string_view>

#include "tests/support/http_server.hpp"

namespace riffle::testing::wire {

/// Whether this can become a request (a TLS client's first byte cannot).
bool looks_like_http(std::string_view in);

/// Takes one whole request from the front of `in`, if it is there.
std::optional<http_request> take_request(std::string& in);

/// Status line and headers; empty for `framing::raw`.
std::string head_of(const http_reply& reply);

/// Bytes of the body as they go over the wire.
std::string framed(const http_reply& reply, std::string_view bytes);

}  // namespace riffle::testing::wire
