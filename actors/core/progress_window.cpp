// SPDX-License-Identifier: MIT
#include "actors/core/progress_window.hpp"

#include <algorithm>
#include <utility>

namespace riffle::core {

std::optional<tool_progress_report> progress_window::offer(
    tool_progress_report x, time_point now) {
  if (closed_) return std::nullopt;
  if (held_) x.coalesced += held_->coalesced + 1;
  held_ = std::move(x);
  return send_if_due(now);
}

std::optional<tool_progress_report> progress_window::on_ack(time_point now) {
  if (in_flight_ == 0) return std::nullopt;
  --in_flight_;
  return send_if_due(now);
}

std::optional<tool_progress_report> progress_window::on_time(time_point now) {
  return send_if_due(now);
}

std::optional<time_point> progress_window::due() const {
  if (!held_ || closed_ || !has_room()) return std::nullopt;
  return next_;
}

bool progress_window::has_room() const noexcept {
  return in_flight_ < window_ && sent_ + 1 < pace_.most;
}

std::optional<tool_progress_report> progress_window::send_if_due(
    time_point now) {
  if (closed_ || !held_ || !has_room() || now < next_) return std::nullopt;
  auto out = send_held();
  const auto rounds = sent_ / std::max<std::uint32_t>(pace_.at_once, 1);
  constexpr std::uint64_t most_rounds = 20;
  if (rounds > 0)
    next_ = now + pace_.gap * (1LL << (std::min(rounds, most_rounds) - 1));
  return out;
}

std::optional<tool_progress_report> progress_window::last() {
  closed_ = true;
  return send_held();
}

std::optional<tool_progress_report> progress_window::send_held() {
  if (!held_) return std::nullopt;
  ++in_flight_;
  ++sent_;
  return std::exchange(held_, std::nullopt);
}

}  // namespace riffle::core
