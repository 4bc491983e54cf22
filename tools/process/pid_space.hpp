// SPDX-License-Identifier: MIT
#pragma once

// A PID namespace of a command's own: what it needs, step by step, and whether
// this system allows it. See README.md.

#include <string>
#include <sys/types.h>

namespace riffle::tools {

/// Where the processes of a command live.
enum class pid_space {
  automatic,  ///< in a namespace of their own where the system allows it
  own,        ///< there, or the command does not start
  shared,     ///< among all others
};

/// What fails when there can be no namespace.
enum class space_step : int {
  none,
  fork,
  parent,  ///< the guard is gone
  ids,
  mounts,
  old_proc,
  proc,
  look,
  command,
};

struct space_failure {
  space_step step = space_step::none;
  int number = 0;  ///< errno
};

/// "cannot mount a fresh /proc: Operation not permitted"
std::string to_text(const space_failure& x);

/// Forks; the child is the first process of a new PID namespace and has mounts
/// of its own. Unless the user is root it is in a user namespace, too. For a
/// process with one thread. -1: errno says why.
pid_t fork_into_space();

/// In that child: dies with its parent, maps the user's own ids to themselves,
/// and sees a fresh /proc where the old one cannot be brought back.
/// `parent_end`: a pipe's end whose other end only the parent has.
space_failure settle_in_space(uid_t user, gid_t group, int parent_end);

/// What a guard program answers when it is asked for a namespace: does all
/// that a command's start does, in real children, and tells on stdout.
[[noreturn]] void probe_space();

/// The argument that makes a guard program do so.
inline constexpr const char* space_probe_argument = "--riffle-space-probe";

struct space_support {
  bool usable = false;
  std::string why;  ///< if not
};

/// Asks `guard_program` once for each user; the answer is logged and kept.
space_support supported_space(const std::string& guard_program);

}  // namespace riffle::tools
