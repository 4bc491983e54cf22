// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <sys/types.h>
#include <vector>

namespace riffle::tools {

/// All processes that descend from `root`, parents before their children;
/// those that nobody has waited for yet count too. A snapshot: processes that
/// fork or end meanwhile may be missed, so ask again until nothing new is
/// found.
std::vector<pid_t> descendants_of(pid_t root);
std::vector<pid_t> descendants();  ///< of the calling process
/// Only the first generation.
std::vector<pid_t> children();

/// Sends `signals` once to every descendant that is not in `known`, and adds
/// it there.
void signal_new_descendants(std::set<pid_t>& known,
                            std::initializer_list<int> signals);

/// Freezes all descendants, until none is found that is not frozen, so that
/// none can fork past it, then kills them. The caller reaps and calls again
/// until it has no child left.
void kill_descendants();
/// The same for those of another process, which must not be reaped meanwhile.
void kill_descendants_of(pid_t root);
/// The same, and these processes as well.
void kill_trees(const std::vector<pid_t>& roots);

/// When it started, in clock ticks since the machine did; 0: unknown.
unsigned long long start_time(pid_t pid);

}  // namespace riffle::tools
