// SPDX-License-Identifier: MIT
#pragma once

// A look at a TOML text before a parser gets it: parsers descend once for
// each level, and a text of levels only takes the stack away from them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace riffle {

struct toml_limits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t depth = 64;    ///< tables in tables and lists in lists, together
  std::size_t items = 4096;  ///< keys, tables, items of lists
};

struct toml_excess {
  std::uint32_t line = 0;    ///< 0: it is about the whole
  std::uint32_t column = 0;  ///< in characters
  std::string message;       ///< what is too much, and what is allowed
};

struct toml_look {
  std::optional<toml_excess> excess;
  /// How much of the text was understood; the byte behind it is included if it
  /// cannot stand there. Only so much of the text may be parsed.
  std::size_t understood = 0;
};

/// Knows strings, comments and all that can nest. Everything that is TOML is
/// understood, and some of what is not. Linear in time, without recursion.
toml_look look_at_toml(std::string_view text, const toml_limits& limits = {});

/// The place of a byte.
toml_excess toml_place(std::string_view text, std::size_t offset,
                       std::string message);

}  // namespace riffle
