// SPDX-License-Identifier: MIT
#include "runtime/cluster/tcp_dial.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace riffle::cluster {

namespace {

constexpr const char* op = "cluster";

error failure(const std::string& what) {
  return {errc::tool_unavailable, op, what, true};
}

/// What the resolver writes to; it is left behind when that takes too long, for
/// nobody can tell when it is done (gai_cancel(3) may refuse).
struct lookup {
  std::string host;
  std::string port;
  addrinfo hints{};
  gaicb request{};
};

struct free_addresses {
  void operator()(addrinfo* x) const { ::freeaddrinfo(x); }
};
using addresses = std::unique_ptr<addrinfo, free_addresses>;

timespec to_timespec(duration x) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(x);
  return {static_cast<time_t>(s.count()), static_cast<long>((x - s).count())};
}

/// So long at most without a look at whether to stop.
constexpr auto slice = std::chrono::milliseconds{100};

expected<addresses> resolve(const std::string& host, std::uint16_t port,
                            duration limit, const std::stop_token& stop) {
  auto work = std::make_unique<lookup>();
  work->host = host;
  work->port = std::to_string(port);
  work->hints.ai_socktype = SOCK_STREAM;
  work->request = {
      work->host.c_str(), work->port.c_str(), &work->hints, nullptr, {}};
  gaicb* list[] = {&work->request};
  if (const int bad = ::getaddrinfo_a(GAI_NOWAIT, list, 1, nullptr); bad != 0)
    return unexpected{
        failure(std::string{"resolving it failed: "} + ::gai_strerror(bad))};
  const auto wait = to_timespec(slice);
  const gaicb* const waited[] = {&work->request};
  const auto end = std::chrono::steady_clock::now() + limit;
  while (::gai_error(&work->request) == EAI_INPROGRESS &&
         !stop.stop_requested() && std::chrono::steady_clock::now() < end)
    ::gai_suspend(waited, 1, &wait);
  const int state = ::gai_error(&work->request);
  if (state == EAI_INPROGRESS) {
    if (::gai_cancel(&work->request) != EAI_CANCELED)
      static_cast<void>(work.release());
    return unexpected{failure("its name was not resolved in time")};
  }
  if (state != 0)
    return unexpected{failure(std::string{"its name cannot be resolved: "} +
                              ::gai_strerror(state))};
  return addresses{work->request.ar_result};
}

/// 0, or errno.
int connect_within(int fd, const addrinfo& to, duration limit,
                   const std::stop_token& stop) {
  if (::connect(fd, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return ETIMEDOUT;
    if (stop.stop_requested()) return ECANCELED;
    pollfd one{fd, POLLOUT, 0};
    const int ready =
        ::poll(&one, 1, static_cast<int>(std::min(left, slice).count()));
    if (ready < 0 && errno != EINTR) return errno;
    if (ready <= 0) continue;
    int problem = 0;
    socklen_t size = sizeof problem;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size);
    return problem;
  }
}

}  // namespace

void set_options(int fd, duration silence) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto ms = static_cast<unsigned>(
      std::chrono::duration_cast<std::chrono::milliseconds>(silence).count());
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

expected<unique_fd> tcp_dial(const std::string& host, std::uint16_t port,
                             duration limit, const std::stop_token& stop) {
  auto found = resolve(host, port, limit, stop);
  if (!found) return unexpected{std::move(found.error())};
  int problem = EADDRNOTAVAIL;
  for (const auto* to = found->get(); to != nullptr; to = to->ai_next) {
    unique_fd fd{
        ::socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd) {
      problem = errno;
      continue;
    }
    problem = connect_within(fd.get(), *to, limit, stop);
    if (problem == 0) return fd;
  }
  return unexpected{failure(std::generic_category().message(problem))};
}

}  // namespace riffle::cluster
