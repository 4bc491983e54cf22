// SPDX-License-Identifier: MIT
#pragma once

// JSON values that travel as text, and are never parsed on their way.

#include <string>
#include <string_view>

namespace riffle {

/// Whether `text` is exactly one JSON value (RFC 8259, UTF-8).
bool is_json(std::string_view text);

/// Whether `text` is exactly one JSON object.
bool is_json_object(std::string_view text);

/// Appends a valid JSON text without its white space between tokens.
void append_compact(std::string& out, std::string_view json);

/// The text of the value of `key` in a JSON object; empty if it has none. The
/// last one counts. `object` must be valid JSON; a key that is written with
/// escapes is not found.
std::string_view raw_member(std::string_view object, std::string_view key);

}  // namespace riffle
