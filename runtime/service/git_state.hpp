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
/// settings but the repository's and nothing of the environment but what it
/// needs, and is killed as soon as it has named a file. `root`: the folder
/// where `.git` is. Blocks until the limit at most, also where git does not
/// end: a thread of its own waits for that.
std::optional<bool> has_changes(const std::filesystem::path& root,
                                duration limit);

/// The same, remembered for `known_changes`. Nothing, and git is not asked, of
/// a repository that was too slow once. Thread-safe.
std::optional<bool> told_changes(const std::filesystem::path& root,
                                 duration limit = std::chrono::milliseconds{
                                     500});

/// What that said last; nothing: it was not asked, or does not know.
std::optional<bool> known_changes(const std::filesystem::path& root);

}  // namespace riffle::service
