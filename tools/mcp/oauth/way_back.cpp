// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/way_back.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <vector>

#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"

namespace riffle::mcp::oauth {

namespace {

using std::chrono::steady_clock;

constexpr int look_ms = 100;
constexpr std::size_t largest_request = 16u << 10;
constexpr std::size_t most_visitors = 16;
constexpr auto request_timeout = std::chrono::seconds{5};  ///< for a request
constexpr std::string_view path = "/callback";

unexpected no_way(errc code, std::string message) {
  return unexpected{
      error{.code = code, .op = "mcp.login", .message = std::move(message)}};
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const auto* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

/// Nothing: a name stands there twice, so that nobody knows which one counts.
std::optional<std::map<std::string, std::string>> query_of(
    std::string_view target) {
  std::map<std::string, std::string> out;
  const auto mark = target.find('?');
  if (mark == target.npos) return out;
  target.remove_prefix(mark + 1);
  while (!target.empty()) {
    const auto end = std::min(target.find('&'), target.size());
    const auto pair = target.substr(0, end);
    const auto sign = std::min(pair.find('='), pair.size());
    auto value = pair.substr(std::min(sign + 1, pair.size()));
    if (!out.emplace(decoded(pair.substr(0, sign)), decoded(value)).second)
      return std::nullopt;
    target.remove_prefix(std::min(end + 1, target.size()));
  }
  return out;
}

/// In a time that does not depend on where they differ.
bool same_text(std::string_view a, std::string_view b) {
  unsigned char differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

std::string page(int status, std::string_view text) {
  const std::string body =
      "<!doctype html><meta charset=\"utf-8\"><title>Riffle</title>"
      "<body style=\"font-family:sans-serif;margin:3em\"><p>" +
      std::string{text} + "</p>\n";
  return "HTTP/1.1 " + std::to_string(status) +
         (status == 200 ? " OK" : " Refused") +
         "\r\nContent-Type: text/html; charset=utf-8\r\n"
         "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
         "Content-Security-Policy: default-src 'none'; style-src "
         "'unsafe-inline'\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string page_for(const brought& x) {
  constexpr int fine = 200;
  constexpr int refused = 400;
  constexpr int unknown = 404;
  if (!x.ours) return page(unknown, "This is no answer to a login.");
  if (!x.refusal.empty())
    return page(refused, "You are not logged in; Riffle's terminal says why.");
  return page(fine,
              "Riffle has its answer, and its terminal says the rest. You can "
              "close this page.");
}

struct visitor {
  unique_fd fd;
  std::string text{};
  time_point until{};
};

/// The target of a request that is there as a whole; "": it is none of ours.
std::optional<std::string> target_of(const std::string& text) {
  if (text.find("\r\n\r\n") == text.npos && text.size() < largest_request)
    return std::nullopt;
  const auto line = text.substr(0, text.find("\r\n"));
  const auto end = line.rfind(' ');
  if (!line.starts_with("GET ") || end == line.npos || end < 4)
    return std::string{};
  return line.substr(4, end - 4);
}

void answer_with(const visitor& x, const std::string& text) {
  static_cast<void>(::send(x.fd.get(), text.data(), text.size(), MSG_NOSIGNAL));
  ::shutdown(x.fd.get(), SHUT_WR);
}

/// Reads what is there; false: it went away, or took too long.
bool read_more(visitor& x, bool readable) {
  if (!readable) return steady_clock::now() < x.until;
  std::array<char, 4096> buffer{};
  const auto n = ::recv(x.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  x.text.append(buffer.data(), static_cast<std::size_t>(n));
  return true;
}

void accept_one(int listener, std::vector<visitor>& all) {
  unique_fd fd{::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)};
  if (!fd) return;
  // The oldest goes: who sends nothing must not keep the answer out.
  if (all.size() >= most_visitors) all.erase(all.begin());
  all.push_back({std::move(fd), {}, steady_clock::now() + request_timeout});
}

}  // namespace

brought read_answer(std::string_view target,
                    const way_back::expectation& want) {
  if (target.substr(0, target.find('?')) != path) return {};
  const auto all = query_of(target);
  if (!all) return {};
  const auto value = [&](const char* name) {
    const auto found = all->find(name);
    return found == all->end() ? std::string{} : found->second;
  };
  if (want.state.empty() || !same_text(value("state"), want.state)) return {};
  const bool named = all->contains("iss");
  if ((named || want.names_issuer) && value("iss") != want.issuer)
    return {true, {}, "the answer is of another authorization server"};
  if (all->contains("error")) {
    auto why = "the authorization server says no: " +
               with_dots(redact(value("error")), 100);
    if (const auto more = value("error_description"); !more.empty())
      why += ": " + with_dots(redact(more), 300);
    return {true, {}, std::move(why)};
  }
  if (value("code").empty()) return {true, {}, "the answer holds no code"};
  return {true, value("code"), {}};
}

expected<way_back> way_back::open(std::uint16_t port) {
  unique_fd fd{
      ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  const int on = 1;
  if (fd && port != 0)
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in got{};
  socklen_t size = sizeof got;
  const auto* address = reinterpret_cast<const sockaddr*>(&at);
  if (!fd || ::bind(fd.get(), address, sizeof at) != 0 ||
      ::listen(fd.get(), static_cast<int>(most_visitors)) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&got), &size) != 0)
    return no_way(errc::invalid_request,
                  "127.0.0.1:" + std::to_string(port) +
                      " cannot be listened on: " + std::strerror(errno));
  return way_back{std::move(fd), ntohs(got.sin_port)};
}

std::string way_back::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + std::string{path};
}

expected<std::string> way_back::wait(const expectation& want, time_point until,
                                     const std::stop_token& stop) {
  std::vector<visitor> all;
  while (!stop.stop_requested()) {
    if (steady_clock::now() >= until)
      return no_way(errc::timeout, "nobody has answered in time");
    std::vector<pollfd> seen{{fd_.get(), POLLIN, 0}};
    for (const auto& x : all) seen.push_back({x.fd.get(), POLLIN, 0});
    if (::poll(seen.data(), seen.size(), look_ms) < 0) continue;
    std::vector<visitor> stay;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!read_more(all[i], seen[i + 1].revents != 0)) continue;
      const auto target = target_of(all[i].text);
      if (!target) {
        stay.push_back(std::move(all[i]));
        continue;
      }
      const auto said = read_answer(*target, want);
      answer_with(all[i], page_for(said));
      if (!said.ours) continue;
      if (said.refusal.empty()) return said.code;
      return no_way(errc::approval_denied, said.refusal);
    }
    all = std::move(stay);
    if (seen[0].revents != 0) accept_one(fd_.get(), all);
  }
  return no_way(errc::cancelled, "it was stopped");
}

}  // namespace riffle::mcp::oauth
