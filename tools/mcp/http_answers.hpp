// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "tools/mcp/http_exchange.hpp"
#include "tools/mcp/rpc.hpp"

namespace riffle::mcp {

/// The error of JSON-RPC that an answer with another status carries.
std::optional<rpc_error> error_in(const std::string& body);

/// What such an answer means, in words.
std::string status_text(const exchange_end& x);

/// Whether the stream of a server's own messages has begun, or never will.
struct listening {
  struct end {
    listening& of;
    ~end() { of.tell(); }
  };

  void tell() {
    const std::lock_guard lock{mutex};
    known = true;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock{mutex};
    changed.wait_for(lock, std::chrono::seconds{1}, [this] { return known; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool known = false;
};

}  // namespace riffle::mcp
