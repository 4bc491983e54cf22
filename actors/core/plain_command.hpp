// SPDX-License-Identifier: MIT
#pragma once

// What a command line surely runs, as far as its text alone can tell. The
// grammar is that of a POSIX shell (IEEE 1003.1, 2.2 Quoting and 2.10 Grammar),
// of which only what has one reading is taken.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::core {

/// A command line that is one simple command of plain words: its words, joined
/// by one blank, quotes taken away where a word needs none and written as
/// '…' where it holds a blank or is empty. Nothing for all else: operators
/// (; & | < > and newlines), expansions ($, `, ~, * ? [ {), escapes, history
/// (!), comments, assignments in front, control characters, open quotes, and
/// what only looks like a blank, or like nothing (U+00A0, U+200B).
std::optional<std::string> plain_command(std::string_view line);

/// One of a line of several.
struct joined_command {
  std::string text;    ///< as it is written
  bool piped = false;  ///< it reads what the one before it writes
};

/// The commands of a line that joins several by `|`, `&&`, `||` or `;`, each a
/// plain one; `2>&1` and `2>/dev/null` behind one are left out, also where it
/// is the only one. Nothing for all else: a plain command, over 16.
std::vector<joined_command> joined_commands(std::string_view line);

/// The pieces of any command line that may be commands, roughly: between
/// operators, brackets and quotes, without assignments and escapes. May hold
/// more than the shell would run, and cannot see what expansions make.
std::vector<std::string> rough_commands(std::string_view line);

}  // namespace riffle::core
