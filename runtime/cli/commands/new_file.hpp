// SPDX-License-Identifier: MIT
#pragma once

// Files that a command writes.

#include <filesystem>
#include <string>
#include <string_view>

#include "runtime/cli/commands/commands.hpp"

namespace riffle::cli {

/// Makes a file that was not there, not even as a link; 0 or an errno. One that
/// could not be written to its end is gone again.
int make_file(const std::filesystem::path& file, std::string_view text);

/// Writes such a file, or any one if `replaces`. The exit status; what went
/// wrong was said.
int write_new_file(const std::filesystem::path& file, const std::string& text,
                   bool replaces, console& io);

/// Trusted from now on: this program wrote it. Where that cannot be kept, the
/// person is asked like for any other file.
void trust_what_is_written(const std::filesystem::path& file,
                           const std::string& text);

}  // namespace riffle::cli
