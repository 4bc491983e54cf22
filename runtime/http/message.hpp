// SPDX-License-Identifier: MIT
#pragma once

// A request and what is answered, apart from the bytes on the wire. Plain
// values: handlers know no sockets, the transport knows no runs.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace riffle::http {

using json = nlohmann::ordered_json;

/// A header.
struct field {
  std::string name;
  std::string value;
};

struct request {
  std::string method;
  std::string path;                          ///< as sent, without the query
  std::map<std::string, std::string> query;  ///< decoded; the last one counts
  std::vector<field> fields;                 ///< names in lower case
  std::string body;
  std::string peer;     ///< IP address; of the client, if a proxy is trusted
  bool secure = false;  ///< by TLS, here or at a trusted proxy
  time_point since{};   ///< when its header had come
  std::string_view route = {};  ///< as the table of routes has it

  /// Of several with this name the first; empty: none.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
  [[nodiscard]] bool has_header(std::string_view name) const noexcept;
};

/// Bytes that are made while they are sent. On the I/O thread alone: nothing
/// blocks.
class body_source {
 public:
  virtual ~body_source() = default;
  /// Once, first. `wake` is called, on the I/O thread, whenever `next` may have
  /// more; not from within `next`.
  virtual void begin(std::function<void()> wake) = 0;
  /// What is sent next; null: nothing now.
  virtual std::shared_ptr<const std::string> next() = 0;
  /// Nothing more comes.
  [[nodiscard]] virtual bool ended() const = 0;
  /// It broke off: the client must not take it for whole.
  [[nodiscard]] virtual bool broken() const { return false; }
  /// Sent when nothing else was for a while; empty: nothing is.
  [[nodiscard]] virtual std::string_view heartbeat() const { return {}; }
};

/// Of an open stream: it is ended once this was withdrawn. Any thread.
struct stream_permit {
  std::atomic<bool> withdrawn = false;
};

struct reply {
  unsigned status = 200;
  std::string type = "application/json";
  std::vector<field> fields;
  std::string body;
  /// Instead of `body`.
  std::shared_ptr<body_source> source;
  std::optional<std::uint64_t> length;  ///< of the source, if it is known
  /// Of a stream, held until its end; null: nobody takes it back.
  std::shared_ptr<const stream_permit> permit;
  bool close = false;  ///< the connection ends with it

  reply& with(std::string name, std::string value) {
    fields.push_back({std::move(name), std::move(value)});
    return *this;
  }
};

/// Takes the one answer, on any thread.
using responder = std::function<void(reply)>;

reply json_reply(unsigned status, const json& x);

/// RFC 9457, with `code`: one of the contract's, and what to do.
reply problem(unsigned status, std::string_view code, std::string detail);
/// With the status that belongs to its code.
reply problem(const error& x);
inline reply problem(reply x) { return x; }

/// RFC 3986: "%41" becomes "A"; nothing if it is ill-formed.
std::optional<std::string> percent_decoded(std::string_view text,
                                           bool plus_is_blank = false);

/// Fills `path` and `query`, and `Host` from a target in absolute form (RFC
/// 9112, 3.2.2). False: it is no target that can be understood.
bool read_target(std::string_view target, request& to);

std::string lower(std::string_view text);

}  // namespace riffle::http
