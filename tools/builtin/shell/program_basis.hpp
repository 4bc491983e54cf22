// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace riffle::tools {

/// What the files hold that a command line runs, as far as its words tell: a
/// text that changes when one of them does. Those that may be executed, those
/// behind a command that runs others (`python3 x.py`, `. x.sh`), also where a
/// `cd` leads, and the files that make and its like take without being told;
/// the same of a line that is a word (`sh -c "cd sub; ./t.sh"`), and all files
/// that a pattern has. Of a line that cannot be taken apart all words count. It
/// does not see what programs run by themselves (`perl -e 'system(…)'`), nor
/// names that the shell makes (`$X`, but for `$PWD/x`). Bounded: of many or
/// large files it holds their size and times. Blocks.
std::string program_basis(std::string_view line,
                          const std::filesystem::path& workspace);

}  // namespace riffle::tools
