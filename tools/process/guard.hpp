// SPDX-License-Identifier: MIT
#pragma once

// The guard: a small process between the runtime and a tool's processes, the
// same program started with another first argument. See README.md.

#include <cstdint>
#include <filesystem>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::tools {

/// The first statement of `main`: runs the guard and ends the process when
/// it was started as one; otherwise gives back -1 and from then on this
/// program may be started as a guard.
int run_guard_if_asked(int argc, char** argv);

/// Whether `run_guard_if_asked` was called. Without it, a guard started from
/// this program would be the whole program once more.
bool can_be_guard() noexcept;

/// Makes the lock file and locks it. The lock belongs to the descriptor: it
/// is held until all its copies are closed, also by the death of their
/// processes. Waits up to a second for a short look of `wait_for_guard`.
expected<unique_fd> lock_for_guard(const std::filesystem::path& file);

/// Waits until no process of the attempt with this lock file lives (also if
/// there never was one), then removes the file. `internal` if it is still
/// locked at the deadline. Looks at least once.
expected<void> wait_for_guard(const std::filesystem::path& file,
                              time_point deadline);

/// What a guard gets: these descriptors, stdin and the tool's output.
inline constexpr int guard_channel = 3;
inline constexpr int guard_lock = 4;

/// Arguments of the guard: this, milliseconds of grace, where the processes
/// live (one of the two below), the folder, the command.
inline constexpr const char* guard_argument = "--riffle-guard";
inline constexpr const char* guard_own_space = "own";
inline constexpr const char* guard_shared_space = "shared";

/// From the runtime to the guard, one message each; the end of the channel
/// means the same as `end`: the runtime is gone.
enum class guard_order : unsigned char {
  end = 'e',
  lease = 'l',  ///< a `guard_lease`
};

/// From now on the processes live so long, unless another order comes; a
/// negative number: for ever.
struct guard_lease {
  guard_order order = guard_order::lease;
  std::int64_t milliseconds = -1;
};

/// From the guard to the runtime, one message, when no process is left.
struct guard_report {
  enum class what : int {
    ended,        ///< value: the status as `waitpid` gave it
    no_folder,    ///< value: errno of chdir
    not_started,  ///< value: errno of fork or exec
    no_space,     ///< no PID namespace; see `space_failure`
  };
  what kind = what::ended;
  int value = 0;
  int step = 0;
};

}  // namespace riffle::tools
