// SPDX-License-Identifier: MIT
#pragma once

// One HTTP request to a server, on the thread that makes it.

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "messages/time.hpp"

namespace riffle::mcp {

struct exchange_request {
  std::string method = "POST";
  std::string url{};
  std::vector<std::string> headers{};
  std::string body{};
  duration connect_timeout = std::chrono::seconds{10};
  std::stop_token stop{};
  time_point until = time_point::max();
  std::size_t largest_message = 8u << 20;
  /// Each message of a stream, or the whole JSON body. False: that is enough.
  std::function<bool(std::string_view)> on_message{};
  /// Each event of a stream that is of another type than "message".
  std::function<void(std::string_view type, std::string_view data)> on_event{};
  /// The headers of the answer are there.
  std::function<void()> on_answer{};
  /// Called every tenth of a second or sooner; false: that is enough.
  std::function<bool()> on_time{};
};

struct exchange_end {
  int status = 0;         ///< 0: there was no answer
  std::string problem{};  ///< why there is none, or why it broke
  bool nobody = false;    ///< nothing listens there
  bool late = false;      ///< `until` was reached
  bool stopped = false;   ///< by `stop`
  bool enough = false;    ///< by one of the functions
  bool stream = false;    ///< it was a stream of events
  std::string session{};  ///< `Mcp-Session-Id`
  std::string body{};     ///< of an answer that is no 2xx, cut
  std::string last_event_id{};
  std::optional<std::uint64_t> retry_ms{};
  std::optional<std::chrono::seconds> retry_after{};
  std::string authenticate{};  ///< `WWW-Authenticate`, all of them
  std::string dpop_nonce{};    ///< `DPoP-Nonce` (RFC 9449)
  std::string advice{};        ///< what a person does about a 401 or 403
};

exchange_end exchange(const exchange_request& x);

}  // namespace riffle::mcp
