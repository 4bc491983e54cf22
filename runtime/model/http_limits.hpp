// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "messages/time.hpp"
#include "runtime/model/transport.hpp"

namespace riffle::model {

enum class time_limit : std::uint8_t { connect, first_byte, idle, total };

/// How long that limit is; zero: none.
duration length(const transport_timeouts& limits, time_limit which);

/// Which of the four limits of a transfer is due next, and when. Pure: time
/// is an argument.
///
/// `connect` runs until the request can be sent, `first_byte` from there to
/// the body, `idle` from read to read, `total` from the start. A pause stops
/// `idle` and `total`; there is none before the body.
class limit_clock {
 public:
  struct deadline {
    time_point at;
    time_limit limit;

    bool operator==(const deadline&) const = default;
  };

  limit_clock(const transport_timeouts& limits, time_point now);

  void on_connected(time_point now);
  void on_bytes(time_point now);
  void pause(time_point now);
  void resume(time_point now);

  /// Nothing: no limit runs.
  [[nodiscard]] std::optional<deadline> next() const;

 private:
  transport_timeouts limits_;
  time_limit phase_ = time_limit::connect;
  time_point phase_start_;
  time_point total_start_;
  std::optional<time_point> paused_at_;
};

}  // namespace riffle::model
