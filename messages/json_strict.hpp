// SPDX-License-Identifier: MIT
#pragma once

// JSON that comes from outside, read by the rules of RFC 8259.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace riffle {

/// Deeper nesting is refused: values are walked recursively later.
inline constexpr std::size_t deepest_json = 256;

/// Whether `text` nests arrays and objects deeper than `limit`. A scan without
/// recursion; `text` need not be JSON.
bool nests_deeper(std::string_view text, std::size_t limit) noexcept;

/// What nlohmann's exception says, in plain words: without its own numbering,
/// as UTF-8, at most about 300 bytes.
std::string json_mistake(std::string_view what);

/// Exactly one JSON value, or nothing. What the RFC leaves open: a byte order
/// mark at the start is passed over; of equal keys the last counts; refused
/// are bytes that are no UTF-8, lone surrogates, numbers beyond a double, and
/// more than `deepest` levels.
std::optional<nlohmann::json> parse_strict(std::string_view text,
                                           std::size_t deepest = deepest_json);

}  // namespace riffle
