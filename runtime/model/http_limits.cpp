// SPDX-License-Identifier: MIT
#include "runtime/model/http_limits.hpp"

namespace riffle::model {

duration length(const transport_timeouts& limits, time_limit which) {
  switch (which) {
    case time_limit::connect: return limits.connect;
    case time_limit::first_byte: return limits.first_byte;
    case time_limit::idle: return limits.idle;
    case time_limit::total: return limits.total;
  }
  return {};
}

limit_clock::limit_clock(const transport_timeouts& limits, time_point now)
    : limits_{limits}, phase_start_{now}, total_start_{now} {}

void limit_clock::on_connected(time_point now) {
  if (phase_ == time_limit::connect) {
    phase_ = time_limit::first_byte;
    phase_start_ = now;
  }
}

void limit_clock::on_bytes(time_point now) {
  phase_ = time_limit::idle;
  phase_start_ = paused_at_.value_or(now);
}

void limit_clock::pause(time_point now) {
  if (!paused_at_) {
    paused_at_ = now;
  }
}

void limit_clock::resume(time_point now) {
  if (paused_at_) {
    phase_start_ += now - *paused_at_;
    total_start_ += now - *paused_at_;
    paused_at_.reset();
  }
}

std::optional<limit_clock::deadline> limit_clock::next() const {
  if (paused_at_) {
    return std::nullopt;
  }
  std::optional<deadline> out;
  if (auto limit = length(limits_, phase_); limit > duration::zero()) {
    out = deadline{phase_start_ + limit, phase_};
  }
  if (limits_.total > duration::zero()) {
    auto at = total_start_ + limits_.total;
    if (!out || at < out->at) {
      out = deadline{at, time_limit::total};
    }
  }
  return out;
}

}  // namespace riffle::model
