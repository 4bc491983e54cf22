// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "tools/mcp/http_exchange.hpp"
#include "tools/mcp/rpc.hpp"
#include "tools/mcp/token_holder.hpp"

namespace riffle::mcp {

/// The error of JSON-RPC that an answer with another status carries.
std::optional<rpc_error> error_in(const std::string& body);

/// What such an answer means, in words.
std::string status_text(const exchange_end& x);

/// Whether nothing at the URL knows `initialize`: then a server of 2024-11-05
/// may be there (see `open_sse`).
bool is_not_here(const exchange_end& x);

/// Waits, or until somebody stops it.
void wait_until(time_point until, const std::stop_token& stop);

/// As `exchange_as`; while the server answers with 429 or 503 and says when to
/// ask again (`Retry-After`), waits and does: three times, a minute in all, and
/// never beyond `until`. A request that it answers so was not carried out.
exchange_end exchange_patiently(token_holder* who, const exchange_request& x);

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
