// SPDX-License-Identifier: MIT
#pragma once

// Enumerations and their texts: one table each, in the order of the
// enumerators. The length of a table is checked where it is defined.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace riffle {

template <std::size_t N>
using text_table = std::array<std::string_view, N>;

/// The text of `x`; "unknown" for a value that is no enumerator (it can only
/// come out of a broken message).
template <class E, std::size_t N>
constexpr std::string_view text_of(const text_table<N>& table, E x) noexcept {
  const auto i = static_cast<std::size_t>(x);
  return i < N ? table[i] : std::string_view{"unknown"};
}

/// The reverse of `text_of`; nothing for a text that is not in the table.
template <class E, std::size_t N>
constexpr std::optional<E> enum_of(const text_table<N>& table,
                                   std::string_view text) noexcept {
  for (std::size_t i = 0; i < N; ++i)
    if (table[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

/// Whether the table has exactly one text for each enumerator up to `last`.
template <class E, std::size_t N>
constexpr bool covers(const text_table<N>& table, E last) noexcept {
  if (N != static_cast<std::size_t>(last) + 1) return false;
  for (auto text : table)
    if (text.empty()) return false;
  return true;
}

}  // namespace riffle
