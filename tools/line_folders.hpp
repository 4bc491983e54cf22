// SPDX-License-Identifier: MIT
#pragma once

// The folders that the commands of a line may be in.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/shell_parts.hpp"

namespace riffle::tools {

struct line_folders {
  /// The workspace, and each that a `cd` or an option (`-C x`, `--chdir=x`) of
  /// any part may lead to, also one that is not there yet; without links.
  std::vector<std::filesystem::path> real;
  /// From this part on nobody knows where the line stands.
  std::size_t lost_from = static_cast<std::size_t>(-1);
  bool all = true;  ///< false: there are too many, or one is not known
};

/// `cd $X`, `cd -` and `cd s*` lead to what only the shell knows; so does a
/// `cd x` that may run again, and then all of the line may be behind it.
line_folders folders_of(const core::shell_line& line,
                        const std::filesystem::path& workspace);

/// The name of a part's command, without folders; empty if there is none.
std::string_view program_of(const core::shell_part& part);

/// `~/x` with the folder that it means.
std::string with_home(std::string_view path);

}  // namespace riffle::tools
