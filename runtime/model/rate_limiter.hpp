// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
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

/// Who may start, and when: first come, first served, but who was refused
/// before all others. Pure: time is an argument, a request is a number that the
/// caller never uses twice and that grows from request to request.
///
/// At most `max_concurrent` are open at once; in no half-open window of 60 s
/// start more than `requests_per_minute`. After a refusal nothing starts for as
/// long as the server says; then half as many as were open may be open, or as
/// many as it answered all the same, and so many start in so long as it has
/// taken before it refused. What is
/// accepted lets both grow again (additive increase, multiplicative decrease).
class rate_limiter {
 public:
  using ticket = std::uint64_t;

  /// What `capacity` is without a limit.
  static constexpr auto no_limit = std::numeric_limits<std::uint32_t>::max();

  /// What became of the ones that wait, each list in order.
  struct moves {
    std::vector<ticket> started;
    std::vector<ticket> expired;  ///< did not start until their limit
  };

  explicit rate_limiter(transport_limits limits) : limits_{limits} {}

  /// Starts a new request, if the limits allow it and nobody waits whom it
  /// would overtake. `again`: the server has refused it before.
  [[nodiscard]] bool try_start(time_point now, bool again = false);

  /// Puts a new request behind all that wait, or behind those who were
  /// refused too, until then at the latest.
  void wait(ticket id, time_point until, bool again = false);

  /// Lets those go whose turn or whose limit has come.
  [[nodiscard]] moves poll(time_point now);

  /// Takes a request back that waits; false: it does not wait.
  bool withdraw(ticket id);

  /// One that was started has ended; `accepted`: as `accept` had told.
  void on_end(bool accepted = false);

  /// What the server asked for with its last answer: so long before the next
  /// start, and between those that follow. Zero: nothing.
  void pace(duration length, time_point now);

  /// The server refused one that began then: there were too many (429). Before
  /// its `on_end`.
  void refuse(time_point begun, std::optional<duration> retry_after,
              time_point now);
  /// It accepted one that began then: its answer begins.
  void accept(time_point begun);

  /// So many may be open at once now, by all that is known: those that are, and
  /// as many more as could start or wait for their start already.
  [[nodiscard]] std::uint32_t capacity(time_point now) const;

  /// When `poll` has something to do, if nothing else happens before; may be
  /// in the past. Nothing: nobody waits.
  [[nodiscard]] std::optional<time_point> next() const;

  /// When time alone lets more start than now. Nothing: it does not.
  [[nodiscard]] std::optional<time_point> more_at(time_point now) const;

  /// What the server's limits hold back starts then at the earliest; `max`:
  /// when another one has ended. Nothing: they hold back nothing.
  [[nodiscard]] std::optional<time_point> held_until(time_point now) const;

  [[nodiscard]] std::size_t waiting() const noexcept {
    return queue_.size() + again_.size();
  }

 private:
  using queue = std::map<ticket, time_point>;  ///< with the limit of each wait

  /// So many starts in so long; 0: any number.
  struct quota {
    [[nodiscard]] double rate() const noexcept {
      return starts == 0
                 ? 0
                 : starts / std::chrono::duration<double>(length).count();
    }
    std::uint32_t starts = 0;
    duration length{};
  };

  [[nodiscard]] bool may_start(time_point now) const;
  void start(time_point now);
  void grow();
  [[nodiscard]] quota shown() const;
  /// Open at once at most, whatever the time.
  [[nodiscard]] std::uint32_t most_open() const noexcept;
  [[nodiscard]] std::uint32_t startable(time_point now) const;
  /// Nothing starts before, if nothing ends; may be in the past.
  [[nodiscard]] time_point opens_at() const;

  transport_limits limits_;
  std::size_t open_ = 0;
  std::size_t answered_ = 0;  ///< of these were accepted
  queue again_;               ///< were refused: these first
  queue queue_;
  std::set<std::pair<time_point, ticket>> limits_of_waits_;
  std::deque<time_point> starts_;   ///< of the last 60 s, if counted
  duration pace_{};                 ///< between starts
  std::optional<time_point> hold_;  ///< none before

  // What refusals have taught.
  std::deque<time_point> taken_;  ///< starts that were not refused
  double ceiling_ = 0;            ///< of what is open; 0: none
  double forget_ceiling_ = 0;     ///< one of that height is none
  quota learned_;
  quota former_;                    ///< before the last refusal
  quota proven_;                    ///< before it grew
  std::uint32_t forget_quota_ = 0;  ///< one of so many starts is none
  std::optional<time_point> refused_at_;
  std::optional<time_point> refused_until_;
  time_point since_ = time_point::min();  ///< the time that teaches
  duration guess_{};                      ///< the last wait that nobody asked
  std::uint32_t accepted_ = 0;            ///< since something grew or fell
  std::uint32_t step_ = 1;                ///< by which it grows next
  std::uint32_t hold_rounds_ = 1;         ///< rounds before it grows
  bool widens_ = false;                   ///< it was the ceiling that grew
  bool grown_ = false;                    ///< since the last refusal
};

}  // namespace riffle::model
