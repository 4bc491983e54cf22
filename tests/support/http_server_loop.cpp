// SPDX-License-Identifier: MIT
#include "tests/support/http_server_loop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <system_error>
#include <unistd.h>

#include "tests/support/http_wire.hpp"

namespace riffle::testing {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t block_size = 64u << 10;
constexpr std::size_t max_request = 64u << 20;

sockaddr_in loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

fd_owner::fd_owner(int fd) : fd_{fd} {
  if (fd < 0) {
    throw std::system_error{errno, std::generic_category(), "http_server"};
  }
}

fd_owner::~fd_owner() { ::close(fd_); }

std::uint16_t bind_any(int fd) {
  auto address = loopback();
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd, generic, size) != 0 ||
      ::getsockname(fd, generic, &size) != 0) {
    throw std::system_error{errno, std::generic_category(), "bind"};
  }
  return ntohs(address.sin_port);
}

http_server::loop::loop(shared& state, handler decide)
    : state_{state},
      decide_{std::move(decide)},
      port_{bind_any(listener_.get())} {
  if (::listen(listener_.get(), 4096) != 0) {
    throw std::system_error{errno, std::generic_category(), "listen"};
  }
}

void http_server::loop::wake() { ::eventfd_write(waker_.get(), 1); }

void http_server::loop::run() {
  for (;;) {
    {
      std::scoped_lock lock{state_.mutex};
      if (state_.stopping) {
        break;
      }
    }
    wait();
    accept_all();
    for (auto& c : connections_) {
      advance(c);
    }
    auto gone = connections_.remove_if([](auto& c) { return c.dead; });
    if (gone > 0) {
      std::scoped_lock lock{state_.mutex};
      state_.open -= gone;
      state_.changed.notify_all();
    }
  }
  connections_.clear();
}

void http_server::loop::wait() {
  polled_.clear();
  polled_.push_back({listener_.get(), POLLIN, 0});
  polled_.push_back({waker_.get(), POLLIN, 0});
  auto due = clock::now() + std::chrono::seconds{1};
  for (auto& c : connections_) {
    auto writes = c.written < c.out.size() && !c.due;
    polled_.push_back({c.socket.get(),
                       static_cast<short>(POLLIN | (writes ? POLLOUT : 0)), 0});
    due = std::min(due, c.due.value_or(due));
  }
  auto left = std::chrono::ceil<std::chrono::milliseconds>(due - clock::now());
  ::poll(polled_.data(), polled_.size(),
         static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  std::uint64_t ignored = 0;
  if (::read(waker_.get(), &ignored, sizeof(ignored)) < 0 && errno != EAGAIN) {
    throw std::system_error{errno, std::generic_category(), "eventfd"};
  }
  std::size_t i = 2;
  for (auto& c : connections_) {
    if (polled_[i++].revents & (POLLIN | POLLHUP | POLLERR)) {
      read(c);
    }
  }
}

void http_server::loop::accept_all() {
  for (;;) {
    auto fd = ::accept4(listener_.get(), nullptr, nullptr,
                        SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      return;
    }
    int one = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    std::scoped_lock lock{state_.mutex};
    connections_.emplace_back(fd, ++state_.connections);
    ++state_.open;
    state_.changed.notify_all();
  }
}

void http_server::loop::read(connection& c) {
  std::array<char, 16u << 10> buffer;
  for (;;) {
    auto n = ::recv(c.socket.get(), buffer.data(), buffer.size(), 0);
    if (n > 0) {
      c.in.append(buffer.data(), static_cast<std::size_t>(n));
      if (c.in.size() > max_request) {
        c.dead = true;
        return;
      }
    } else {
      c.dead = n == 0 || (errno != EAGAIN && errno != EINTR);
      return;
    }
  }
}

void http_server::loop::answer(connection& c) {
  if (!c.told_continue && c.in.find("100-continue") != std::string::npos) {
    c.told_continue = true;
    c.out += "HTTP/1.1 100 Continue\r\n\r\n";
  }
  auto request = wire::take_request(c.in);
  if (!request) {
    c.dead = !wire::looks_like_http(c.in);
    return;
  }
  c.told_continue = false;
  request->connection = c.ordinal;
  c.reply = decide_(*request);
  c.out += wire::head_of(*c.reply);
  std::scoped_lock lock{state_.mutex};
  state_.requests.push_back(std::move(*request));
  state_.changed.notify_all();
}

/// Does all that can be done without waiting.
void http_server::loop::advance(connection& c) {
  while (!c.dead) {
    if (c.due && clock::now() < *c.due) {
      return;
    }
    c.due.reset();
    if (c.stalled && !released(c.gate)) {
      return;
    }
    c.stalled = false;
    flush(c);
    if (c.dead || c.due || c.written < c.out.size()) {
      return;
    }
    if (!c.reply) {
      answer(c);
      if (!c.reply && c.out.empty()) {
        return;
      }
    } else if (!run_step(c)) {
      finish(c);
    }
  }
}

bool http_server::loop::run_step(connection& c) {
  if (c.step >= c.reply->steps.size()) {
    return false;
  }
  auto& step = c.reply->steps[c.step];
  if (auto* x = std::get_if<http_reply::send_step>(&step)) {
    send_more(c, *x);
    return true;
  }
  ++c.step;
  if (auto* x = std::get_if<http_reply::pause_step>(&step)) {
    c.due = clock::now() + x->length;
  } else if (auto* y = std::get_if<http_reply::stall_step>(&step)) {
    c.stalled = true;
    c.gate = y->gate;
  } else if (auto* z = std::get_if<http_reply::close_step>(&step)) {
    close(c, z->reset);
  }
  return true;
}

void http_server::loop::send_more(connection& c,
                                  const http_reply::send_step& step) {
  std::string block;
  do {
    block += step.unit;
    ++c.repeated;
  } while (c.repeated < step.times &&
           block.size() + step.unit.size() <= block_size);
  if (c.repeated == step.times) {
    c.repeated = 0;
    ++c.step;
  }
  c.out += wire::framed(*c.reply, block);
}

void http_server::loop::finish(connection& c) {
  using framing = http_reply::framing;
  auto how = c.reply->how;
  c.reply.reset();
  c.step = 0;
  if (how == framing::chunked) {
    c.out += "0\r\n\r\n";
  } else if (how == framing::until_close || how == framing::raw) {
    close(c, false);
  }
}

void http_server::loop::flush(connection& c) {
  auto limit = c.reply ? c.reply->piece : http_reply::npos;
  std::size_t sum = 0;
  while (c.written < c.out.size()) {
    auto n = ::send(c.socket.get(), c.out.data() + c.written,
                    std::min(limit, c.out.size() - c.written), MSG_NOSIGNAL);
    if (n < 0) {
      c.dead = errno != EAGAIN && errno != EINTR;
      break;
    }
    c.written += static_cast<std::size_t>(n);
    sum += static_cast<std::size_t>(n);
  }
  if (c.written == c.out.size()) {
    c.out.clear();
    c.written = 0;
  }
  std::scoped_lock lock{state_.mutex};
  state_.bytes_sent += sum;
}

void http_server::loop::close(connection& c, bool reset) {
  if (reset) {
    linger hard{1, 0};
    ::setsockopt(c.socket.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  }
  c.dead = true;
}

bool http_server::loop::released(const std::string& gate) const {
  std::scoped_lock lock{state_.mutex};
  return state_.released.contains(gate);
}

}  // namespace riffle::testing
