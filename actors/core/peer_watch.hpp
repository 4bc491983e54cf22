// SPDX-License-Identifier: MIT
#pragma once

// When a process of a cluster counts as silent, and when one that cannot be
// reached is dialled again. Pure.

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "messages/time.hpp"

namespace riffle::core {

/// How a link lives: each side says something at least each `heartbeat`, and
/// one that is silent for `timeout` is fenced; so is one that is heard but
/// hears nothing: it answers no ping (a link can break one way).
class peer_watch {
 public:
  struct limits {
    duration heartbeat = std::chrono::seconds{1};
    duration timeout = std::chrono::seconds{3};
  };

  peer_watch(limits x, time_point now)
      : limits_{x}, heard_{now}, next_ping_{now}, confirmed_{now} {}

  void on_heard(time_point now) noexcept { heard_ = now; }
  /// Both begin anew: what was said before counts no more.
  void restart(time_point now) noexcept { heard_ = confirmed_ = now; }
  /// A ping is due; the next one is a heartbeat later.
  bool ping_due(time_point now) noexcept;
  void on_ping(std::uint64_t number, time_point now);
  /// The peer has heard that ping: when that was sent, it had not fenced us.
  void on_pong(std::uint64_t number, time_point now);
  [[nodiscard]] bool is_silent(time_point now) const noexcept {
    return now - heard_ >= limits_.timeout ||
           now - confirmed_ >= limits_.timeout + limits_.heartbeat;
  }
  [[nodiscard]] time_point heard() const noexcept { return heard_; }
  /// When the newest ping was sent that was answered; at first: the beginning.
  [[nodiscard]] time_point confirmed() const noexcept { return confirmed_; }
  /// Of the last ping that was answered.
  [[nodiscard]] std::optional<duration> round_trip() const noexcept {
    return round_trip_;
  }

 private:
  limits limits_;
  time_point heard_;
  time_point next_ping_;
  time_point confirmed_;
  /// Pings that are not answered, and when they were sent.
  std::deque<std::pair<std::uint64_t, time_point>> asked_;
  std::optional<duration> round_trip_;
};

/// When an address is dialled: at once, after a failure later and later (equal
/// jitter), for ever; not while it is linked.
class dial_plan {
 public:
  struct limits {
    duration base = std::chrono::milliseconds{200};
    duration cap = std::chrono::seconds{10};
  };

  dial_plan() = default;
  explicit dial_plan(limits x) : limits_{x} {}

  /// True: dial now; it counts as dialled until one of the others is called.
  /// `on_failed` also when a link has ended; not before `at_least` is over.
  bool begin_if_due(time_point now) noexcept;
  void on_failed(time_point now, double random01,
                 duration at_least = {}) noexcept;
  /// As a dial that failed, also if both had greeted each other before.
  void on_refused(time_point now, double random01) noexcept;
  void on_linked() noexcept;
  /// Both have greeted each other: what failed before is forgotten.
  void on_joined() noexcept;

  [[nodiscard]] bool linked() const noexcept { return at_ == phase::linked; }
  [[nodiscard]] std::uint32_t failures() const noexcept { return failures_; }

 private:
  enum class phase : std::uint8_t { waiting, dialling, linked };

  limits limits_;
  phase at_ = phase::waiting;
  time_point due_{};
  std::uint32_t failures_ = 0;
  std::uint32_t before_join_ = 0;  ///< what a refusal brings back
};

}  // namespace riffle::core
