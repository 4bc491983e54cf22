// SPDX-License-Identifier: MIT
#include "actors/core/progress_window.hpp"

#include <utility>

namespace riffle::core {

std::optional<tool_progress_report> progress_window::offer(
    tool_progress_report x) {
  if (closed_) return std::nullopt;
  if (held_) x.coalesced += held_->coalesced + 1;
  held_ = std::move(x);
  return in_flight_ < window_ ? send_held() : std::nullopt;
}

std::optional<tool_progress_report> progress_window::on_ack() {
  if (in_flight_ == 0) return std::nullopt;
  --in_flight_;
  return in_flight_ < window_ ? send_held() : std::nullopt;
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
