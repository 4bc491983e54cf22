// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/storage/journal.hpp"

namespace riffle::storage {

/// An exception of this folder as an error that names the file:
/// `storage_corrupt` for damage, else `storage_unavailable`.
error describe_problem(const char* op, const std::filesystem::path& file,
                       const std::exception& problem);

/// Whether room on the disk may help: it is full, or fails (which cannot be
/// told apart). Not so where somebody else works, or holds a lock, though that
/// may pass, too.
[[nodiscard]] bool wants_room(const error& x) noexcept;

/// SQLite itself met damage: it may stand in an index alone.
[[nodiscard]] bool is_malformed(const error& x) noexcept;

/// `not_found`: "there is no `what`".
unexpected missing(const char* op, const std::string& what);

/// What is wrong with a run to open, apart from what is stored; `ordinal` is
/// not looked at.
std::optional<error> find_open_fault(const run_record& run);

/// A run's cause cannot be executed; `why` by `find_cause_fault`.
error cause_error(const proposal_id& cause, const std::string& why);

}  // namespace riffle::storage
