// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace riffle::tools {

/// What the files hold that a command line runs, as far as its words tell: a
/// text that changes when one of them does. Those that may be executed, those
/// behind a command that runs others (`python3 x.py`, `. x.sh`), also where a
/// `cd` leads, and the files that make and its like take without being told.
/// Of a line that cannot be taken apart all words count. It does not see what
/// programs run by themselves, nor names that the shell makes (`$X`, `*`).
/// Bounded: of many or large files it holds their size and times. Blocks.
std::string program_basis(std::string_view line,
                          const std::filesystem::path& workspace);

}  // namespace riffle::tools
