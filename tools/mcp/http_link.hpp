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

/// Streamable HTTP: a POST for each message, answered by JSON or a stream of
/// events. Of the legacy era: the session that the server gives, a stream of
/// its own messages where it offers one, streams that go on after they broke,
/// and DELETE at the end. A session that the server has forgotten breaks the
/// connection. Redirects are not followed; proxies are those of the
/// environment.
link_ptr open_http(http_link_options options, link_events events);

}  // namespace riffle::mcp
