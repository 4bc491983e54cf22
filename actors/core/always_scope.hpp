// SPDX-License-Identifier: MIT
#pragma once

// "Always": a person's consent that also covers later calls, and how far it
// reaches.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/call.hpp"
#include "messages/decision.hpp"

namespace riffle::core {

using riffle::always_scope;

/// The pattern that is offered for a call like this, or empty:
///
///     git status -s       git status *     (also "git status" alone)
///     make -j2 test       make *
///     ./dev test x        ./dev test *
///     python3 a.py -v     python3 a.py -v *
///     docs/plan.md        docs/*
///     notes.md            notes.md
///     https://a.org/x     https://a.org/*
///
///     cargo test -q       cargo test *
///
/// The words behind `git`, `cargo`, `npm` and their like name no file outside
/// of the folder; nothing keeps what a test or a rule of a build does in there,
/// so whoever is asked hears of it (`reach_of_pattern`).
///
///     git log -3 | head   git log * | head *   (each alone, too)
///
/// The last, of commands that `|`, `&&`, `||` or `;` join, means all lines
/// whose every command has one of these patterns. Behind `|`, through which
/// comes what is from anywhere, and beside `cd` only such as neither write nor
/// run anything.
///
/// None for a command that has more than one reading or whose first word runs
/// others, for a subject that is not known, and for one that holds a wildcard.
std::string always_pattern(const rule_subject& subject);

/// Why there is none.
enum class no_pattern : std::uint8_t {
  none,       ///< there is one
  not_known,  ///< nobody knows what the call is about
  not_plain,  ///< there is more than plain words in it, or what is no name
  follows,    ///< what follows the command can mean anything
  quoted,     ///< what follows in quotes can
  alone,      ///< the command has one alone, not beside others
  piped,      ///< it reads what comes from anywhere
  moved,      ///< it is about another folder, behind `cd`
  too_long,   ///< nobody would read it to its end
};

/// A pattern as above, or why there is none.
struct always_offer {
  std::string pattern = {};
  no_pattern why = no_pattern::none;
  std::string command = {};  ///< the one which has none
};
always_offer offer_always(const rule_subject& subject);

/// Of one that is joined each, of another itself.
std::vector<std::string_view> patterns_of(std::string_view pattern);

/// The words of a line, or of a pattern for such lines, that name a file of the
/// folder that is run: "./dev", "python3 a.py". Empty: they name none. What was
/// approved of it is bound to what the file holds.
std::string script_of_line(std::string_view line);

/// What a pattern covers, for a person: "any `git status` with plain words",
/// "any `cat` and `head` with plain words, alone or joined", "any write below
/// docs/", "any edit of notes.md".
std::string words_of_pattern(std::string_view tool, std::string_view pattern);

/// What else there is to know of that, without a full stop; empty: nothing.
/// Of several commands that of the one that reaches farthest.
std::string_view reach_of_pattern(std::string_view pattern);

/// Whether `policy_of` would allow the call for a rule with this pattern; a
/// pattern that ends with " *" is also one without words behind it.
bool always_matches(std::string_view pattern, const rule_subject& subject);

}  // namespace riffle::core
