// SPDX-License-Identifier: MIT
#pragma once

// Where `fetch` may connect to: the public internet, and what the
// configuration names. Pure: the caller asks once for a URL, and once for
// each address that is really about to be connected.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "runtime/base/endpoint.hpp"

namespace riffle::tools {

/// What kind of special address it is ("loopback", "private network" …);
/// empty for one of the public internet. Source: the IANA registries of
/// special-purpose addresses for IPv4 and IPv6 (RFC 6890 and its followers).
/// Of IPv6 only global unicast (2000::/3) is public. Forms that carry an IPv4
/// address (mapped, 6to4, NAT64) are what that address is.
std::string_view special_range(const ip_address& x) noexcept;

/// A URL that may be asked for, as far as its text can tell.
struct web_url {
  std::string text;  ///< normalised, without a fragment
  std::string host;  ///< as `plain_host`, IPv6 without brackets
  std::uint16_t port = 0;
};

class address_policy {
 public:
  explicit address_policy(std::vector<endpoint> allowed = {});

  /// Checks scheme, credentials, port, and an address that stands in place of
  /// a name, in every spelling. `invalid_arguments`, with what to do.
  [[nodiscard]] expected<web_url> check(std::string_view url) const;

  /// Why `host` must not be reached at this address; nothing if it may.
  [[nodiscard]] std::optional<std::string> refusal(std::string_view host,
                                                   std::uint16_t port,
                                                   const ip_address& at) const;

 private:
  [[nodiscard]] bool allows_host(std::string_view host,
                                 std::uint16_t port) const;
  [[nodiscard]] bool allows_address(const ip_address& at,
                                    std::uint16_t port) const;
  [[nodiscard]] std::optional<std::string> port_problem(
      const web_url& url) const;

  std::vector<endpoint> allowed_;
};

}  // namespace riffle::tools
