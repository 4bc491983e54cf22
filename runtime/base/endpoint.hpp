// SPDX-License-Identifier: MIT
#pragma once

// Addresses of hosts as people write them in a configuration. Pure.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace riffle {

/// An IP address; one of IPv4 in its IPv6-mapped form (RFC 4291, 2.5.5.2), so
/// that both spellings of it are equal.
struct ip_address {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] bool is_v4() const noexcept;

  bool operator==(const ip_address&) const = default;
};

/// The full spellings only: "127.0.0.1", "::1"; no zone, no brackets.
std::optional<ip_address> parse_ip(std::string_view text);

ip_address make_v4(std::uint32_t address) noexcept;

/// "127.0.0.1", "::1".
std::string to_text(const ip_address& x);

/// The addresses that begin with the same bits.
struct ip_network {
  ip_address first;
  unsigned prefix = 128;  ///< bits of the mapped form: 96 more for IPv4

  [[nodiscard]] bool contains(const ip_address& x) const noexcept;

  bool operator==(const ip_network&) const = default;
};

/// "10.0.0.0/8", "fd00::/8", or one address. Nothing if ill-formed, also if
/// bits after the prefix are set.
std::optional<ip_network> parse_network(std::string_view text);

/// A host by name, or a network; all its ports, or one.
struct endpoint {
  std::string host;  ///< lower case, without a dot at its end; empty: `network`
  std::optional<ip_network> network;
  std::optional<std::uint16_t> port;

  bool operator==(const endpoint&) const = default;
};

/// "host", "10.0.0.0/8", "fd00::/8", each also with ":PORT"; IPv6 with a port
/// in brackets: "[::1]:80", "[fd00::]/8:80". Nothing if ill-formed.
std::optional<endpoint> parse_endpoint(std::string_view text);

/// Who is asked at a URL, as it stands there: host without brackets, port or
/// that of its scheme. Never a user or a password. Empty: it is no URL.
struct url_server {
  std::string host;
  std::string port;

  bool operator==(const url_server&) const = default;
};
url_server server_of(std::string_view url);

/// A host's name as names are compared: lower case, no dot at its end.
std::string plain_host(std::string_view name);

}  // namespace riffle
