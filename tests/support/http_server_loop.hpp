// SPDX-License-Identifier: MIT
#pragma once

// The test server's thread: accepts, reads, plays replies.

#include <chrono>
#include <list>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <vector>

#include "tests/support/http_server.hpp"

namespace riffle::testing {

/// Closes its file descriptor; throws std::system_error when made from -1.
class fd_owner {
 public:
  explicit fd_owner(int fd);
  ~fd_owner();
  fd_owner(const fd_owner&) = delete;
  fd_owner& operator=(const fd_owner&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

/// Binds to 127.0.0.1 and a free port, which is returned.
std::uint16_t bind_any(int fd);

class http_server::loop {
 public:
  loop(shared& state, handler decide);

  void run();
  /// Interrupts a wait; from any thread.
  void wake();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  struct connection {
    connection(int fd, std::size_t number) : socket{fd}, ordinal{number} {}

    fd_owner socket;
    std::size_t ordinal;
    std::string in;
    std::string out;
    std::size_t written = 0;  ///< of `out`
    std::optional<http_reply> reply;
    std::size_t step = 0;
    std::size_t repeated = 0;  ///< of the current send_step
    std::optional<std::chrono::steady_clock::time_point> due;
    std::string gate;
    bool stalled = false;
    bool told_continue = false;
    bool dead = false;
  };

  void wait();
  void accept_all();
  void read(connection& c);
  void answer(connection& c);
  void advance(connection& c);
  bool run_step(connection& c);
  void send_more(connection& c, const http_reply::send_step& step);
  void finish(connection& c);
  void flush(connection& c);
  void close(connection& c, bool reset);
  [[nodiscard]] bool released(const std::string& gate) const;

  shared& state_;
  handler decide_;
  fd_owner listener_{
      ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  fd_owner waker_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  std::uint16_t port_ = 0;
  std::list<connection> connections_;
  std::vector<pollfd> polled_;
};

}  // namespace riffle::testing
