// SPDX-License-Identifier: MIT
#pragma once

// What becomes of a command's processes when somebody kills its guard.

#include <shared_mutex>
#include <sys/types.h>

namespace riffle::tools {

/// From now on this process is the parent of processes whose own has died
/// (prctl(2), PR_SET_CHILD_SUBREAPER), and ends those that a guard leaves. For
/// a program that is Riffle; an application decides for itself.
void adopt_orphans() noexcept;

/// The guards that live, so that nobody takes one for an orphan. A guard is
/// started and added under the lock.
class live_guards {
 public:
  static std::shared_lock<std::shared_mutex> starting();
  static void add(pid_t guard);
  static void remove(pid_t guard);
};

/// Ends and reaps what a guard left that has died: adopted processes which
/// began no earlier than `since` (see `start_time`) in a session of their own,
/// with all that descends from them. Living guards are let be. Nothing where
/// orphans are not adopted. False: some do not end.
bool end_orphans(unsigned long long since);

}  // namespace riffle::tools
