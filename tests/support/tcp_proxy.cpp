// SPDX-License-Identifier: MIT
#include "tests/support/tcp_proxy.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <deque>
#include <list>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace riffle::testing {

namespace {

using clock = std::chrono::steady_clock;
using line = tcp_proxy::line;

sockaddr_in place(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  out.sin_port = htons(port);
  return out;
}

sockaddr* plain(sockaddr_in& x) { return reinterpret_cast<sockaddr*>(&x); }

unique_fd make_socket(int more = 0) {
  return unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | more, 0)};
}

/// Bound to any port of loopback; its address.
std::string bind_any(const unique_fd& fd) {
  auto at = place(0);
  socklen_t size = sizeof at;
  if (::bind(fd.get(), plain(at), size) != 0 ||
      ::getsockname(fd.get(), plain(at), &size) != 0)
    throw std::runtime_error{"no port of loopback is free"};
  return "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
}

std::uint16_t port_of(const std::string& address) {
  return static_cast<std::uint16_t>(
      std::stoi(address.substr(address.rfind(':') + 1)));
}

/// One way of one connection.
struct pipe_of {
  struct part {
    clock::time_point due;
    std::string bytes;
  };
  int from = -1;
  int to = -1;
  std::deque<part> waiting{};

  /// False: the connection ended.
  bool take(line how, std::chrono::milliseconds delay,
            std::string* heard = nullptr) {
    char bytes[65536];
    const auto got = ::recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
    if (got > 0 && heard != nullptr)
      heard->append(bytes, static_cast<std::size_t>(got));
    if (got > 0 && how != line::swallows)
      waiting.push_back(
          {clock::now() + delay, {bytes, static_cast<std::size_t>(got)}});
    return true;
  }
  bool give(line how, std::size_t& room) {
    while (how != line::holds && room > 0 && !waiting.empty() &&
           waiting.front().due <= clock::now()) {
      auto& next = waiting.front().bytes;
      const auto gone = ::send(to, next.data(), std::min(room, next.size()),
                               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (gone < 0) return errno == EAGAIN;
      room -= static_cast<std::size_t>(gone);
      next.erase(0, static_cast<std::size_t>(gone));
      if (next.empty()) waiting.pop_front();
    }
    return true;
  }
  [[nodiscard]] std::size_t bytes_waiting() const {
    std::size_t out = 0;
    for (const auto& x : waiting) out += x.bytes.size();
    return out;
  }
};

/// What may pass now, of so many bytes a second.
class byte_rate {
 public:
  std::size_t room(std::size_t rate) {
    const auto now = clock::now();
    const std::chrono::duration<double> passed = now - std::exchange(at_, now);
    if (rate == 0) return std::size_t{1} << 40;
    constexpr double longest_burst = 0.02;  // seconds
    const auto most = static_cast<double>(rate);
    left_ = std::min(left_ + most * passed.count(), most * longest_burst);
    return static_cast<std::size_t>(left_);
  }
  void used(std::size_t bytes) { left_ -= static_cast<double>(bytes); }

 private:
  clock::time_point at_ = clock::now();
  double left_ = 0;
};

struct pair_of {
  unique_fd dialler;
  unique_fd target;
  pipe_of there{};
  pipe_of back{};
};

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Who dials is taken in at once, and gone if there is no target.
void take_in(std::list<pair_of>& all, int listener, std::uint16_t port) {
  pair_of x{unique_fd{::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)},
            make_socket()};
  auto to = place(port);
  if (!x.dialler || ::connect(x.target.get(), plain(to), sizeof to) != 0)
    return;
  no_delay(x.dialler.get());
  no_delay(x.target.get());
  x.there = {x.dialler.get(), x.target.get()};
  x.back = {x.target.get(), x.dialler.get()};
  all.push_back(std::move(x));
}

}  // namespace

tcp_proxy::tcp_proxy(const std::string& target)
    : target_{target}, listener_{make_socket()} {
  address_ = bind_any(listener_);
  ::listen(listener_.get(), 16);
  thread_ = std::thread{[this] { work(); }};
}

tcp_proxy::~tcp_proxy() {
  stop_ = true;
  thread_.join();
}

void tcp_proxy::work() {
  std::list<pair_of> all;
  byte_rate ways[2];
  while (!stop_) {
    std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}};
    bool waits = false;
    for (const auto& x : all) {
      fds.push_back({x.dialler.get(), POLLIN, 0});
      fds.push_back({x.target.get(), POLLIN, 0});
      waits = waits || !x.there.waiting.empty() || !x.back.waiting.empty();
    }
    ::poll(fds.data(), fds.size(), waits ? 1 : 20);
    if (fds[0].revents != 0) {
      take_in(all, listener_.get(), port_of(target_));
      connections_ = static_cast<int>(all.size());
      continue;
    }
    const auto there = lines_[0].load();
    const auto back = lines_[1].load();
    const auto delay = delay_.load();
    std::string heard;
    const auto rate = rate_.load();
    const std::size_t most[2] = {ways[0].room(rate), ways[1].room(rate)};
    std::size_t room[2] = {most[0], most[1]};
    std::erase_if(all, [&](pair_of& x) {
      if (!x.there.take(there, delay, &heard) || !x.back.take(back, delay))
        return true;
      most_waiting_ = std::max({most_waiting_.load(), x.there.bytes_waiting(),
                                x.back.bytes_waiting()});
      return !x.there.give(there, room[0]) || !x.back.give(back, room[1]);
    });
    for (int i = 0; i < 2; ++i)
      if (rate > 0) ways[i].used(most[i] - room[i]);
    connections_ = static_cast<int>(all.size());
    const std::lock_guard lock{mutex_};
    said_ += heard;
  }
}

std::string tcp_proxy::said() const {
  const std::lock_guard lock{mutex_};
  return said_;
}

black_hole::black_hole() : listener_{make_socket()} {
  address_ = bind_any(listener_);
  ::listen(listener_.get(), 0);
  auto to = place(port_of(address_));
  for (auto& fd : fill_) {
    fd = make_socket(SOCK_NONBLOCK);
    static_cast<void>(::connect(fd.get(), plain(to), sizeof to));
  }
}

std::string free_address() { return bind_any(make_socket()); }

std::string talk_to(const std::string& address, const std::string& bytes,
                    std::chrono::milliseconds timeout) {
  const auto fd = make_socket();
  auto to = place(port_of(address));
  if (::connect(fd.get(), plain(to), sizeof to) != 0) return {};
  const timeval limit{static_cast<time_t>(timeout.count() / 1000),
                      static_cast<suseconds_t>(timeout.count() % 1000 * 1000)};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  static_cast<void>(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  std::string out;
  char part[4096];
  for (;;) {
    const auto got = ::recv(fd.get(), part, sizeof part, 0);
    if (got <= 0) return out;
    out.append(part, static_cast<std::size_t>(got));
  }
}

}  // namespace riffle::testing
