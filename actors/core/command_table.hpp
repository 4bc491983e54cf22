// SPDX-License-Identifier: MIT
#pragma once

// What commands do with their words, as far as rules must know it. All of it
// is data, in one place.

#include <cstdint>
#include <string_view>

namespace riffle::core {

enum class runs : std::uint8_t {
  nothing,   ///< its words are no commands
  next,      ///< the command behind its `operands`; an option is in doubt
  script,    ///< a file, else text: an option or no word is in doubt
  if_told,   ///< others if one of its words matches one of `words`
  if_first,  ///< so, but what is no option is looked for in the first operand
  text,      ///< what nobody can tell from its words: always in doubt
};

struct command_row {
  std::string_view names;  ///< patterns with blanks between them
  runs what = runs::text;
  int operands = 0;
  std::string_view words = {};  ///< patterns with blanks between them
  bool as_written = false;      ///< no expansion becomes one of `words`
  std::string_view reason;
};

/// The row for a command (its name without folders), or null: any program,
/// which may run what one of its words names.
const command_row* find_command(std::string_view name);

/// Whether one of the patterns, which have blanks between them, matches.
bool matches_any(std::string_view patterns, std::string_view text);

/// Whether a variable of this name makes programs run others.
bool steers_programs(std::string_view variable);

}  // namespace riffle::core
