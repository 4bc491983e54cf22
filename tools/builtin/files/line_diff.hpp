// SPDX-License-Identifier: MIT
#pragma once

// Differences between two texts, line by line. Pure.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::tools {

/// `old_count` lines from line `old_at` (from 0) became `new_count` lines
/// from `new_at`. One of the counts may be 0, never both.
struct line_change {
  std::size_t old_at = 0;
  std::size_t old_count = 0;
  std::size_t new_at = 0;
  std::size_t new_count = 0;

  bool operator==(const line_change&) const = default;
};

/// Lines with their ends; the last one may have none.
std::vector<std::string_view> lines_of(std::string_view text);

/// A shortest list of changes, in order, with equal lines between them: the
/// greedy algorithm of E. Myers, "An O(ND) Difference Algorithm and Its
/// Variations" (1986). Where more than `most_edits` lines differ, everything
/// between the equal ends of both is one change: memory stays bounded.
std::vector<line_change> diff_lines(const std::vector<std::string_view>& before,
                                    const std::vector<std::string_view>& after,
                                    std::size_t most_edits = 1000);

struct diff_text {
  std::string text;  ///< valid UTF-8
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
  bool cut = false;               ///< some of it is missing
  std::uint64_t shown_added = 0;  ///< of `added`, in `text`
  std::uint64_t shown_removed = 0;
};

struct diff_format {
  std::string before;          ///< name after "---", e.g. "a/x" or "/dev/null"
  std::string after;           ///< name after "+++"
  std::size_t first_line = 0;  ///< number of lines before both texts
  std::size_t most_bytes = 16u << 10;  ///< whole lines, as far as they fit
};

/// A unified diff (diffutils manual, "Detailed Unified") with three lines
/// around each change; empty for equal texts. A hunk that does not fit ends
/// early: its header counts the lines that are there.
diff_text unified_diff(std::string_view before, std::string_view after,
                       const diff_format& format);

}  // namespace riffle::tools
