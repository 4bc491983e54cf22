// SPDX-License-Identifier: MIT
#pragma once

// How long a run had a question open: its time is not what it took to work.
// Pure.

#include <cstdint>
#include <string>
#include <unordered_set>

#include "messages/event.hpp"

namespace riffle::cli {

class question_time {
 public:
  /// The events of one run, in order.
  void on(const event& x);

  /// ", 55.0s of it waiting for you" behind a time of `ms`; empty: less than a
  /// second.
  [[nodiscard]] std::string text(std::uint64_t ms) const;

 private:
  std::unordered_set<proposal_id> open_;
  wall_time since_{};  ///< the first of them
  std::int64_t us_ = 0;
};

}  // namespace riffle::cli
