// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "messages/json_strict.hpp"

namespace riffle::tools {

/// Deepest nesting of arguments and schemas; more would cost stack where
/// JSON is walked recursively.
inline constexpr std::size_t max_json_depth = deepest_json;

/// Parses one JSON object: no trailing text, no duplicate keys (JSON allows
/// them, but nobody could say which one was meant), bounded depth. Blank text
/// counts as `{}`. The error says why and where.
tl::expected<nlohmann::json, std::string> parse_object(std::string_view text);

/// A key that stands twice in one object of a text that is JSON. `parsed`: the
/// same text; so that one without such a key costs next to nothing.
std::optional<std::string> repeated_key(std::string_view text,
                                        const nlohmann::json& parsed);

}  // namespace riffle::tools
