// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

#include "messages/error.hpp"

namespace riffle::storage {

/// What sessions hold is nobody else's: files of a data folder get mode 0600,
/// the folders in it 0700. Warns if others can look into the folder itself,
/// which is left as it is: somebody made it so; and if root works in another
/// user's folder, who cannot go on with what root makes there (nothing is given
/// away: the user may have put a link in its place). Costs what there is to
/// change. Nobody may have the database open by a descriptor of this process
/// that is not SQLite's: see the .cpp.
void make_files_private(const std::filesystem::path& data_dir);

/// Why the database, its write-ahead log or its index is none: a pipe stands
/// there, say, whose opening would wait for ever. Nothing: files, or nothing,
/// stand there.
std::optional<error> find_wrong_kind(const std::filesystem::path& database);

/// Why the database is not here although its log has commits. SQLite takes a
/// log away whose file is new, and with it what a killed process left there.
std::optional<error> find_lost_file(const std::filesystem::path& database);

/// An empty database file with mode 0600, unless one is there: SQLite gives
/// its other files the mode of this one.
void create_private_file(const std::filesystem::path& file);

/// Sets up to 8 MiB of the disk aside in `data_dir/reserve`, where there is
/// plenty: a deletion, which makes room, needs as much as it overwrites.
void keep_reserve(const std::filesystem::path& data_dir);

/// Gives it back to the disk; false: there was none.
bool free_reserve(const std::filesystem::path& data_dir);

}  // namespace riffle::storage
