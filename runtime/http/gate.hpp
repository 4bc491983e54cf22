// SPDX-License-Identifier: MIT
#pragma once

// Who gets in: what is decided about a request from its header alone, before
// its body is read. Pure but for the clock that comes in.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/endpoint.hpp"
#include "runtime/config/server_config.hpp"
#include "runtime/http/message.hpp"
#include "runtime/http/tokens.hpp"

namespace riffle::http {

/// `server.listen`.
struct listen_address {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;

  [[nodiscard]] bool is_loopback() const;
};
/// Nothing: it is none.
std::optional<listen_address> parse_listen(std::string_view text);

struct gate_rules {
  std::vector<std::string> hosts;    ///< names beside localhost and addresses
  std::vector<std::string> origins;  ///< of other pages (CORS)
  std::vector<ip_network> proxies;
  bool tokens_required = true;  ///< false: everybody is the main token
};

class gate {
 public:
  gate(gate_rules rules, std::shared_ptr<const token_book> tokens)
      : rules_{std::move(rules)}, tokens_{std::move(tokens)} {}

  /// Believes a trusted proxy about the client.
  void see_through_proxy(request& x) const;

  /// Why the request is for somebody else, or from a page that may not ask.
  /// A web page on another site can make a browser send requests here, under a
  /// name that it owns (DNS rebinding): so names are checked, and origins.
  [[nodiscard]] std::optional<reply> check_place(const request& x) const;

  /// By `Authorization: Bearer`, or by the cookie. Null: nobody.
  [[nodiscard]] caller_ptr recognise(const request& x, wall_time now) const;

  /// Whom an older gate recognised may do here what he could there.
  [[nodiscard]] bool still_is(const caller& who) const;

  /// The answer to a browser's question beforehand.
  [[nodiscard]] reply preflight(const request& x) const;
  /// Lets a page of an allowed origin read the answer.
  void allow_origin(const request& x, reply& to) const;

  [[nodiscard]] const token_book& tokens() const noexcept { return *tokens_; }

 private:
  [[nodiscard]] bool is_known_host(std::string_view host) const;
  [[nodiscard]] bool is_allowed_origin(std::string_view origin) const;
  [[nodiscard]] bool is_proxy(const std::string& peer) const;

  gate_rules rules_;
  std::shared_ptr<const token_book> tokens_;
};

/// The cookie that stands for a token.
inline constexpr std::string_view cookie_name = "riffle";

/// The value of a cookie; empty: it was not sent.
std::string_view cookie_of(std::string_view header,
                           std::string_view name) noexcept;

}  // namespace riffle::http
