// SPDX-License-Identifier: MIT
#pragma once

// What a server sent as text, as UTF-8.

#include <string>
#include <string_view>

namespace riffle::tools {

/// A `Content-Type` (RFC 9110, 8.3), lower case: "text/html", "utf-8".
struct content_type {
  std::string type;
  std::string charset;
};

content_type parse_content_type(std::string_view header);

/// Whether a type is read as text: yes, no, or only its bytes can tell.
enum class text_kind : std::uint8_t { text, binary, unknown };
text_kind kind_of(std::string_view type);

/// Whether the type is one of HTML, which is read as such.
bool is_html(std::string_view type);

/// Whether bytes whose type nobody told are no text: a NUL, or many control
/// characters, in the beginning. Text of 16-bit units with a mark is text.
bool looks_binary(std::string_view bytes);

/// The bytes as UTF-8. What tells the charset, first: a byte order mark, the
/// server, of HTML a `meta` in the beginning. Else UTF-8 if it is, and
/// windows-1252 if not, as browsers do. Bytes that mean nothing become U+FFFD.
/// `complete`: false when the end of the bytes may lie inside a character.
std::string to_utf8(std::string_view bytes, const content_type& type,
                    bool complete);

}  // namespace riffle::tools
