// SPDX-License-Identifier: MIT
#pragma once

// Temporary files beside those that are replaced: their names, and what becomes
// of one whose process was killed within a write.

#include <string>
#include <string_view>

namespace riffle::tools {

/// ".riffle-0123456789abcdef.tmp", by chance.
std::string temporary_name();
bool is_temporary_name(std::string_view name);

/// Says that a process works on an open temporary file, until it is closed.
void mark_used(int file) noexcept;

/// Removes from an open folder (O_PATH will do) what nobody works on: files of
/// that name and of this user, which nobody has marked as used, or written to
/// for a minute. Looks at the first 10,000 entries, at a folder once a minute.
/// Thread-safe.
void remove_left_files(int folder);

}  // namespace riffle::tools
