// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace riffle::tools {

/// What a command is, for those who approve its calls: its words, its folder,
/// the names of the variables that it sees, and the content of its program, of
/// each file that a word names (also behind a "="), and of what a word runs
/// that is a line of its own (`sh -c ". ./lib.sh"`), as `program_basis` sees
/// it. What these files load is not seen. Reads the files, so it blocks.
std::string definition_of(const std::vector<std::string>& command,
                          const std::filesystem::path& folder,
                          const std::vector<std::string>& env);

}  // namespace riffle::tools
