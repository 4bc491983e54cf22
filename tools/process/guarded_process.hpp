// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <sys/types.h>

#include "messages/error.hpp"
#include "runtime/base/unique_fd.hpp"
#include "tools/lease.hpp"
#include "tools/process/guard.hpp"
#include "tools/process/process.hpp"

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

  /// From here on its processes live by this lease; null: by none.
  void live_by(lease_ptr x);

  /// Call it every tenth of a second or so while you wait: hands the lease on,
  /// continues a guard
  /// that somebody stopped, and ends all processes itself if half a second
  /// after `ask_end` and the grace the guard has not.
  void look_after();

  /// The guard's only message; nothing if it died without one. Call when the
  /// channel is readable. Waits until the guard has ended (it does nothing
  /// any more); what a killed guard left is ended first, see `adopt_orphans`.
  /// Then the lock is free.
  std::optional<guard_report> finish();

  [[nodiscard]] int channel() const noexcept { return channel_.get(); }

  unique_fd out;  ///< what the program writes; does not block
  unique_fd err;

 private:
  using clock = std::chrono::steady_clock;
  guarded_process() = default;

  unique_fd channel_;
  unique_fd lock_;  ///< the guard may be killed before its processes are
  pid_t pid_ = -1;
  unsigned long long started_ = 0;  ///< see `start_time`
  duration grace_{};
  void hand_on_lease() noexcept;
  [[nodiscard]] std::optional<guard_report> read_report() const;

  lease_ptr lease_;
  clock::time_point next_look_;
  std::optional<clock::time_point> force_at_;
};

}  // namespace riffle::tools
