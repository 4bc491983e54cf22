// SPDX-License-Identifier: MIT
#include "tests/support/http_server.hpp"

#include <algorithm>
#include <stdexcept>
#include <sys/socket.h>

#include "tests/support/http_server_loop.hpp"

namespace riffle::testing {

http_server::http_server(handler decide)
    : state_{std::make_unique<shared>()},
      loop_{std::make_unique<loop>(*state_, std::move(decide))},
      port_{loop_->port()},
      thread_{[this] { loop_->run(); }} {}

namespace {

http_server::handler play(std::vector<http_reply> replies) {
  if (replies.empty()) {
    throw std::invalid_argument{"http_server: no reply"};
  }
  return [replies = std::move(replies),
          next = std::size_t{0}](const http_request&) mutable {
    auto i = std::min(next++, replies.size() - 1);
    return replies[i];
  };
}

}  // namespace

http_server::http_server(std::initializer_list<http_reply> replies)
    : http_server{play(replies)} {}

http_server::~http_server() {
  {
    std::scoped_lock lock{state_->mutex};
    state_->stopping = true;
  }
  loop_->wake();
  thread_.join();
}

std::string http_server::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port_).append(path);
}

std::vector<http_request> http_server::requests() const {
  std::scoped_lock lock{state_->mutex};
  return state_->requests;
}

std::size_t http_server::request_count() const {
  std::scoped_lock lock{state_->mutex};
  return state_->requests.size();
}

std::size_t http_server::connection_count() const {
  std::scoped_lock lock{state_->mutex};
  return state_->connections;
}

std::size_t http_server::open_connections() const {
  std::scoped_lock lock{state_->mutex};
  return state_->open;
}

std::size_t http_server::bytes_sent() const {
  std::scoped_lock lock{state_->mutex};
  return state_->bytes_sent;
}

bool http_server::wait_for_requests(std::size_t n,
                                    std::chrono::milliseconds limit) const {
  std::unique_lock lock{state_->mutex};
  return state_->changed.wait_for(lock, limit,
                                  [&] { return state_->requests.size() >= n; });
}

bool http_server::wait_for_open_connections(
    std::size_t n, std::chrono::milliseconds limit) const {
  std::unique_lock lock{state_->mutex};
  return state_->changed.wait_for(lock, limit,
                                  [&] { return state_->open <= n; });
}

void http_server::release(std::string gate) {
  {
    std::scoped_lock lock{state_->mutex};
    state_->released.insert(std::move(gate));
  }
  loop_->wake();
}

std::uint16_t dead_port() {
  // Bound but not listening: connections are refused. It is closed at once,
  // and the kernel gives ephemeral ports out again late.
  fd_owner fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  return bind_any(fd.get());
}

}  // namespace riffle::testing
