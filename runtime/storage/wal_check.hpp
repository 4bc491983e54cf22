// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace riffle::storage {

/// Looks at a write-ahead log that nobody has open (SQLite's file format,
/// section 4) and says whether commits in it are damaged, so that opening the
/// database will lose them. SQLite itself stops silently at the first frame
/// that fails its checksum. A log that ends in the middle of a commit is no
/// damage: a killed process leaves it so.
std::optional<std::string> find_wal_damage(const std::filesystem::path& wal);

/// To what SQLite shortens a log that grew beyond it (journal_size_limit).
inline constexpr std::uint64_t log_size_limit = 64u << 20;

/// Whether the log begins as one. False for one that was emptied behind the
/// back of those who write it: what they add to it nobody can read. Costs three
/// calls of the system.
bool log_has_head(const std::string& wal);

}  // namespace riffle::storage
