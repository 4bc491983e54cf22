// SPDX-License-Identifier: MIT
#pragma once

#include <array>
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

/// How a log stands that processes write to.
struct log_state {
  std::uint64_t bytes = 0;
  /// They change when SQLite begins it anew (file format, section 4.1).
  std::array<char, 8> salts{};
  /// It does not begin as a log: it was emptied behind the back of those who
  /// write it, and what they add nobody can read.
  bool headless = false;
};

/// `log` is open for reading. Costs two calls of the system.
log_state look_at_log(int log);

/// It became shorter, and SQLite, which begins it anew or empties it then, did
/// not do that.
bool was_cut(const log_state& before, const log_state& now);

}  // namespace riffle::storage
