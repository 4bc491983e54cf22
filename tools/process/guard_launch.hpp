// SPDX-License-Identifier: MIT
#pragma once

// What a guard starts: the tool, or first a process that makes a PID namespace
// and is its init.

#include <sys/types.h>

#include "tools/process/guard.hpp"

namespace riffle::tools {

/// In the tool's process, before it becomes the tool.
struct launch {
  const char* folder;
  char** command;
  pid_t parent;  ///< as the tool sees it
  int report;    ///< pipe; gets a guard_report when the tool cannot start

  [[noreturn]] void run() const;
  [[noreturn]] void fail(guard_report::what kind) const;
};

/// Forks an init in a PID namespace of its own, which starts the tool, writes
/// how the tool's first process ended to `status` (a guard_report) and ends
/// when no other process of the namespace is left. `ends_of_guard`: what it
/// must close. -1: errno.
pid_t fork_init(const launch& tool, int status, int (&ends_of_guard)[2]);

/// Standard input and outputs become /dev/null, the folder "/": who outlives
/// the tool must not hold its pipes and folder.
void let_go();

}  // namespace riffle::tools
