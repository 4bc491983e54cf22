// SPDX-License-Identifier: MIT
#pragma once

// The title of the terminal's window (OSC 2), for who looks elsewhere.

#include <chrono>
#include <string>

#include "runtime/cli/terminal/fd_writer.hpp"

namespace riffle::cli {

class window_title {
 public:
  /// `on`: `screen` is a terminal that knows sequences. It outlives this.
  window_title(bool on, fd_writer& screen) : on_{on}, screen_{screen} {}
  /// The title of before comes back.
  ~window_title();
  window_title(const window_title&) = delete;
  window_title& operator=(const window_title&) = delete;

  /// What is going on, in a line; written if it is another one, at most once a
  /// second, unless it has to be read `at_once`.
  void say(const std::string& what, bool at_once = false);
  /// The same where somebody else may have written one meanwhile.
  void say_again(const std::string& what);
  /// The title of before comes back, until something is said.
  void step_aside();

 private:
  bool on_;
  fd_writer& screen_;
  std::string now_;
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace riffle::cli
