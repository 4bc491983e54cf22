// SPDX-License-Identifier: MIT
#include "runtime/base/endpoint.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>

namespace riffle {

namespace {

constexpr unsigned v4_bits = 96;  ///< of the mapped form, before the address

std::optional<unsigned> parse_number(std::string_view text, unsigned most) {
  unsigned number = 0;
  const auto* begin = text.data();
  const auto* end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, number);
  if (text.empty() || failure != std::errc{} || stop != end || number > most)
    return std::nullopt;
  return number;
}

std::uint8_t mask_of(unsigned prefix, std::size_t byte) noexcept {
  const auto before = static_cast<unsigned>(byte) * 8;
  if (prefix >= before + 8) return 0xFF;
  if (prefix <= before) return 0;
  return static_cast<std::uint8_t>(0xFF00U >> (prefix - before));
}

/// Names in DNS, with the underscore that people use all the same.
bool is_host_name(std::string_view x) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !x.empty() && x.size() <= 253 && x.front() != '.' &&
         x.find("..") == std::string_view::npos &&
         std::all_of(x.begin(), x.end(), good) &&
         x.find_first_not_of("0123456789./") != std::string_view::npos;
}

struct split {
  std::string_view host;
  std::optional<std::string_view> port;
};

/// Takes the port away. IPv6 needs brackets for one, which go too.
std::optional<split> take_port(std::string_view text, std::string& space) {
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const auto rest = text.substr(close + 1);
    const auto colon = rest.find(':');
    const auto prefix = rest.substr(0, colon);
    if (!prefix.empty() && prefix.front() != '/') return std::nullopt;
    space.assign(text.substr(1, close - 1)).append(prefix);
    if (space.find(':') == std::string_view::npos) return std::nullopt;
    if (colon == std::string_view::npos) return split{space, {}};
    return split{space, rest.substr(colon + 1)};
  }
  const auto colon = text.find(':');
  if (colon == std::string_view::npos ||
      text.find(':', colon + 1) != std::string_view::npos)
    return split{text, {}};
  return split{text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

bool ip_address::is_v4() const noexcept {
  return std::all_of(bytes.begin(), bytes.begin() + 10,
                     [](auto x) { return x == 0; }) &&
         bytes[10] == 0xFF && bytes[11] == 0xFF;
}

ip_address make_v4(std::uint32_t address) noexcept {
  ip_address out;
  out.bytes[10] = out.bytes[11] = 0xFF;
  for (std::size_t i = 0; i < 4; ++i)
    out.bytes[12 + i] = static_cast<std::uint8_t>(address >> (24 - 8 * i));
  return out;
}

std::optional<ip_address> parse_ip(std::string_view text) {
  const std::string copy{text};  // with its end, for inet_pton
  if (copy.find('\0') != std::string_view::npos) return std::nullopt;
  in_addr v4{};
  if (::inet_pton(AF_INET, copy.c_str(), &v4) == 1)
    return make_v4(ntohl(v4.s_addr));
  ip_address out;
  if (::inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) == 1) return out;
  return std::nullopt;
}

std::string to_text(const ip_address& x) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (x.is_v4())
    ::inet_ntop(AF_INET, x.bytes.data() + 12, text.data(), text.size());
  else
    ::inet_ntop(AF_INET6, x.bytes.data(), text.data(), text.size());
  return text.data();
}

bool ip_network::contains(const ip_address& x) const noexcept {
  for (std::size_t i = 0; i < x.bytes.size(); ++i)
    if (((x.bytes[i] ^ first.bytes[i]) & mask_of(prefix, i)) != 0) return false;
  return true;
}

std::optional<ip_network> parse_network(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = parse_ip(text.substr(0, slash));
  if (!address) return std::nullopt;
  ip_network out{*address, 128};
  if (slash != std::string_view::npos) {
    const auto base = address->is_v4() ? v4_bits : 0U;
    const auto bits = parse_number(text.substr(slash + 1), 128 - base);
    if (!bits) return std::nullopt;
    out.prefix = base + *bits;
  }
  for (std::size_t i = 0; i < out.first.bytes.size(); ++i)
    if ((out.first.bytes[i] & ~mask_of(out.prefix, i) & 0xFF) != 0)
      return std::nullopt;
  return out;
}

std::optional<endpoint> parse_endpoint(std::string_view text) {
  std::string space;
  const auto parts = take_port(text, space);
  if (!parts) return std::nullopt;
  endpoint out;
  if (parts->port) {
    const auto port = parse_number(*parts->port, 65535);
    if (!port || *port == 0) return std::nullopt;
    out.port = static_cast<std::uint16_t>(*port);
  }
  out.network = parse_network(parts->host);
  if (out.network) return out;
  out.host = plain_host(parts->host);
  if (!is_host_name(out.host)) return std::nullopt;
  return out;
}

std::string plain_host(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  std::string out{name};
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

url_server server_of(std::string_view url) {
  constexpr auto none = std::string_view::npos;
  const auto colon = url.find("://");
  if (colon == none) return {};
  const auto scheme = url.substr(0, colon);
  auto rest = url.substr(colon + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const auto at = rest.rfind('@'); at != none) rest.remove_prefix(at + 1);
  std::string_view host = rest;
  std::string_view port;
  const auto bracket = rest.starts_with('[') ? rest.find(']') : none;
  if (const auto end = rest.rfind(':');
      end != none && (bracket == none || end > bracket)) {
    host = rest.substr(0, end);
    port = rest.substr(end + 1);
  }
  if (bracket != none) host = rest.substr(1, bracket - 1);
  if (host.empty()) return {};
  if (port.empty() && scheme == "https") port = "443";
  if (port.empty() && scheme == "http") port = "80";
  return {std::string{host}, std::string{port}};
}

}  // namespace riffle
