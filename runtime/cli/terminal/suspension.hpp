// SPDX-License-Identifier: MIT
#pragma once

// Ctrl-Z, as a signal, while rows are drawn that do not stay: the shell writes
// where the cursor is, so they go first.

#include <csignal>

namespace riffle::cli {

/// While it lives, the first Ctrl-Z is only noted (`asked`): who draws takes
/// away what stands there and calls `stop`. A second one stops the process at
/// once. At most one object at a time; where Ctrl-Z was ignored before, it
/// stays so.
class suspension {
 public:
  suspension();
  /// One that nobody has seen yet stops the process here.
  ~suspension();
  suspension(const suspension&) = delete;
  suspension& operator=(const suspension&) = delete;

  [[nodiscard]] bool asked() const noexcept;
  /// The process is stopped; returns when it goes on.
  void stop();

 private:
  struct sigaction before_{};
};

/// Ctrl-Z came, and the process is not stopped yet: what is read meanwhile was
/// typed behind it.
bool is_about_to_stop() noexcept;

/// Stops all of a process's group, as a shell's Ctrl-Z does; returns when it
/// goes on, and soon where nobody could let it go on.
void stop_group();

}  // namespace riffle::cli
