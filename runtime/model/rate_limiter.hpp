// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/time.hpp"

namespace riffle::model {

/// What one model's server is asked for at most (models.*.max_concurrent and
/// requests_per_minute); zero: no limit.
struct transport_limits {
  std::uint32_t max_concurrent = 0;
  std::uint32_t requests_per_minute = 0;
  /// Starts are spread as the server's headers ask (`transport_end::pace`).
  bool paced = false;
};

/// Who may start, and when: first come, first served. Pure: time is an
/// argument, a request is a number that the caller never uses twice and that
/// grows from request to request.
///
/// At most `max_concurrent` are open at once; in no half-open window of 60 s
/// start more than `requests_per_minute`. After a refusal nothing starts for as
/// long as the server says; then half as many as were open may be open, and
/// starts keep the distance at which they were accepted. Each success lets both
/// grow again (additive increase, multiplicative decrease).
class rate_limiter {
 public:
  using ticket = std::uint64_t;

  /// What became of the ones that wait, each list in order.
  struct moves {
    std::vector<ticket> started;
    std::vector<ticket> expired;  ///< did not start until their limit
  };

  explicit rate_limiter(transport_limits limits) : limits_{limits} {}

  /// Starts a new request, if nobody waits and the limits allow it.
  [[nodiscard]] bool try_start(time_point now);

  /// Puts a new request behind all that wait, until then at the latest.
  void wait(ticket id, time_point until);

  /// Lets those go whose turn or whose limit has come.
  [[nodiscard]] moves poll(time_point now);

  /// Takes a request back that waits; false: it does not wait.
  bool withdraw(ticket id);

  /// One that was started has ended.
  void on_end();

  /// What the server asked for with its last answer: so long before the next
  /// start, and between those that follow. Zero: nothing.
  void pace(duration length, time_point now);

  /// The server refused one that has ended: there were too many (429).
  void refuse(std::optional<duration> retry_after, time_point now);
  /// It accepted one that has ended.
  void accept();

  /// So many may be open at once now, by all that is known; 0: no limit.
  [[nodiscard]] std::uint32_t capacity() const noexcept;

  /// When `poll` has something to do, if nothing else happens before; may be
  /// in the past. Nothing: nobody waits.
  [[nodiscard]] std::optional<time_point> next() const;

  [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }

 private:
  [[nodiscard]] bool may_start(time_point now);
  void start(time_point now);

  /// What is open may be so many.
  [[nodiscard]] bool is_full() const noexcept {
    const auto most = capacity();
    return most > 0 && open_ >= most;
  }

  transport_limits limits_;
  std::size_t open_ = 0;
  // What refusals have taught.
  double ceiling_ = 0;    ///< of what is open; 0: none
  double forget_at_ = 0;  ///< a ceiling of that height is none
  duration distance_{};   ///< between starts
  std::optional<time_point> refused_until_;
  std::optional<time_point> since_;  ///< `accepted_` is counted from here
  time_point last_start_{};
  std::uint32_t accepted_ = 0;
  duration pace_{};                     ///< between starts
  std::optional<time_point> hold_;      ///< none before
  std::deque<time_point> starts_;       ///< of the last 60 s, if counted
  std::map<ticket, time_point> queue_;  ///< with the limit of each wait
  std::set<std::pair<time_point, ticket>> limits_of_waits_;
};

}  // namespace riffle::model
