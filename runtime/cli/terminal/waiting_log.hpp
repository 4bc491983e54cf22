// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "runtime/cli/terminal/fd_writer.hpp"
#include "runtime/cli/view/log_text.hpp"

namespace riffle::cli {

/// The log of a program whose user sits at a terminal. While something is drawn
/// there, or an answer is being written, its lines wait for whoever draws, so
/// that they stand between and not within. Takes the log for as long as it
/// lives.
class waiting_log {
 public:
  /// Nothing in `people`: all lines are shown as the log has them, and so they
  /// are where the configuration wants to see more than warnings.
  waiting_log(fd_writer& err, std::optional<log_text> people);
  /// Writes what still waits.
  ~waiting_log();
  waiting_log(const waiting_log&) = delete;
  waiting_log& operator=(const waiting_log&) = delete;

  /// Whole lines that wait; "" if there are none.
  std::string take();

 private:
  friend class held_log;
  void on(const log_line& x);
  void hold();
  void release();

  fd_writer& err_;
  std::mutex mutex_;
  std::optional<log_text> people_;
  int held_ = 0;
  std::string lines_;
};

/// While it lives lines of the log wait.
class held_log {
 public:
  /// Null: there is none.
  explicit held_log(waiting_log* log) : log_{log} {
    if (log_) log_->hold();
  }
  ~held_log() {
    if (log_) log_->release();
  }
  held_log(const held_log&) = delete;
  held_log& operator=(const held_log&) = delete;

  std::string take() { return log_ ? log_->take() : std::string{}; }

 private:
  waiting_log* log_;
};

}  // namespace riffle::cli
