// SPDX-License-Identifier: MIT
#include "runtime/http/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>

namespace riffle::http {

namespace {

constexpr unsigned dead_after_ms = 40'000;

std::string framing_fault(const request& x, unsigned version) {
  constexpr unsigned http_1_1 = 11;
  const auto count = [&](std::string_view name) {
    return std::ranges::count(x.fields, name, &field::name);
  };
  if (count("host") > 1) return "there is more than one Host";
  if (count("content-length") > 1)
    return "there is more than one Content-Length";
  if (count("transfer-encoding") == 0) return {};
  if (version < http_1_1) return "HTTP/1.0 has no Transfer-Encoding";
  if (count("transfer-encoding") > 1 ||
      lower(x.header("transfer-encoding")) != "chunked")
    return "the only Transfer-Encoding that is understood is chunked";
  if (count("content-length") > 0)
    return "Transfer-Encoding and Content-Length exclude each other";
  return {};
}

}  // namespace

std::string head_of(const reply& x, bool fixed, bool chunked, bool keep_alive) {
  namespace beast_http = boost::beast::http;
  const auto reason =
      beast_http::obsolete_reason(static_cast<beast_http::status>(x.status));
  std::string out = "HTTP/1.1 " + std::to_string(x.status) + " ";
  out.append(reason.data(), reason.size()).append("\r\n");
  const bool bare = x.status == 204 || x.status == 304;
  if (!bare) out += "Content-Type: " + x.type + "\r\n";
  for (const auto& one : x.fields) out += one.name + ": " + one.value + "\r\n";
  if (fixed && !bare)
    out +=
        "Content-Length: " + std::to_string(x.length.value_or(x.body.size())) +
        "\r\n";
  if (!fixed && chunked) out += "Transfer-Encoding: chunked\r\n";
  if (!keep_alive) out += "Connection: close\r\n";
  return out += "\r\n";
}

std::string chunk_head(std::size_t size) {
  constexpr int base = 16;
  char digits[2 * sizeof size];
  const auto end =
      std::to_chars(std::begin(digits), std::end(digits), size, base).ptr;
  return std::string{digits, end} + "\r\n";
}

void add_field(request& x, std::string_view name, std::string_view value) {
  x.fields.push_back({lower(name), std::string{value}});
}

bool receive_waiting(int socket, boost::beast::flat_buffer& to,
                     std::uint64_t most) {
  constexpr std::size_t portion = 512;
  if (to.size() > most) return false;
  const auto room = to.prepare(portion);
  const auto got = ::recv(socket, room.data(), room.size(), MSG_DONTWAIT);
  if (got > 0) to.commit(static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EAGAIN);
}

std::optional<reply> read_head(request& x, std::string_view target,
                               unsigned version) {
  if (auto why = framing_fault(x, version); !why.empty())
    return problem(400, "invalid_request", std::move(why));
  if (!read_target(target, x))
    return problem(400, "invalid_request",
                   "the target of the request is ill-formed");
  if (x.has_header("expect") && lower(x.header("expect")) != "100-continue")
    return problem(417, "invalid_request",
                   "of Expect, 100-continue alone is understood");
  return {};
}

reply problem_of(const boost::system::error_code& failed) {
  using wrong = boost::beast::http::error;
  if (failed == wrong::header_limit)
    return problem(431, "invalid_request",
                   "the header is larger than server.limits.header_bytes");
  if (failed == wrong::body_limit)
    return problem(413, "invalid_request", "the body is larger than allowed");
  return problem(400, "invalid_request",
                 "this is no HTTP/1.1 request: " + failed.message());
}

reply too_large(std::uint64_t size, std::uint64_t limit) {
  return problem(413, "invalid_request",
                 "the body has " + std::to_string(size) +
                     " bytes, more than the " + std::to_string(limit) +
                     " that server.limits allows here");
}

bool held_body::take(std::uint64_t size) {
  constexpr std::uint64_t large = 256u << 10;
  constexpr std::uint64_t most = 128u << 20;
  let_go();
  if (size <= large) return true;
  if (all_ > 0 && all_ + size > most) return false;
  held_ = size;
  all_ += size;
  return true;
}

void held_body::let_go() { all_ -= std::exchange(held_, 0); }

reply too_many_bodies() {
  return std::move(
      problem(503, "session_busy",
              "as many large bodies are being read as this server holds; try "
              "again")
          .with("Retry-After", "2"));
}

void limit_stalls(int socket, duration stall_timeout) {
  using std::chrono::milliseconds;
  const int ms = static_cast<int>(
      std::chrono::duration_cast<milliseconds>(stall_timeout).count() + 1000);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
  // Of a stream that has no heartbeat nothing else would tell.
  const auto set = [socket](int level, int what, int value) {
    ::setsockopt(socket, level, what, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

bool is_dead(int socket) {
  ::tcp_info about{};
  ::socklen_t size = sizeof about;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &about, &size) != 0)
    return false;
  // With TLS nobody waits for what the peer sends, so not for its end either.
  if (about.tcpi_state == TCP_CLOSE || about.tcpi_state == TCP_CLOSE_WAIT)
    return true;
  return about.tcpi_unacked > 0 && about.tcpi_last_ack_recv > dead_after_ms;
}

}  // namespace riffle::http
