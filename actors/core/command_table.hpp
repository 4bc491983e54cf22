// SPDX-License-Identifier: MIT
#pragma once

// What commands do with their words, as far as rules must know it. All of it
// is data, in one place.

#include <cstdint>
#include <string_view>

namespace riffle::core {

enum class runs : std::uint8_t {
  nothing,    ///< its words are no commands
  next,       ///< the command behind its `operands`; an option is in doubt
  script,     ///< a file, else text: an option or no word is in doubt
  if_told,    ///< others if one of its words matches one of `words`
  if_first,   ///< so, but only its first word is looked at
  if_syntax,  ///< so; what expands is never one of `words`
  sed,        ///< others, unless its script is known not to
  text,       ///< what nobody can tell from its words: always in doubt
};

struct command_row {
  std::string_view names;  ///< patterns with blanks between them
  runs what = runs::text;
  int operands = 0;
  /// Patterns with blanks between them. One of a long option is any beginning
  /// of it, too; `a+-x*` is an option only if there also is a word `a`.
  std::string_view words = {};
  /// First words behind which words, and `-c`, are none of `words`.
  std::string_view paths = {};
  bool bundled = false;    ///< the first word is options without a dash, too
  bool named = false;      ///< also runs what a word names, as any program
  bool variables = false;  ///< words are names of variables that it sets
  bool builtin = false;    ///< only the shell has it
  std::string_view reason;
};

/// The row for a command (its name without folders), or null: any program,
/// which may run what one of its words names.
const command_row* find_command(std::string_view name);

/// Whether it runs the values of variables with a shell.
bool is_make(std::string_view name);

/// Whether the program, given this option alone, only says what it is.
bool is_version_option(std::string_view program, std::string_view option);

/// Whether this command of the program only says what there is.
bool is_question(std::string_view program, std::string_view command);

/// Whether the option of such a command chooses what is shown, and neither whom
/// to ask nor what to read (`--host`, `--kubeconfig`: those may run programs).
bool is_question_option(std::string_view option);

/// Whether a program may give a file another name.
bool renames_files(std::string_view name);

/// Whether one of the patterns, which have blanks between them, matches.
bool matches_any(std::string_view patterns, std::string_view text);

/// Whether an option (or any word) is one of the row's `words`; with `beside`,
/// one of its pairs with that word.
bool is_one_of(const command_row& row, std::string_view option,
               std::string_view beside = {});

/// Whether one of the row's `words` may stand anywhere in a word.
bool looks_within(const command_row& row);

/// Whether setting a variable of this name makes programs run others, or has
/// the shell evaluate the value.
bool steers_programs(std::string_view variable);

}  // namespace riffle::core
