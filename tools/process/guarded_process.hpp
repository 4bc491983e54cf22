// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include "messages/error.hpp"
#include "tools/process/guard.hpp"
#include "tools/process/process.hpp"
#include "tools/process/unique_fd.hpp"

namespace riffle::tools {

/// The runtime's end of one guard. Destroyed early, it makes the guard end
/// everything, and does not wait for that.
class guarded_process {
 public:
  /// Starts the guard, and so the program. Safe in a process with threads:
  /// posix_spawn does nothing between fork and exec that is not.
  static expected<guarded_process> start(const process_request& request);

  guarded_process(guarded_process&& other) noexcept;
  guarded_process& operator=(guarded_process&&) = delete;
  ~guarded_process();

  /// Asks the guard to end all processes.
  void ask_end() noexcept;

  /// The guard's only message; nothing if it died without one. Call when the
  /// channel is readable. Waits until the guard has ended (it does nothing
  /// any more), so that its lock is free.
  std::optional<guard_report> finish();

  [[nodiscard]] int channel() const noexcept { return channel_.get(); }

  unique_fd out;  ///< what the program writes; does not block
  unique_fd err;

 private:
  guarded_process() = default;

  unique_fd channel_;
  pid_t pid_ = -1;
};

}  // namespace riffle::tools
