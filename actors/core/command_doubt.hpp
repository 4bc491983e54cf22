// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "actors/core/shell_parts.hpp"

namespace riffle::core {

enum class may_be : std::uint8_t {
  no,
  doubt,     ///< it cannot be told apart from what the pattern names
  yes,       ///< a part of the line surely is it
  yes_told,  ///< so, run by a command in front of it (sudo, env, timeout)
};

/// Whether a line runs what a rule's pattern names. No is said only of what is
/// surely something else; the command words and what they run are compared
/// without their folders, so that /bin/rm is rm. Over-approximates:
///
/// - a line with more than one reading (shell_parts.hpp), and a part whose
///   command is no plain word or that runs others unseen (command_table.hpp),
///   is in doubt for every pattern;
/// - a part with the pattern's command is in doubt unless its words are plain
///   and some word of the pattern is missing among them (`git status` is not
///   `git push*`; `git -C x push` may be it);
/// - a program that is not in the table, or whose row looks at its words, is
///   in doubt if the shell expands one of them, or if one would match as a
///   command, names what runs others or is text with quotes of its own
///   (`setpriv sh -c x`, `cp /bin/rm y`);
/// - values of variables are text for whatever looks at them, and make's are
///   commands (`CC='rm x #' make y.o`);
/// - where a redirection leads to is a word as well; words that begin a list
///   (`do`, `then`) do so anywhere;
/// - who reads the program's file may give it another name: a path to it, its
///   bare name where the line leads to a folder of programs, and what the line
///   has found out about where it is, are in doubt (program_files.hpp).
///
/// By design it does not see what a program does by itself, or because of what
/// files hold: `make` with a Makefile just written, a hook, a `.gitconfig`.
/// Rules are no sandbox. What it costs is linear in the line; a line of very
/// many words or lists is in doubt instead.
may_be compare(const shell_line& line, std::string_view pattern);

}  // namespace riffle::core
