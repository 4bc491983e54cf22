// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "runtime/cli/commands/commands.hpp"

namespace riffle::cli {

/// While it lives, an end that was asked for, or is due, comes although nobody
/// reads what is written.
class unread_limits {
 public:
  /// How long a reader that takes nothing may hold up an end that is due.
  static constexpr auto limit = std::chrono::seconds{3};

  unread_limits(std::function<bool()> end_is_due, console& io) : io_{io} {
    for (auto* x : {&io_.out, &io_.err})
      x->give_up_if([due = end_is_due](std::chrono::milliseconds silent) {
        return silent >= limit && due();
      });
  }
  ~unread_limits() {
    for (auto* x : {&io_.out, &io_.err}) x->give_up_if({});
  }
  unread_limits(const unread_limits&) = delete;
  unread_limits& operator=(const unread_limits&) = delete;

 private:
  console& io_;
};

}  // namespace riffle::cli
