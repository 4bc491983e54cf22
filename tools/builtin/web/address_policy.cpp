// SPDX-License-Identifier: MIT
#include "tools/builtin/web/address_policy.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tools/builtin/web/url.hpp"

namespace riffle::tools {

namespace {

struct v4_range {
  std::uint32_t first;
  unsigned prefix;
  std::string_view name;
};

constexpr std::uint32_t v4(unsigned a, unsigned b, unsigned c, unsigned d) {
  return a << 24 | b << 16 | c << 8 | d;
}

constexpr std::array v4_ranges{
    v4_range{v4(0, 0, 0, 0), 8, "unspecified address"},
    v4_range{v4(10, 0, 0, 0), 8, "private network"},
    v4_range{v4(100, 64, 0, 0), 10, "carrier-grade NAT"},
    v4_range{v4(127, 0, 0, 0), 8, "loopback"},
    // What hosts of one of the clouds ask for their own secrets.
    v4_range{v4(168, 63, 129, 16), 32, "cloud platform"},
    v4_range{v4(169, 254, 0, 0), 16, "link-local"},
    v4_range{v4(172, 16, 0, 0), 12, "private network"},
    v4_range{v4(192, 0, 0, 0), 24, "protocol assignments"},
    v4_range{v4(192, 0, 2, 0), 24, "documentation"},
    v4_range{v4(192, 88, 99, 0), 24, "6to4 relay"},
    v4_range{v4(192, 168, 0, 0), 16, "private network"},
    v4_range{v4(198, 18, 0, 0), 15, "benchmarks"},
    v4_range{v4(198, 51, 100, 0), 24, "documentation"},
    v4_range{v4(203, 0, 113, 0), 24, "documentation"},
    v4_range{v4(224, 0, 0, 0), 4, "multicast"},
    v4_range{v4(255, 255, 255, 255), 32, "broadcast"},
    v4_range{v4(240, 0, 0, 0), 4, "reserved"},
};

std::uint32_t v4_at(const ip_address& x, std::size_t begin) noexcept {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8 | x.bytes[begin + i];
  return out;
}

std::string_view special_v4(std::uint32_t address) noexcept {
  for (const auto& range : v4_ranges)
    if (((address ^ range.first) >> (32 - range.prefix)) == 0)
      return range.name;
  return {};
}

struct v6_range {
  std::array<std::uint8_t, 16> first;
  unsigned prefix;
  std::string_view name;
};

// The first that fits counts.
constexpr std::array v6_ranges{
    v6_range{{}, 128, "unspecified address"},
    v6_range{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, "loopback"},
    v6_range{{0xFC}, 7, "private network"},
    v6_range{{0xFE, 0x80}, 10, "link-local"},
    v6_range{{0xFE, 0xC0}, 10, "private network"},
    v6_range{{0xFF}, 8, "multicast"},
    v6_range{{0x20, 0x01, 0, 0}, 32, "Teredo"},
    v6_range{{0x20, 0x01, 0, 2}, 48, "benchmarks"},
    v6_range{{0x20, 0x01, 0, 0}, 23, "protocol assignments"},
    v6_range{{0x20, 0x01, 0x0D, 0xB8}, 32, "documentation"},
    v6_range{{0x3F, 0xFF}, 20, "documentation"},
};

constexpr std::array<std::uint8_t, 16> nat64{0, 0x64, 0xFF, 0x9B};
constexpr std::array<std::uint8_t, 16> six_to_four{0x20, 0x02};
constexpr std::array<std::uint8_t, 16> global{0x20};

bool within(const ip_address& x, const std::array<std::uint8_t, 16>& first,
            unsigned prefix) noexcept {
  return ip_network{{first}, prefix}.contains(x);
}

std::string spelled(std::string_view host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return (v6 ? "[" + std::string{host} + "]" : std::string{host}) + ":" +
         std::to_string(port);
}

std::string with_way_out(std::string why, std::string_view host,
                         std::uint16_t port) {
  return why +
         "; if it is meant, a person can allow it with tools.fetch.allow"
         " = [\"" +
         spelled(host, port) + "\"]";
}

}  // namespace

std::string_view special_range(const ip_address& x) noexcept {
  if (x.is_v4()) return special_v4(v4_at(x, 12));
  if (within(x, nat64, 96)) return special_v4(v4_at(x, 12));
  if (within(x, six_to_four, 16)) return special_v4(v4_at(x, 2));
  for (const auto& range : v6_ranges)
    if (within(x, range.first, range.prefix)) return range.name;
  return within(x, global, 3) ? "" : "reserved";
}

address_policy::address_policy(std::vector<endpoint> allowed)
    : allowed_{std::move(allowed)} {}

bool address_policy::allows_host(std::string_view host,
                                 std::uint16_t port) const {
  return std::any_of(allowed_.begin(), allowed_.end(), [&](const auto& x) {
    return !x.network && x.host == host && x.port.value_or(port) == port;
  });
}

bool address_policy::allows_address(const ip_address& at,
                                    std::uint16_t port) const {
  return std::any_of(allowed_.begin(), allowed_.end(), [&](const auto& x) {
    return x.network && x.network->contains(at) &&
           x.port.value_or(port) == port;
  });
}

std::optional<std::string> address_policy::refusal(std::string_view host,
                                                   std::uint16_t port,
                                                   const ip_address& at) const {
  const auto range = special_range(at);
  if (range.empty() || allows_host(host, port) || allows_address(at, port))
    return std::nullopt;
  const auto address = to_text(at);
  auto why = "the address " + address;
  if (host != address) why.append(" of ").append(host);
  why.append(" is not of the public internet (").append(range).append(")");
  return with_way_out(std::move(why), host, port);
}

// Below 1024 live other services than the web's, which must not be made to
// read what somebody else wrote.
std::optional<std::string> address_policy::port_problem(
    const web_url& url) const {
  if (url.port == 80 || url.port == 443 || url.port >= 1024) return {};
  const auto address = parse_ip(url.host);
  if (allows_host(url.host, url.port) ||
      (address && allows_address(*address, url.port)))
    return {};
  return with_way_out(
      "the port " + std::to_string(url.port) +
          " is not one of the web's (80, 443, or 1024 and above)",
      url.host, url.port);
}

expected<web_url> address_policy::check(std::string_view url) const {
  auto parsed = parse_url(url);
  const auto refuse = [](std::string why) {
    return unexpected{error{.code = errc::invalid_arguments,
                            .op = "fetch",
                            .message = std::move(why)}};
  };
  if (!parsed) return refuse(parsed.error());
  if (auto problem = port_problem(*parsed)) return refuse(*std::move(problem));
  if (const auto address = parse_ip(parsed->host))
    if (auto problem = refusal(parsed->host, parsed->port, *address))
      return refuse(*std::move(problem));
  return *std::move(parsed);
}

}  // namespace riffle::tools
