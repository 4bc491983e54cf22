// SPDX-License-Identifier: MIT
#pragma once

// A connection to one server, whatever carries it. Blocks; thread-safe: any
// number of requests are under way on one connection.

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "messages/time.hpp"
#include "tools/mcp/protocol.hpp"

namespace riffle::mcp {

/// Nobody waits for the answer any more.
struct given_up {
  bool late = false;  ///< the time was over; else its caller stopped it
};

using reply = std::variant<json, rpc_error, lost, given_up>;

struct request {
  std::string method{};
  json params = json::object();
  /// Empty: no progress is asked for. Called on a thread of the connection.
  std::function<void(const progressed&)> on_progress{};
  std::stop_token stop{};
  time_point until = time_point::max();
  /// Header -> value (HTTP): what `x-mcp-header` asks for.
  std::map<std::string, std::string> headers{};
};

/// What a connection tells beside answers, on its threads; must not block.
struct link_events {
  std::function<void(const notified&)> on_notification{};
  /// Once, the last of all; by then all its requests are lost.
  std::function<void(const std::string& why)> on_broken{};
};

class link {
 public:
  virtual ~link() = default;

  /// Sends and waits: until the answer, the end of the connection, `until`, or
  /// a stop. The last two cancel it as the era wants.
  virtual reply ask(const request& x) = 0;

  virtual void notify(std::string_view method, const json& params) = 0;

  /// What `initialize` or `server/discover` said: it decides headers and how
  /// requests are cancelled.
  virtual void set_version(std::string_view version) = 0;

  /// Ends it: the server's processes, or its session. Bounded; what is open is
  /// lost. No event comes afterwards.
  virtual void close() = 0;
};

using link_ptr = std::shared_ptr<link>;

}  // namespace riffle::mcp
