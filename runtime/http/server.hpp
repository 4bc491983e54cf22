// SPDX-License-Identifier: MIT
#pragma once

// The transport: HTTP/1.1 over TCP and TLS, on one thread. It knows no runs;
// what is asked and answered goes through `application`. README.md says why
// one thread.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/http/message.hpp"

namespace riffle::http {

/// What was decided about a request from its header.
struct admission {
  std::optional<reply> refusal;
  std::uint64_t body_limit = 0;
  std::shared_ptr<void> ticket;  ///< for the application, with the request
};

/// Both are called on the I/O thread and must not block.
class application {
 public:
  virtual ~application() = default;
  virtual admission admit(request& x) = 0;
  virtual void handle(request x, std::shared_ptr<void> ticket,
                      responder to) = 0;
  /// Before any answer goes out.
  virtual void finish(const request& x, reply& to) = 0;
  /// Called each 50 ms.
  virtual void tick() = 0;
};

struct server_options {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;   ///< 0: any
  int listening = -1;       ///< a socket that listens already, instead; owned
  std::string certificate;  ///< PEM files; empty: plain
  std::string key;
  std::uint64_t header_bytes = 16u << 10;
  std::uint32_t connections = 10'000;
  duration request_timeout = std::chrono::seconds{30};
  duration idle_timeout = std::chrono::seconds{75};  ///< between requests
  duration stall_timeout = std::chrono::seconds{60};
  duration heartbeat = std::chrono::seconds{15};
};

/// What the transport counts, for metrics. As of one moment.
struct server_counts {
  std::uint64_t connections = 0;
  std::uint64_t streams = 0;
  std::uint64_t stalled = 0;  ///< cut off by `stall_timeout`, in all
};

class server {
 public:
  /// Listens when it returns; serves from `run` on. Fails with
  /// `invalid_config` (the port is taken, no such file).
  static expected<std::unique_ptr<server>> open(server_options x);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] server_counts counts() const;

  /// Runs a job on the I/O thread, in order; from any thread. Dropped after
  /// the end.
  void post(std::function<void()> job);

  /// Starts the thread. `to` lives until `close` has returned.
  void start(application& to);

  /// Takes these PEM files for connections that come from now on, if it spoke
  /// TLS so far; fails and stays as it was if they are none. Any thread.
  expected<void> renew_certificate(const std::string& certificate,
                                   const std::string& key);

  /// Refuses connections from now on: the port is closed. Streams go on.
  void stop_listening();
  /// Ends streams at an event's border, answers what was asked, and then all
  /// connections, within `limit`. Blocks. No handler runs when it returned.
  void close(duration limit);

 private:
  struct impl;
  explicit server(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

}  // namespace riffle::http
