// SPDX-License-Identifier: MIT
#pragma once

// Where a browser brings the answer of a login: one page on loopback, on a port
// of its own, which takes one answer (RFC 8252, 7.3).

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::mcp::oauth {

class way_back {
 public:
  /// Listens on 127.0.0.1; `port` 0: one that is free.
  static expected<way_back> open(std::uint16_t port);

  /// "http://127.0.0.1:PORT/callback".
  [[nodiscard]] std::string url() const;

  struct expectation {
    std::string state;          ///< what is without it is not our answer
    std::string issuer;         ///< if the answer says who it is of
    bool names_issuer = false;  ///< it must say so
  };

  /// Waits for the code. What else asks gets an answer and changes nothing.
  /// `approval_denied`: the person or the server said no; `timeout`;
  /// `cancelled`: stopped, within a tenth of a second.
  expected<std::string> wait(const expectation& want, time_point until,
                             const std::stop_token& stop);

 private:
  way_back(unique_fd fd, std::uint16_t port)
      : fd_{std::move(fd)}, port_{port} {}

  unique_fd fd_;
  std::uint16_t port_;
};

/// What a request for the page means. Pure.
struct brought {
  bool ours = false;      ///< it settles the login
  std::string code{};     ///< or
  std::string refusal{};  ///< why there is none
};
brought read_answer(std::string_view target, const way_back::expectation& want);

}  // namespace riffle::mcp::oauth
