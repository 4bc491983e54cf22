// SPDX-License-Identifier: MIT
#pragma once

// Requests to addresses that a server has named: they go to the public
// internet, to the server's own host, and to what the configuration allows.
// Loopback is open only to a server that is itself there.

#include <functional>
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
#include "tools/mcp/oauth/dpop.hpp"

namespace riffle::mcp::oauth {

using fields = std::vector<std::pair<std::string, std::string>>;

struct reach_answer {
  int status = 0;
  nlohmann::json body{};     ///< null: it is no JSON
  std::string dpop_nonce{};  ///< that the next proof has to hold
};

/// Writes what is sent, for each attempt anew: a signature in it may be good
/// for one alone.
using body_maker = std::function<expected<std::string>()>;

/// How long a program may take to get a token, with all steps: who gives it,
/// proofs that are asked for anew, turns that processes take.
inline constexpr duration token_limit = std::chrono::seconds{30};

class reach {
 public:
  /// `allowed`: endpoints beside the public internet (`tools.fetch.allow`).
  reach(std::string_view server, std::vector<endpoint> allowed,
        duration limit = std::chrono::seconds{20});

  /// The same for steps that have so long in all, whatever each may take: what
  /// is not done by then fails with `timeout`. Nonces stay those of all.
  [[nodiscard]] reach within(duration total) const;
  [[nodiscard]] std::optional<time_point> end() const { return until_; }

  /// Why a token must not go there, or nothing: only https is safe, and
  /// loopback. Asks for nothing.
  [[nodiscard]] std::optional<std::string> refusal(std::string_view url) const;

  expected<reach_answer> get(const std::string& url,
                             const std::stop_token& stop) const;
  /// With a proof of `key`, if that is not null (RFC 9449): once more if the
  /// answer wants another one, never more often.
  expected<reach_answer> post(const std::string& url, const body_maker& body,
                              std::vector<std::string> headers,
                              const std::stop_token& stop,
                              const signing_key* key = nullptr) const;

  [[nodiscard]] dpop_nonces& nonces() const { return *nonces_; }

 private:
  expected<reach_answer> ask(const std::string& url,
                             std::optional<std::string> body,
                             std::vector<std::string> headers,
                             const std::stop_token& stop) const;
  expected<duration> time_left(const std::string& url) const;
  [[nodiscard]] unexpected too_late(const std::string& url) const;

  tools::address_policy policy_;
  bool loopback_ = false;
  duration limit_;                   ///< of one request
  std::optional<time_point> until_;  ///< of all of them
  duration total_{};
  std::shared_ptr<dpop_nonces> nonces_ = std::make_shared<dpop_nonces>();
};

/// The same, and the host and port of a URL that a person has named.
std::vector<endpoint> with_host_of(std::string_view url,
                                   std::vector<endpoint> allowed);

/// "a=b&c=d" (application/x-www-form-urlencoded).
std::string form_of(const fields& all);

/// Whether a URL's host is this machine, by its text.
bool is_loopback(std::string_view url);

}  // namespace riffle::mcp::oauth
