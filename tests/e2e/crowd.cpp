// SPDX-License-Identifier: MIT
#include "tests/e2e/crowd.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "tests/support/catch.hpp"

namespace riffle::testing {

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Of a line that is looked at.
constexpr std::size_t longest_line = 64;

milliseconds since(clock_type::time_point x) {
  return std::chrono::duration_cast<milliseconds>(clock_type::now() - x);
}

}  // namespace

void crowd::raise_limit() {
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  files.rlim_cur = files.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
}

crowd::crowd(std::uint16_t port, std::string token, std::string path)
    : port_{port},
      token_{std::move(token)},
      path_{std::move(path)},
      poll_{::epoll_create1(EPOLL_CLOEXEC)} {}

void crowd::open(crowd_member& x, int receive_buffer) {
  x.fd = ::riffle::unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int fd = x.fd.get();
  if (receive_buffer > 0)
    ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                 sizeof receive_buffer);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  x.ended = ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0;
  const auto text =
      "GET " + path_ +
      " HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
      "Authorization: Bearer " +
      token_ + "\r\n" +
      (x.last > 0 ? "Last-Event-ID: " + std::to_string(x.last) + "\r\n" : "") +
      "\r\n";
  static_cast<void>(::send(fd, text.data(), text.size(), MSG_NOSIGNAL));
  x.refused = x.opened = false;
  x.tail.clear();
  x.pending = 0;
  x.came = {};
}

void crowd::watch(std::size_t i) {
  epoll_event about{};
  about.events = EPOLLIN;
  about.data.u64 = i;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, all_[i].fd.get(), &about);
}

void crowd::add(std::size_t n, int receive_buffer) {
  constexpr std::size_t between_reads = 250;
  for (std::size_t i = 0; i < n; ++i) {
    all_.emplace_back();
    open(all_.back(), receive_buffer);
    watch(all_.size() - 1);
    if (i % between_reads == 0) read_once({});
  }
}

void crowd::stop(std::size_t first, std::size_t n) {
  for (auto i = first; i < first + n; ++i) {
    all_[i].stopped = true;
    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, all_[i].fd.get(), nullptr);
  }
}

void crowd::go_on(std::size_t first, std::size_t n) {
  for (auto i = first; i < first + n; ++i) {
    all_[i].stopped = false;
    watch(i);
  }
}

void crowd::cut() {
  for (auto& x : all_) x.fd.reset();
}

void crowd::come_again(milliseconds over) {
  const auto begin = clock_type::now();
  const auto n = static_cast<std::int64_t>(all_.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const auto due = begin + over * i / n;
    do read_once({});
    while (clock_type::now() < due);
    auto& x = all_[static_cast<std::size_t>(i)];
    if (x.finished) continue;
    open(x, 0);
    watch(static_cast<std::size_t>(i));
  }
}

/// A whole event: what is cut off in the middle has not come.
void crowd::arrived(crowd_member& x) {
  const auto n = std::exchange(x.pending, 0);
  if (n != x.last + 1) ++x.wrong;
  x.last = n;
  ++x.events;
  if (x.came != clock_type::time_point{})
    x.largest_gap = std::max(x.largest_gap, since(x.came));
  x.came = clock_type::now();
}

void crowd::line(crowd_member& x, std::string_view text) {
  constexpr std::string_view id = "id: ";
  if (text.empty() && x.pending > 0) return arrived(x);
  if (text == "event: run_finished") x.finished = true;
  if (!text.starts_with(id)) return;
  text.remove_prefix(id.size());
  std::from_chars(text.data(), text.data() + text.size(), x.pending);
}

void crowd::take(crowd_member& x, std::string_view bytes) {
  x.bytes += bytes.size();
  if (!std::exchange(x.opened, true)) x.refused = bytes.find(" 200 ") != 8;
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    if (x.tail.size() < longest_line)
      x.tail += part.substr(0, longest_line - x.tail.size());
    if (end == std::string_view::npos) return;
    line(x, x.tail);
    x.tail.clear();
    bytes.remove_prefix(end + 1);
  }
}

void crowd::read_once(milliseconds limit) {
  std::array<epoll_event, 512> ready{};
  static std::vector<char> bytes(1u << 18);
  const int n = ::epoll_wait(poll_.get(), ready.data(), ready.size(),
                             static_cast<int>(limit.count()));
  for (int i = 0; i < n; ++i) {
    auto& x = all_[ready[static_cast<std::size_t>(i)].data.u64];
    const auto got =
        ::recv(x.fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      take(x, {bytes.data(), static_cast<std::size_t>(got)});
      continue;
    }
    if (got < 0 && errno == EAGAIN) continue;
    x.ended = true;
    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, x.fd.get(), nullptr);
  }
}

bool crowd::read(milliseconds limit, const std::function<bool()>& done) {
  const auto until = clock_type::now() + limit;
  while (!done()) {
    if (clock_type::now() > until) return false;
    read_once(milliseconds{50});
  }
  return true;
}

void crowd::read_for(milliseconds time) {
  read(time, [] { return false; });
}

void crowd::forget_gaps() {
  for (auto& x : all_) {
    x.came = {};
    x.largest_gap = {};
  }
}

std::size_t crowd::count(
    const std::function<bool(const crowd_member&)>& of) const {
  return static_cast<std::size_t>(std::ranges::count_if(all_, of));
}

std::uint64_t crowd::wrong() const {
  std::uint64_t out = 0;
  for (const auto& x : all_) out += x.wrong;
  return out;
}

milliseconds crowd::largest_gap() const {
  milliseconds out{};
  for (const auto& x : all_) out = std::max(out, x.largest_gap);
  return out;
}

}  // namespace riffle::testing
