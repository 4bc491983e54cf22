// SPDX-License-Identifier: MIT
#pragma once

// Locks of whole files and folders (flock), between processes and between
// descriptors of one process. A lock belongs to the descriptor: it ends when
// the `unique_fd` does, and when the process dies. Children inherit it unless
// the file was opened with O_CLOEXEC.

#include <cstdint>
#include <filesystem>

#include "messages/time.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle {

enum class lock_kind : std::uint8_t { shared, exclusive };

/// At once; false: not locked, and `errno` is EWOULDBLOCK if somebody else
/// holds it.
bool try_lock(const unique_fd& fd, lock_kind kind) noexcept;

/// Waits for it, polling: there is no event for the end of a lock. False as
/// above.
bool lock_until(const unique_fd& fd, lock_kind kind, time_point deadline);

/// Whether `file` still leads to what is open: between opening and locking
/// somebody may have removed it.
bool leads_to(const std::filesystem::path& file, const unique_fd& fd) noexcept;

}  // namespace riffle
