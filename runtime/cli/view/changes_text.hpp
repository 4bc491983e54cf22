// SPDX-License-Identifier: MIT
#pragma once

// What a session changed in files, for people. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/service/requests.hpp"
#include "runtime/storage/records.hpp"

namespace riffle::cli {

/// The changes of one file, in order, by whatever names.
struct changed_file {
  std::string path{};  ///< of the first, without detours
  std::vector<const file_change*> calls{};
  /// The diff of all of them together, where somebody has made it: it is shown
  /// in their place.
  std::optional<std::string> net{};
};

/// In the order of their first change; of a session that worked in several
/// folders by their whole paths. `only`: this file, by its path or the end of
/// it, or what is in this folder; empty: all. Without those of the runs
/// `but_of`. They refer to `all`.
std::vector<changed_file> by_file(const session_changes& all,
                                  std::string_view only = {},
                                  const std::vector<run_id>& but_of = {});

/// "+12 -3, new, 2 changes"
std::string counts_text(const changed_file& x);

/// Where a diff is read.
struct diff_look {
  bool color = false;
  std::size_t columns = 0;  ///< of the terminal; 0: none, lines stay whole
};

/// Each file with its lines added and removed, and its diff: of all its changes
/// together, or one behind the other.
std::string changes_text(const std::vector<changed_file>& files,
                         const diff_look& look);

/// "no call of write or edit has changed FILE, but these: a, b" (`file` is not
/// empty), or that none has changed any.
std::string unchanged_text(std::string_view file,
                           const std::vector<changed_file>& all);

/// What becomes of one file, below its path and the lines that come and go.
std::string change_text(const std::string& path, std::string_view diff,
                        const diff_look& look);

/// A unified diff, each line harmless for a terminal; one that is too long for
/// it goes on behind "┊".
std::string colored_diff(std::string_view diff, const diff_look& look);

/// What the log cannot tell: which calls may have changed more. `calls`: of the
/// session. Empty: none.
std::string others_text(const std::vector<other_call>& others,
                        const std::vector<storage::call_record>& calls);

}  // namespace riffle::cli
