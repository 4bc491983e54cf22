// SPDX-License-Identifier: MIT
#pragma once

// Bytes as text that is safe somewhere. Base64: media.hpp; JSON:
// `append_json_escaped` in messages/event_line.hpp.

#include <string>
#include <string_view>

namespace riffle {

/// Two small digits for each byte.
std::string hex_text(std::string_view bytes);

/// "%2F" for each byte that is no letter and no digit of ASCII and none of
/// `kept`. By itself as RFC 3986 has it for a part of a URL.
std::string percent_encoded(std::string_view text,
                            std::string_view kept = "-._~",
                            std::string_view digits = "0123456789ABCDEF");

}  // namespace riffle
