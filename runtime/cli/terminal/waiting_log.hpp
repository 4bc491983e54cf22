// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string>

#include "runtime/cli/terminal/fd_writer.hpp"

namespace riffle::cli {

/// While a status line is drawn on standard error, lines of the log wait here
/// for whoever draws it, so that they stand above it and not in it.
class waiting_log {
 public:
  /// `on` false: the log writes to standard error itself, as always.
  waiting_log(bool on, fd_writer& err);
  /// Writes what still waits.
  ~waiting_log();
  waiting_log(const waiting_log&) = delete;
  waiting_log& operator=(const waiting_log&) = delete;

  /// Whole lines; "" if there are none.
  std::string take();

 private:
  bool on_;
  fd_writer& err_;
  std::mutex mutex_;
  std::string lines_;
};

}  // namespace riffle::cli
