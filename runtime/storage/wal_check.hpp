// SPDX-License-Identifier: MIT
#pragma once

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

}  // namespace riffle::storage
