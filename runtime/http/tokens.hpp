// SPDX-License-Identifier: MIT
#pragma once

// Who may use the server: tokens, the cookies that stand for them, and how
// often each may ask. Pure but for the files of secrets.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/config/server_config.hpp"

namespace riffle::http {

enum class role : std::uint8_t { run, decide, read, admin };

/// Somebody who was recognised. `admin` may do all that the others may.
struct caller {
  std::string name;
  std::string hash;  ///< of the token
  std::vector<role> roles;
  std::vector<std::string> agents;  ///< empty: all
  bool sees_all = false;            ///< sessions of others too
  /// Where tools of its runs work; empty: where those of the server do.
  std::filesystem::path workspace{};

  [[nodiscard]] bool may(role x) const noexcept;
  [[nodiscard]] bool may_use(std::string_view agent) const noexcept;
  /// As runs keep it: "server:NAME".
  [[nodiscard]] std::string origin() const { return "server:" + name; }

  bool operator==(const caller&) const = default;
};

using caller_ptr = std::shared_ptr<const caller>;

/// What the origin of a run begins with that a server began.
inline constexpr std::string_view origin_prefix = "server:";

/// The name of the token of `server.token_env`.
inline constexpr const char* main_token = "default";

/// The tokens. Thread-safe: it does not change.
class token_book {
 public:
  /// `main`: the token that may do everything; empty: there is none.
  /// `cookie_key`: what cookies are signed with.
  token_book(std::string_view main,
             const std::map<std::string, config::token_config>& others,
             std::string cookie_key);

  /// Nobody: null. Takes as long for a wrong token as for a right one.
  [[nodiscard]] caller_ptr find(std::string_view token) const;

  /// Somebody of another book, with the same token and the same rights.
  [[nodiscard]] bool has(const caller& x) const;

  /// A value that stands for the caller's token, until `until`; it ends with
  /// that token, and outlives a restart.
  [[nodiscard]] std::string cookie_for(const caller& x, wall_time until) const;
  [[nodiscard]] caller_ptr find_cookie(std::string_view value,
                                       wall_time now) const;

 private:
  struct entry {
    std::string hash;
    caller_ptr who;
  };
  [[nodiscard]] std::string sign(std::string_view text,
                                 std::string_view hash) const;

  std::vector<entry> all_;
  std::string cookie_key_;
};

/// Until when a cookie counts; nothing: it is none.
std::optional<wall_time> end_of_cookie(std::string_view value) noexcept;

/// The same in constant time for texts of one length.
bool same_secret(std::string_view a, std::string_view b) noexcept;

/// 256 random bits in hex.
std::string make_secret();

/// The text of a file of mode 0600, which is made with a new secret if it is
/// not there. Fails where others can read it, or it cannot be made.
expected<std::string> secret_file(const std::filesystem::path& file);

/// How many requests a second each may make: a bucket that holds those of one
/// second. `now` comes in. Not thread-safe; O(1) for each, but for one in
/// 10,000.
class rate_limiter {
 public:
  explicit rate_limiter(std::uint32_t per_second) : most_{per_second} {}
  bool admit(const std::string& who, time_point now) {
    return delay(who, now, {}).has_value();
  }
  /// How long it has to wait for its turn, which it then has; nothing: longer
  /// than `most`, and it has none.
  std::optional<duration> delay(const std::string& who, time_point now,
                                duration most);

 private:
  void forget_full(time_point now);

  struct bucket {
    double left = 0;  ///< below 0: turns that were given ahead
    time_point at{};
  };
  std::uint32_t most_;
  std::map<std::string, bucket> buckets_;
};

}  // namespace riffle::http
