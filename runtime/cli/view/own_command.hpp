// SPDX-License-Identifier: MIT
#pragma once

// Commands of a conversation that a person keeps as Markdown files: what their
// texts say. Pure.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace riffle::cli {

/// What stands in a file NAME.md that is the command /NAME.
struct own_text {
  std::string about{};  ///< for lists: `description` of its head, or a line
  std::string task{};   ///< without the head
};

/// A head is lines between two of "---", as other programs write them: each is
/// "key: value", blank or indented. Else it is part of the text.
own_text parse_own(std::string_view file);

/// What a command sends has at most so many bytes.
inline constexpr std::size_t most_filled = 1u << 20;

/// The task with `arguments` in the place of each $ARGUMENTS; behind it, if it
/// has none. Nothing, and nothing is built: it would have more than
/// `most_filled`.
std::optional<std::string> fill_in(std::string_view task,
                                   std::string_view arguments);

/// A command as a list shows it; `from`: where it is kept.
struct own_help {
  std::string name{};
  std::string about{};
  std::string from{};
};

/// So many are listed; of more it says how many.
inline constexpr std::size_t most_own_listed = 40;

/// For /help, behind what is built in; empty: there are none.
std::string own_help_text(std::span<const own_help> all);

}  // namespace riffle::cli
