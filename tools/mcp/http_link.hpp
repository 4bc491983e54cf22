// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/mcp/link.hpp"
#include "tools/mcp/token_holder.hpp"

namespace riffle::mcp {

struct http_link_options {
  std::string name{};                  ///< of the server, for the log
  std::string url{};                   ///< http:// or https://
  std::vector<std::string> headers{};  ///< "Name: value", of each request
  /// The token of a login, if there is one; null: there never is.
  std::shared_ptr<token_holder> who{};
  identity me{};
  duration connect_timeout = std::chrono::seconds{10};
  /// Between two tries to go on with a stream that broke, if the server does
  /// not say.
  duration retry = std::chrono::milliseconds{500};
  std::size_t largest_message = 8u << 20;
};

/// A server at a URL, by whichever way it is reached there: streamable HTTP;
/// where nobody knows `initialize` (400, 404 or 405), the older HTTP+SSE.
/// Redirects are not followed; proxies are those of the environment.
link_ptr open_http(http_link_options options, link_events events);

/// Streamable HTTP: a POST for each message, answered by JSON or a stream of
/// events. Of the legacy era: the session that the server gives, a stream of
/// its own messages where it offers one, streams that go on after they broke,
/// and DELETE at the end. A session that the server has forgotten breaks the
/// connection. `initialize` that nobody knows is `code::not_here`.
link_ptr open_streamable(http_link_options options, link_events events);

/// HTTP+SSE of 2024-11-05: one stream for all that the server says, whose first
/// event names the place to which all is posted. That has to be at the same
/// scheme, host and port. Waits for it, until `until` or `stop`; fails, saying
/// why, if it does not come.
expected<link_ptr> open_sse(http_link_options options, link_events events,
                            time_point until, const std::stop_token& stop);

}  // namespace riffle::mcp
