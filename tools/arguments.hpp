// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

namespace riffle::tools {

/// Deepest nesting of arguments and schemas; more would cost stack where
/// JSON is walked recursively.
inline constexpr std::size_t max_json_depth = 256;

/// Whether `text` nests arrays and objects deeper than `limit`. A scan
/// without recursion; `text` need not be JSON.
bool deeper_than(std::string_view text, std::size_t limit) noexcept;

/// Parses one JSON object: no trailing text, no duplicate keys, bounded
/// depth. Blank text counts as `{}`. The error says why and where.
tl::expected<nlohmann::json, std::string> parse_object(std::string_view text);

}  // namespace riffle::tools
