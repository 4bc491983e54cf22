// SPDX-License-Identifier: MIT
#pragma once

// Which commands need the keyboard or the whole terminal, by what their lines
// say: editors, pagers, what asks line by line. A line that is not understood
// needs neither. Pure.

#include <functional>
#include <string>
#include <string_view>

namespace riffle::cli {

/// What git's configuration has as `alias.NAME`; "": nothing.
using git_aliases = std::function<std::string(std::string_view name)>;

/// Whether one of the commands that a line joins is a program that draws on the
/// whole terminal, or talks to who sits there, and reads and writes nothing
/// else. Aliases are asked for the words that git does not know by itself
/// alone.
bool wants_terminal(
    std::string_view line,
    const git_aliases& aliases = [](auto) { return std::string{}; });

/// Whether the end of an output looks like a question that nobody could answer.
bool ends_as_question(std::string_view output);

}  // namespace riffle::cli
