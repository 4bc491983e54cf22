// SPDX-License-Identifier: MIT
#pragma once

// The guard as a small program of its own, which this one carries and starts
// from memory. See README.md.

#include <spawn.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace riffle::tools {

/// The program that runs, as a guard program and as a command.
inline constexpr const char* this_program = "/proc/self/exe";

/// Whether the small guard is started in place of this program: it is the one
/// that runs, and nobody has given the small one up.
bool stands_in_for(const std::string& program);

/// It did not start, or did not answer: from now on programs guard themselves.
void give_up_small_guard();

/// How a guard is started.
struct guard_start {
  /// As `process_request::guard_program`.
  std::string program{};
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};
  const posix_spawn_file_actions_t* actions = nullptr;
  const posix_spawnattr_t* attributes = nullptr;
  /// What the guard starts is `this_program`, so that must be the guard, too.
  bool itself = false;
};

/// 0, or errno.
int spawn_guard(pid_t& pid, guard_start how);

}  // namespace riffle::tools
