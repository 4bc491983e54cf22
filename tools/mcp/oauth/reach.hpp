// SPDX-License-Identifier: MIT
#pragma once

// Requests to addresses that a server has named: they go to the public
// internet, to the server's own host, and to what the configuration allows.
// Loopback is open only to a server that is itself there.

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "tools/builtin/web/address_policy.hpp"

namespace riffle::mcp::oauth {

using fields = std::vector<std::pair<std::string, std::string>>;

struct reach_answer {
  int status = 0;
  nlohmann::json body{};  ///< null: it is no JSON
};

class reach {
 public:
  /// `allowed`: endpoints beside the public internet (`tools.fetch.allow`).
  reach(std::string_view server, std::vector<endpoint> allowed,
        duration limit = std::chrono::seconds{20});

  /// Why a token must not go there, or nothing: only https is safe, and
  /// loopback. Asks for nothing.
  [[nodiscard]] std::optional<std::string> refusal(std::string_view url) const;

  expected<reach_answer> get(const std::string& url,
                             const std::stop_token& stop) const;
  expected<reach_answer> post(const std::string& url, std::string body,
                              std::vector<std::string> headers,
                              const std::stop_token& stop) const;

 private:
  expected<reach_answer> ask(const std::string& url,
                             std::optional<std::string> body,
                             std::vector<std::string> headers,
                             const std::stop_token& stop) const;

  tools::address_policy policy_;
  bool loopback_ = false;
  duration limit_;
};

/// "a=b&c=d" (application/x-www-form-urlencoded).
std::string form_of(const fields& all);

/// Whether a URL's host is this machine, by its text.
bool is_loopback(std::string_view url);

}  // namespace riffle::mcp::oauth
