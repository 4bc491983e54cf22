// SPDX-License-Identifier: MIT
#pragma once

// How bytes reach a model server and come back. No dialect here.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace riffle::model {

/// The four time limits of one request; zero: none. While the receiver has
/// no credit left, `idle` and `total` are suspended.
struct transport_timeouts {
  duration connect = std::chrono::seconds{10};
  duration first_byte = std::chrono::seconds{60};  ///< from request to body
  duration idle = std::chrono::seconds{120};       ///< between two reads
  duration total = std::chrono::minutes{10};
};

struct transport_request {
  std::string url{};
  bool get = false;                    ///< GET, without a body; else POST
  std::vector<std::string> headers{};  ///< "Name: value"
  std::string body{};
  transport_timeouts timeouts{};
  /// Bytes that may be delivered before more is granted.
  std::size_t credit = 256u << 10;
  /// The server has refused it before, as there were too many.
  bool again = false;
};

/// How a transfer ended.
struct transport_end {
  int http_status = 0;  ///< 0: no answer came
  /// Nothing: the body ended cleanly with status 2xx. `model_unreachable`
  /// (no connection, TLS), `timeout`, `stream_interrupted` (cut),
  /// `model_rate_limited` (429), `model_error` (other status; the message
  /// holds the server's own words, at most 2 KiB), `cancelled`.
  /// `retryable`: `x-should-retry` decides first, else 408, 409, 429, >= 500
  /// and connection failures are; insufficient_quota is not.
  std::optional<error> failure{};
  /// What `retry-after-ms` or `retry-after` (seconds or HTTP date) asked for.
  std::optional<duration> retry_after{};
  /// What the server's headers about its limits ask for, so that they are not
  /// reached: a wait before the next request. Nothing: none.
  std::optional<duration> pace{};
  std::string content_type{};  ///< of the answer, lower case, no parameters
};

/// Receives one transfer. Called on the transport's thread, one call at a
/// time; must not block and must not throw.
class transfer_listener {
 public:
  virtual ~transfer_listener() = default;

  /// Once before the first bytes, if the headers of a 2xx answer say how much
  /// of the provider's limits is left: how long the next request should wait.
  /// The last event of a stream ends a turn, not the body: who learned it at
  /// the end would ask again too soon.
  virtual void on_pace(duration /*wait*/) {}

  /// It is not sent yet, since the server's limits hold it back: so long until
  /// it may be the turn of the next that waits; nothing: until another one has
  /// ended. Again when that has changed much.
  virtual void on_held(std::optional<duration> /*next*/) {}

  /// What was held back is sent now.
  virtual void on_sent() {}

  /// What one or several network reads brought, of a 2xx answer. Uses up
  /// credit of its size.
  virtual void on_bytes(std::string bytes) = 0;

  /// Exactly once, last.
  virtual void on_end(transport_end end) = 0;
};

using transfer_id = std::uint64_t;

/// Carries requests. Thread-safe; no call blocks on the network.
class transport {
 public:
  virtual ~transport() = default;

  /// Starts a transfer. The listener lives until `on_end` returned.
  virtual transfer_id open(transport_request request,
                           std::shared_ptr<transfer_listener> listener) = 0;

  /// Allows `bytes` more to be delivered. At most one network read (bounded,
  /// see the implementation) is held while there is no credit.
  virtual void grant(transfer_id id, std::size_t bytes) = 0;

  /// Ends the transfer soon, with `cancelled` unless it ended before.
  virtual void cancel(transfer_id id) = 0;
};

/// What a person may do where a model does not answer; empty: nothing is known.
struct model_advice {
  std::string unreachable{};  ///< where nobody listens
  std::string not_found{};    ///< where the server has no such model
  std::string refused{};      ///< where it does not take the key
};

/// The failure of a transfer with the advice for it behind its message.
[[nodiscard]] error advised(error why, int http_status, const model_advice& x);

}  // namespace riffle::model
