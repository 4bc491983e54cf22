// SPDX-License-Identifier: MIT
#pragma once

// How long calls wait, and how much earlier than the end of their turn they
// begin. Pure: `now` comes in.

#include <map>
#include <optional>
#include <vector>

#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::core {

class call_clock {
 public:
  /// From now on it could begin: its arguments are complete, or it was
  /// approved.
  void on_ready(const call_id& id, time_point now) { ready_[id] = now; }

  /// It began: how long it could have. Nothing: an attempt that is not its
  /// first, or a call that it knows nothing of.
  std::optional<duration> on_begun(const call_id& id, time_point now) {
    const auto at = ready_.extract(id);
    if (!at) return {};
    begun_.push_back(now);
    return now - at.mapped();
  }

  /// It never began.
  void on_settled(const call_id& id) { ready_.erase(id); }

  /// The turn's last byte came: how long before that each call of it began.
  std::vector<duration> on_turn_over(time_point now) {
    std::vector<duration> out;
    out.reserve(begun_.size());
    for (const auto at : begun_) out.push_back(now - at);
    begun_.clear();
    return out;
  }

  /// What begins from now on has no head start.
  void on_next_turn() { begun_.clear(); }

 private:
  std::map<call_id, time_point> ready_;
  std::vector<time_point> begun_;  ///< of the turn that still comes
};

}  // namespace riffle::core
