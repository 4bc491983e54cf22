// SPDX-License-Identifier: MIT
#pragma once

// A small programmable HTTP/1.1 server on loopback, for all tests that need a
// model provider, a web page or a broken network at the other end.
//
//   http_server server{[](const http_request& request) {
//     return http_reply::sse().send("data: a\n\n").pause(20ms).send(
//       "data: b\n\n");
//   }};
//   client.get(server.url("/v1/chat/completions"));
//   CHECK(server.requests().at(0).header("authorization") == "Bearer x");
//
// One thread, one listening socket on 127.0.0.1 with a port of its own,
// everything ends with the object. Keep-alive and any number of connections.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace riffle::testing {

/// What a client asked for.
struct http_request {
  std::string method;
  std::string target;  ///< path and query, as sent
  std::vector<std::pair<std::string, std::string>> headers;  ///< names lower
  std::string body;
  std::size_t connection = 0;  ///< ordinal of its connection, from 1

  /// The value of the first header of that name (lower case), or "".
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

/// A scripted answer: status, headers, then steps that run in order. After
/// the last step the body ends properly and the connection is kept, unless
/// `cut`, `reset` or `until_close` said otherwise.
class http_reply {
 public:
  /// How the end of the body is told.
  enum class framing : std::uint8_t {
    length,       ///< content-length, of all that the steps send
    chunked,      ///< each `send` is one chunk
    until_close,  ///< the body ends with the connection
    raw,          ///< steps send everything: no status line, no headers
  };

  struct send_step {
    std::string unit;
    std::size_t times = 1;
  };
  struct pause_step {
    std::chrono::milliseconds length;
  };
  struct stall_step {
    std::string gate;
  };
  struct close_step {
    bool reset = false;
  };
  using step = std::variant<send_step, pause_step, stall_step, close_step>;

  explicit http_reply(int code = 200, framing body = framing::length)
      : status{code}, how{body} {}

  /// 200, `text/event-stream`, chunked, nothing sent yet.
  static http_reply sse();
  /// A whole answer with content-length.
  static http_reply text(std::string body, int code = 200,
                         std::string content_type = "text/plain");
  static http_reply json(std::string body, int code = 200);
  /// These bytes and nothing else, then the connection closes.
  static http_reply garbage(std::string bytes);

  /// Adds a header line.
  http_reply& header(std::string name, std::string value) &;
  /// Sends bytes of the body (one chunk if chunked).
  http_reply& send(std::string bytes) &;
  /// Sends `unit` many times at full speed without keeping it all in memory
  /// (up to 64 KiB are one chunk).
  http_reply& repeat(std::string unit, std::size_t times) &;
  /// Waits; ends early when the server ends.
  http_reply& pause(std::chrono::milliseconds length) &;
  /// Sends `bytes` one by one, each after `interval`.
  http_reply& trickle(std::string_view bytes,
                      std::chrono::milliseconds interval) &;
  /// Waits until the test calls `http_server::release(gate)`.
  http_reply& stall(std::string gate = {}) &;
  /// Closes the connection here, in the middle of the body.
  http_reply& cut() &;
  /// Resets the connection here (TCP RST).
  http_reply& reset() &;
  /// Announces a content-length that the steps need not keep.
  http_reply& announce(std::size_t content_length) &;
  /// Writes to the socket at most `n` bytes at a time, framing included.
  http_reply& pieces(std::size_t n) &;

  // The same on temporaries, so that a reply is one expression.
  http_reply header(std::string name, std::string value) && {
    return std::move(header(std::move(name), std::move(value)));
  }
  http_reply send(std::string bytes) && {
    return std::move(send(std::move(bytes)));
  }
  http_reply repeat(std::string unit, std::size_t times) && {
    return std::move(repeat(std::move(unit), times));
  }
  http_reply pause(std::chrono::milliseconds length) && {
    return std::move(pause(length));
  }
  http_reply trickle(std::string_view bytes,
                     std::chrono::milliseconds interval) && {
    return std::move(trickle(bytes, interval));
  }
  http_reply stall(std::string gate = {}) && {
    return std::move(stall(std::move(gate)));
  }
  http_reply cut() && { return std::move(cut()); }
  http_reply reset() && { return std::move(reset()); }
  http_reply announce(std::size_t n) && { return std::move(announce(n)); }
  http_reply pieces(std::size_t n) && { return std::move(pieces(n)); }

  int status;
  framing how;
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<step> steps;
  std::size_t announced = npos;
  std::size_t piece = npos;

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
};

/// A whole event stream in one answer, one chunk for each event of `text`
/// (they end with an empty line).
http_reply respond_sse(std::string_view text);

/// The server. All functions may be called from any thread.
class http_server {
 public:
  /// Decides the answer; called on the server's thread.
  using handler = std::function<http_reply(const http_request&)>;

  explicit http_server(handler decide);
  /// Answers the first request with the first reply and so on; the last one
  /// answers all further requests.
  http_server(std::initializer_list<http_reply> replies);
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// `http://127.0.0.1:PORT` + path.
  [[nodiscard]] std::string url(std::string_view path = "/") const;

  /// All requests so far, in the order of their arrival.
  [[nodiscard]] std::vector<http_request> requests() const;
  [[nodiscard]] std::size_t request_count() const;
  /// Connections accepted so far, and those that are open now.
  [[nodiscard]] std::size_t connection_count() const;
  [[nodiscard]] std::size_t open_connections() const;
  /// Bytes that the kernel took from us, framing included.
  [[nodiscard]] std::size_t bytes_sent() const;

  /// Waits until `n` requests have come; false after the limit.
  bool wait_for_requests(std::size_t n,
                         std::chrono::milliseconds limit = std::chrono::seconds{
                             10}) const;
  /// Waits until at most `n` connections are open; false after the limit.
  bool wait_for_open_connections(
      std::size_t n,
      std::chrono::milliseconds limit = std::chrono::seconds{10}) const;

  /// Lets all replies go on that stall at this gate, now and later.
  void release(std::string gate = {});

 private:
  class loop;

  struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<http_request> requests;
    std::size_t connections = 0;
    std::size_t open = 0;
    std::size_t bytes_sent = 0;
    std::set<std::string, std::less<>> released;
    bool stopping = false;
  };

  std::unique_ptr<shared> state_;
  std::unique_ptr<loop> loop_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

/// A loopback port where nobody listens.
std::uint16_t dead_port();

}  // namespace riffle::testing
