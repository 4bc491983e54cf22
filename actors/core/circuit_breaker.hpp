// SPDX-License-Identifier: MIT
#pragma once

// Whether a tool is in service: a tool that keeps crashing,
// or whose calls ignore that they were stopped, is taken out of service, and
// after a while one call decides whether it comes back (a circuit breaker;
// Nygard, "Release It!").

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "actors/core/restart_policy.hpp"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace riffle::core {

class circuit_breaker {
 public:
  /// `op` of the error that refuses a call while it is open.
  static constexpr const char* op = "circuit_breaker";

  struct limits {
    std::uint32_t intensity = 5;                 ///< restarts …
    duration period = std::chrono::seconds{60};  ///< … within
    restart_policy::backoff backoff;
    /// How long it is out of service before the trial.
    duration cool_down = std::chrono::seconds{60};
    /// Calls that ignore their stop, at once; one more than this many and the
    /// breaker opens. At least 1.
    std::uint32_t abandoned = 4;
  };

  enum class admission : std::uint8_t {
    run,     ///< give it a worker
    wait,    ///< the trial decides first
    refuse,  ///< out of service: settle it with `why`
  };

  circuit_breaker(std::string tool, limits x);

  /// May a call begin? `run` when the tool cooled down makes it the trial:
  /// then exactly one of `on_crash`, `on_success`, `on_undecided` or
  /// `on_abandoned` ends that.
  admission admit(time_point now);

  /// Whether `admit` refuses now.
  [[nodiscard]] bool refuses(time_point now) const noexcept;

  /// A worker died. How long its place rests before a new one starts; nothing:
  /// the breaker is open now. `random01`: in [0, 1).
  std::optional<duration> on_crash(time_point now, double random01);

  /// A call ended and its worker lives.
  void on_success();

  /// The trial ended without saying anything of the tool: it was stopped.
  void on_undecided(time_point now);

  /// A call ignores its stop. True: the breaker is open now.
  bool on_abandoned(time_point now);

  /// An abandoned call ended at last.
  void on_returned();

  [[nodiscard]] bool is_closed() const noexcept { return at_ == phase::closed; }
  [[nodiscard]] std::uint32_t abandoned() const noexcept { return abandoned_; }

  /// Why calls are refused, and until when, for the model.
  [[nodiscard]] error why(time_point now) const;

 private:
  enum class phase : std::uint8_t { closed, open, half_open };

  void trip(time_point now, std::string reason);

  std::string tool_;
  limits limits_;
  restart_policy restarts_;
  phase at_ = phase::closed;
  time_point trial_at_{};
  std::string reason_;
  std::uint32_t abandoned_ = 0;
};

}  // namespace riffle::core
