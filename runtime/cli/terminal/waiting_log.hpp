// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/cli/terminal/fd_writer.hpp"
#include "runtime/cli/view/log_text.hpp"

namespace riffle::cli {

/// Lines that wait: the last of them, and how many there were before these.
class last_lines {
 public:
  static constexpr std::size_t most_lines = 1000;
  static constexpr std::size_t most_bytes = 256u << 10;

  /// Whole lines; the newest stay, at least one.
  void add(std::string lines);
  /// All of it; "" if there is nothing.
  std::string take();

 private:
  std::deque<std::string> kept_;
  std::size_t bytes_ = 0;
  std::size_t left_out_ = 0;
};

/// The log of a program whose user sits at a terminal. While something is drawn
/// there, or an answer is being written, its lines wait for whoever draws, so
/// that they stand between and not within; of many the last ones. Takes the log
/// for as long as it lives.
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
  last_lines lines_;
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
