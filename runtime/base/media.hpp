// SPDX-License-Identifier: MIT
#pragma once

// Pictures and files that models take beside text.

#include <optional>
#include <string>
#include <string_view>

#include "messages/attachment.hpp"

namespace riffle {

/// The MIME type, by the first bytes and never by a name: image/png,
/// image/jpeg, image/gif, image/webp, application/pdf. Empty: none of these.
std::string_view media_type_of(std::string_view bytes) noexcept;

/// So many bytes are enough for `media_type_of`.
inline constexpr std::size_t media_mark = 16;

/// What models are told of these bytes. Nothing: of no type above.
std::optional<attachment> describe_media(std::string name,
                                         std::string_view bytes);

/// Appends RFC 4648 base64 with padding.
void append_base64(std::string& out, std::string_view bytes);
std::string to_base64(std::string_view bytes);
/// The opposite; empty for what is no base64.
std::string from_base64(std::string_view text);

}  // namespace riffle
