// SPDX-License-Identifier: MIT
#pragma once

// Files on which this process holds POSIX record locks, as SQLite does: closing
// any descriptor of such a file frees them all (fcntl(2)), and then another
// process believes that nobody uses the file. So nothing else of the process
// may open one. Thread-safe.

#include <string>
#include <sys/stat.h>

#include "runtime/base/unique_fd.hpp"

namespace riffle {

/// From now on, counted.
void hold_locked(const std::string& file);
void release_locked(const std::string& file);

/// Whether it is one of them, also by another name.
[[nodiscard]] bool is_locked_file(const struct stat& x);

/// Opens what `place`, a descriptor with O_PATH, is, with the flags of open(2).
/// None: see `errno`; EBUSY for a locked file, ELOOP for a symbolic link,
/// ENOENT where /proc is not there.
[[nodiscard]] unique_fd open_place(int place, int flags);
/// The same of what was looked at: `info` is of `place`.
[[nodiscard]] unique_fd open_place(int place, const struct stat& info,
                                   int flags);

/// As open(2) of an existing file, but EBUSY for a locked one.
[[nodiscard]] unique_fd open_unlocked(const std::string& file, int flags);

}  // namespace riffle
