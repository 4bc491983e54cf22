// SPDX-License-Identifier: MIT
#pragma once

// Who reads the file of a program may write it under another name.

#include "actors/core/command_pattern.hpp"
#include "actors/core/shell_parts.hpp"

namespace riffle::core {

/// Shows names or sizes of files, or words, and never what is in them, whatever
/// its options (`file -f`, `md5sum -c` and `du --files0-from` show lines).
bool only_looks(std::string_view program);

/// Whether a command may give again what the file of a program that the rule
/// names holds: the path of it is a word, or a target, of a command that does
/// more than look at names; or of one that reads, copies or links a whole
/// folder of programs.
bool reads_program(shell_words command, const command_pattern& rule);

/// The same of a line in which a command leads to the folder of programs, or
/// says or looks for where they are, and another one reads it by its bare name,
/// or by what was said or found.
bool reads_program_elsewhere(const shell_line& line,
                             const command_pattern& rule);

}  // namespace riffle::core
