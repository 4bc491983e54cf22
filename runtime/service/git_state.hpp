// SPDX-License-Identifier: MIT
#pragma once

// Whether a repository has changes that are not committed, as git says it.

#include <filesystem>
#include <optional>

#include "messages/time.hpp"

namespace riffle::service {

/// Of files that git knows. Nothing where that cannot be told without executing
/// what the repository's configuration names, or not within `limit`: git runs
/// as the reads of `bash` do (tools/builtin/shell/read_call.hpp), with no
/// settings but the repository's, and is killed as soon as it has named a file.
/// `root`: the folder where `.git` is. Blocks.
std::optional<bool> has_changes(const std::filesystem::path& root,
                                duration limit = std::chrono::milliseconds{
                                    500});

}  // namespace riffle::service
