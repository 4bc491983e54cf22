// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>

#include "runtime/storage/journal.hpp"

namespace riffle::storage {

/// Whether this process may write the journal of a data folder.
bool is_writable(const std::filesystem::path& data_dir);

/// The journal of a folder that cannot be written (another owner's, a copy on
/// a read-only disk), to look at: nothing is made or changed there, and
/// whatever would write fails with `storage_unavailable`. Fails for a file of
/// an older version, which only who may write it can bring up to date.
expected<std::unique_ptr<journal>> open_read_only_journal(
    const std::filesystem::path& data_dir);

}  // namespace riffle::storage
