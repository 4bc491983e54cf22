// SPDX-License-Identifier: MIT
#pragma once

// The commands of a command line, for who must not overlook one. The grammar
// is bash's where it has one reading that a POSIX shell does not contradict;
// the rest is said to be unclear, not guessed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::core {

/// What the shell may make of a word before a command gets it.
enum class word_kind : std::uint8_t {
  plain,  ///< exactly its text
  glob,   ///< names of files
  open,   ///< anything: an expansion, an escape, a process substitution
};

struct shell_word {
  std::string text;  ///< quotes taken away
  word_kind kind = word_kind::plain;
  bool quoted = false;  ///< some of it was: it is no reserved word
  bool target = false;  ///< of a redirection
  bool input = false;   ///< so, and what it holds is what is read (`<<<`)

  bool operator==(const shell_word&) const = default;
};

/// Between two operators: reserved words, assignments, a command and its
/// words; then the targets of its redirections.
using shell_part = std::vector<shell_word>;

struct shell_line {
  /// Also those of command and process substitutions. May hold more than the
  /// shell would run (patterns of `case`, elements after a parenthesis).
  std::vector<shell_part> parts;
  /// Nothing but `parts` is run. Else there is something with more than one
  /// reading: here-documents, backticks, arithmetic, $'…', text that is
  /// evaluated later, open quotes; or there is too much of it.
  bool clear = true;
  bool functions = false;  ///< it may define some: `f() …`

  bool operator==(const shell_line&) const = default;
};

/// What a variable's name is made of.
bool is_name(char c) noexcept;

/// A word after which a command stands, or nothing.
bool is_reserved(const shell_word& x);

/// Linear in the line, save the depth of nested substitutions, which is
/// bounded. Words are, too: a line of very many is not clear.
shell_line shell_parts(std::string_view line);

}  // namespace riffle::core
