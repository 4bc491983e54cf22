// SPDX-License-Identifier: MIT
#pragma once

// A configuration that a command writes.

#include <filesystem>
#include <string>

#include "runtime/cli/commands/commands.hpp"

namespace riffle::cli {

/// Writes a file that was not there, or any one if `replaces`. The exit status;
/// what went wrong was said.
int write_new_file(const std::filesystem::path& file, const std::string& text,
                   bool replaces, console& io);

/// Trusted from now on: this program wrote it. Where that cannot be kept, the
/// person is asked like for any other file.
void trust_what_is_written(const std::filesystem::path& file,
                           const std::string& text);

}  // namespace riffle::cli
