// SPDX-License-Identifier: MIT
#pragma once

// What lets requests in at a server: the token of a person's login, or one that
// no person has to agree to; made new before it ends and when the server
// refuses it.

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tools/mcp/http_exchange.hpp"
#include "tools/mcp/oauth/challenge.hpp"
#include "tools/mcp/oauth/login.hpp"
#include "tools/mcp/oauth/passing_secrets.hpp"
#include "tools/mcp/oauth/reach.hpp"

namespace riffle::mcp {

struct token_holder_options {
  std::string name{};               ///< of the server, for texts
  std::string server{};             ///< URL
  std::filesystem::path file{};     ///< of the login; need not be there
  std::vector<endpoint> allowed{};  ///< see `oauth::reach`
  std::string issuer{};             ///< of a login; empty: any
  bool bound_only = false;          ///< a login has to be bound to a key
  /// Its headers hold a token already, of the configuration: in this variable,
  /// or in a header. Then no login counts.
  std::string given{};
  /// Gives a token without a person (`oauth::unattended`), kept in memory
  /// alone; then no login counts. `anew`: nobody took the last one. One thread
  /// calls it at a time.
  std::function<expected<oauth::login>(const std::stop_token&, bool anew)>
      ask{};
  /// After a refusal, and after a new token that nobody takes.
  duration pause = std::chrono::seconds{30};
  /// Between two tokens, as long as the first is not refused.
  duration least_life = std::chrono::seconds{10};
};

/// Thread-safe; any number of requests use it at once.
class token_holder {
 public:
  explicit token_holder(token_holder_options options);
  ~token_holder();
  token_holder(const token_holder&) = delete;
  token_holder& operator=(const token_holder&) = delete;

  /// The request, with the token if there is one, and a proof of the key that
  /// it is bound to. One that is refused is sent once more with a new token, if
  /// one can be had, and once more with what its server wants in the proof;
  /// never more often. What a person can do about a refusal stands in `advice`.
  exchange_end exchange(exchange_request x);

 private:
  struct credential {
    std::string token;
    std::shared_ptr<const oauth::signing_key> key;  ///< null: bound to none
    bool soon = false;  ///< it ends soon, or is not there, and can be made new
  };

  exchange_end carry(const exchange_request& x);
  exchange_end send_with(const exchange_request& x, const credential& held);
  std::optional<credential> current();
  [[nodiscard]] bool renewable() const;
  [[nodiscard]] bool rests(const std::string& used) const;
  void look_at_file();
  std::optional<oauth::login> kept();
  void take(std::optional<oauth::login> login);
  std::optional<credential> renewed(const std::string& used,
                                    const exchange_request& x);
  void renew(const std::string& used, bool anew, const std::stop_token& stop);
  expected<oauth::login> next(const std::string& used, bool anew,
                              const std::stop_token& stop) const;
  expected<oauth::login> refreshed(const std::string& used) const;
  void accepted(const std::string& token);
  std::string advice(const exchange_end& end) const;
  std::string advice_of_token(const exchange_end& end,
                              const oauth::challenge& asked) const;
  std::string advice_of_login(const exchange_end& end,
                              const oauth::challenge& asked) const;
  std::string no_key_wanted(const oauth::challenge& asked) const;

  const token_holder_options options_;
  const oauth::reach to_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<oauth::login> login_;
  std::shared_ptr<const oauth::signing_key> key_;  ///< of `login_`
  std::string seen_;     ///< of the file, as it was read
  std::string useless_;  ///< a new token that nobody has taken yet
  std::string problem_;  ///< why there is no new one, or none at all
  time_point next_try_{};
  std::optional<time_point> made_;  ///< when a new one came
  oauth::passing_secrets secrets_;
  bool renewing_ = false;
  std::jthread worker_;
};

/// `who` may be null.
exchange_end exchange_as(token_holder* who, const exchange_request& x);

}  // namespace riffle::mcp
