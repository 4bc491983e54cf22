// SPDX-License-Identifier: MIT
#include "runtime/http/gate.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "runtime/base/text.hpp"

namespace riffle::http {

namespace {

std::string_view trim(std::string_view x) noexcept { return trimmed(x, " \t"); }

/// "" or ":80".
bool is_port(std::string_view text) {
  return text.empty() ||
         (text.front() == ':' &&
          text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

/// "[::1]:80" -> "::1"; the port does not count: forwarded ones differ. Empty:
/// it is none.
std::string host_of(std::string_view authority) {
  const bool bracketed = authority.starts_with('[');
  const auto end = bracketed ? authority.find(']') : authority.find(':');
  const auto host = authority.substr(bracketed ? 1 : 0, end - bracketed);
  if (end == std::string_view::npos)
    return bracketed ? std::string{} : plain_host(authority);
  if (!is_port(authority.substr(end + (bracketed ? 1 : 0)))) return {};
  if (!bracketed) return plain_host(host);
  return parse_ip(host) ? std::string{host} : std::string{};
}

}  // namespace

bool listen_address::is_loopback() const {
  if (plain_host(host) == "localhost") return true;
  const auto ip = parse_ip(host);
  return ip && (*ip == *parse_ip("::1") ||
                parse_network("127.0.0.0/8")->contains(*ip));
}

std::optional<listen_address> parse_listen(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  listen_address out;
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  const auto digits = text.substr(colon + 1);
  const auto end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, out.port);
  if (host.empty() || read.ec != std::errc{} || read.ptr != end) return {};
  out.host = host;
  return out;
}

std::string_view cookie_of(std::string_view header,
                           std::string_view name) noexcept {
  while (!header.empty()) {
    const auto end = header.find(';');
    const auto one = trim(header.substr(0, end));
    if (one.size() > name.size() && one.starts_with(name) &&
        one[name.size()] == '=')
      return one.substr(name.size() + 1);
    if (end == std::string_view::npos) break;
    header.remove_prefix(end + 1);
  }
  return {};
}

bool gate::is_proxy(const std::string& peer) const {
  const auto ip = parse_ip(peer);
  return ip && std::ranges::any_of(rules_.proxies, [&](const auto& x) {
           return x.contains(*ip);
         });
}

/// The nearest address that is no proxy of ours counts: what stands before it
/// the client may have written itself.
void gate::see_through_proxy(request& x) const {
  if (rules_.proxies.empty() || !is_proxy(x.peer)) return;
  x.secure = lower(x.header("x-forwarded-proto")) == "https";
  if (const auto host = x.header("x-forwarded-host"); !host.empty())
    for (auto& one : x.fields)
      if (one.name == "host") one.value = std::string{host};
  // Of several lines the last is the nearest proxy's.
  std::string all;
  for (const auto& one : x.fields)
    if (one.name == "x-forwarded-for")
      all += (all.empty() ? "" : ",") + one.value;
  std::string_view list = all;
  while (!list.empty()) {
    const auto comma = list.rfind(',');
    const std::string last{
        trim(comma == std::string_view::npos ? list : list.substr(comma + 1))};
    if (!parse_ip(last)) return;
    x.peer = last;
    if (!is_proxy(last) || comma == std::string_view::npos) return;
    list = list.substr(0, comma);
  }
}

bool gate::is_known_host(std::string_view authority) const {
  const auto host = host_of(authority);
  // An address cannot be made to point elsewhere, a name can.
  if (host.empty()) return false;
  if (host == "localhost" || parse_ip(host)) return true;
  return std::ranges::any_of(
      rules_.hosts, [&](const auto& x) { return plain_host(x) == host; });
}

bool gate::is_allowed_origin(std::string_view origin) const {
  return std::ranges::find(rules_.origins, origin) != rules_.origins.end();
}

std::optional<reply> gate::check_place(const request& x) const {
  const auto host = x.header("host");
  if (!is_known_host(host))
    return problem(421, "invalid_request",
                   "this server is not called \"" + std::string{host} +
                       "\"; names beside its address and localhost stand in "
                       "server.hosts");
  if (!x.has_header("origin")) return {};
  const auto origin = x.header("origin");
  const auto own = (x.secure ? "https://" : "http://") + std::string{host};
  if (origin == own || is_allowed_origin(origin)) return {};
  return problem(403, "invalid_request",
                 "pages of \"" + std::string{origin} +
                     "\" may not use this server; server.origins lists "
                     "those that may");
}

caller_ptr gate::recognise(const request& x, wall_time now) const {
  if (!rules_.tokens_required) {
    static const auto everybody = [] {
      auto out = std::make_shared<caller>();
      out->name = main_token;
      out->roles = {role::admin};
      out->sees_all = true;
      return out;
    }();
    return everybody;
  }
  const auto header = x.header("authorization");
  constexpr std::string_view scheme = "bearer ";
  if (header.size() > scheme.size() &&
      lower(header.substr(0, scheme.size())) == scheme)
    return tokens_->find(trim(header.substr(scheme.size())));
  if (x.has_header("authorization")) return nullptr;
  const auto cookie = cookie_of(x.header("cookie"), cookie_name);
  return cookie.empty() ? nullptr : tokens_->find_cookie(cookie, now);
}

bool gate::still_is(const caller& who) const {
  return !rules_.tokens_required || tokens_->has(who);
}

reply gate::preflight(const request& x) const {
  reply out;
  out.status = 204;
  if (!is_allowed_origin(x.header("origin"))) return out;
  out.with("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
      .with("Access-Control-Allow-Headers",
            "authorization, content-type, idempotency-key, last-event-id, "
            "mcp-method, mcp-name, mcp-protocol-version, mcp-session-id")
      .with("Access-Control-Max-Age", "600");
  return out;
}

void gate::allow_origin(const request& x, reply& to) const {
  if (rules_.origins.empty()) return;
  to.with("Vary", "Origin");
  const auto origin = x.header("origin");
  if (!is_allowed_origin(origin)) return;
  to.with("Access-Control-Allow-Origin", std::string{origin})
      .with("Access-Control-Allow-Credentials", "true")
      .with("Access-Control-Expose-Headers",
            "Location, Mcp-Session-Id, Riffle-Run-Id");
}

}  // namespace riffle::http
