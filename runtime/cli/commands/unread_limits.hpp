// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "runtime/cli/commands/commands.hpp"

namespace riffle::cli {

/// While it lives, an end that was asked for, or is due, comes although nobody
/// reads what is written. One within another counts alone.
class unread_limits {
 public:
  /// How long a reader that takes nothing may hold up an end that is due.
  static constexpr auto limit = std::chrono::seconds{3};

  unread_limits(const std::function<bool()>& end_is_due, console& io)
      : io_{io} {
    const auto patience = [due = end_is_due](std::chrono::milliseconds silent) {
      return silent >= limit && due();
    };
    out_before_ = io_.out.give_up_if(patience);
    err_before_ = io_.err.give_up_if(patience);
  }
  ~unread_limits() {
    io_.out.give_up_if(std::move(out_before_));
    io_.err.give_up_if(std::move(err_before_));
  }
  unread_limits(const unread_limits&) = delete;
  unread_limits& operator=(const unread_limits&) = delete;

 private:
  console& io_;
  fd_writer::patience out_before_;
  fd_writer::patience err_before_;
};

}  // namespace riffle::cli
