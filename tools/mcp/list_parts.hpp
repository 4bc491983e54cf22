// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace riffle::mcp {

/// A member that an item of a list has here that cannot be read.
inline constexpr const char* unreadable = "unreadable";

/// The result of an answer that cannot be read as a whole, as it is nested too
/// deep or a key stands in it twice: of its list `key` each item by itself. One
/// that cannot be read is an object with `unreadable`, and its name if it has
/// one. Nothing: it is no such list.
std::optional<nlohmann::json> read_in_parts(std::string_view answer,
                                            std::string_view key);

}  // namespace riffle::mcp
